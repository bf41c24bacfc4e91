package native_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// Not parallel, because it measures the allocations of the whole process.
func TestFault38WhatIsAnnouncedIsNotAllocated(t *testing.T) {
	const clients = 200
	synctest.Test(t, func(t *testing.T) {
		fx := newFixture(t, spacetest.Procedures(), native.Config{})
		var all []*rawClient
		for n := range clients {
			all = append(all, fx.hello(fmt.Sprint("client-", n), 0))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for n, c := range all {
			switch n % 4 {
			case 0: // -1, if it were read as a signed number
				c.sendBytes(length(1<<32 - 1))
			case 1:
				c.sendBytes(length(1 << 31))
			case 2: // allowed, but its bytes never arrive
				c.sendBytes(length(wire.MaxFrame) + "\x02\x01\x01")
			case 3: // a field whose length exceeds the frame
				c.sendBytes(length(14) + "\x02\x01\x01\x05" + string(binary.AppendUvarint(nil, math.MaxUint64)))
			}
		}
		synctest.Wait()
		runtime.ReadMemStats(&after)
		const each = 64 << 10 // stacks, errors, a buffer of 4 KiB
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(clients*each), "not 200 times 4 MiB")
		fx.session("healthy", 0)
		require.Zero(t, fx.gate.Panics())
	})
}

// deep is a tuple in a tuple in a tuple …
func deep(levels int) tuple.Tuple {
	t := tuple.New("bottom")
	for range levels {
		t = tuple.New(t)
	}
	return t
}

// bomb returns the bytes of a request to put a tuple that a correct client cannot encode.
func bomb(t *testing.T, u string) string {
	body, err := wire.AppendRequest(nil, space.Request{Verb: space.VerbPut, Space: "s", Tuple: tuple.New("marker")})
	require.NoError(t, err)
	marker := string(tuple.New("marker").Append(nil))
	require.Contains(t, string(body), marker)
	// The tuple is a field with its length before it.
	i := strings.Index(string(body), marker)
	sized := len(binary.AppendUvarint(nil, uint64(len(marker))))
	body = append(append(append([]byte{}, body[:i-sized]...), binary.AppendUvarint(nil, uint64(len(u)))...), append([]byte(u), body[i+len(marker):]...)...)
	frame, err := wire.Frame{Kind: wire.Request, Call: 1, Body: body}.Append(nil)
	require.NoError(t, err)
	return string(frame)
}

// A malformed tuple ends its connection; an unusual but valid one is kept unchanged.
func TestFault39BombsInTuplesAreRefusedAndOddValuesAreKept(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		s := space.Over(fx.session("other", 0)).Space("s")
		nested := string(deep(1).Append(nil))
		for name, u := range map[string]string{
			"a million fields":         string(make(tuple.Tuple, 1_000_000).Append(nil)),
			"a million announced":      string(binary.AppendUvarint(nil, 1_000_000)),
			"nine levels":              string(deep(9).Append(nil)),
			"a hundred thousand":       string(deep(100_000).Append(nil)),
			"a type that there is not": nested[:1] + "\x7f",
			"a length beyond the end":  string(tuple.New("abc").Append(nil)[:4]),
		} {
			c := fx.hello(fmt.Sprintf("bomb %s", name), 0)
			c.sendBytes(bomb(fx.T, u))
			require.Error(fx, c.refused(true), name)
		}
		n, err := s.Count(fx.Context(), nil)
		require.NoError(fx, err)
		require.Zero(fx, n, "nothing is stored")
		c := fx.hello("no bomb", 0)
		c.sendBytes(bomb(fx.T, string(tuple.New("tick").Append(nil))))
		require.Equal(fx, wire.Reply, c.frame().Kind)
		odd := tuple.New(math.Inf(-1), float32(math.Inf(1)), "\xff\xfe is not UTF-8", []byte{0xff}, int64(math.MinInt64))
		require.NoError(fx, s.Put(fx.Context(), odd, 0))
		got, err := s.Get(fx.Context(), tuple.Match(odd...))
		require.NoError(fx, err)
		require.True(fx, odd.Equal(got))
		require.NoError(fx, s.Put(fx.Context(), tuple.New(math.NaN()), 0))
		got, err = s.Get(fx.Context(), tuple.Match(tuple.Formal{Type: tuple.Float64}))
		require.NoError(fx, err)
		require.True(fx, math.IsNaN(got[0].(float64)))
	})
}
