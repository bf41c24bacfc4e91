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

// Not parallel: it looks at what the whole process allocates.
func TestFault38WhatIsAnnouncedIsNotAllocated(t *testing.T) {
	const clients = 200
	synctest.Test(t, func(t *testing.T) {
		h := open(t, spacetest.Procedures(), native.Config{})
		var all []*raw
		for n := range clients {
			all = append(all, h.hello(fmt.Sprint("client-", n), 0))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for n, c := range all {
			switch n % 4 {
			case 0: // -1, as whoever reads it as a signed number would say
				c.speaks(length(1<<32 - 1))
			case 1:
				c.speaks(length(1 << 31))
			case 2: // allowed, but it never comes
				c.speaks(length(wire.MaxFrame) + "\x02\x01\x01")
			case 3: // a field that says it is longer than the frame
				c.speaks(length(14) + "\x02\x01\x01\x05" + string(binary.AppendUvarint(nil, math.MaxUint64)))
			}
		}
		synctest.Wait()
		runtime.ReadMemStats(&after)
		const each = 64 << 10 // stacks, errors, a buffer of 4 KiB
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(clients*each), "not 200 times 4 MiB")
		h.session("healthy", 0)
		require.Zero(t, h.gate.Panics())
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

// bomb is the bytes of a request to put a tuple that no client of ours would send.
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

// What is no tuple ends its connection, and what is one stays as it is.
func TestFault39BombsInTuplesAreRefusedAndOddValuesAreKept(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		s := space.Over(h.session("other", 0)).Space("s")
		nested := string(deep(1).Append(nil))
		for name, u := range map[string]string{
			"a million fields":         string(make(tuple.Tuple, 1_000_000).Append(nil)),
			"a million announced":      string(binary.AppendUvarint(nil, 1_000_000)),
			"nine levels":              string(deep(9).Append(nil)),
			"a hundred thousand":       string(deep(100_000).Append(nil)),
			"a type that there is not": nested[:1] + "\x7f",
			"a length beyond the end":  string(tuple.New("abc").Append(nil)[:4]),
		} {
			c := h.hello(fmt.Sprintf("bomb %s", name), 0)
			c.speaks(bomb(h.T, u))
			require.Error(h, c.refused(true), name)
		}
		n, err := s.Count(h.Context(), nil)
		require.NoError(h, err)
		require.Zero(h, n, "nothing is stored")
		c := h.hello("no bomb", 0)
		c.speaks(bomb(h.T, string(tuple.New("tick").Append(nil))))
		require.Equal(h, wire.Reply, c.frame().Kind)
		odd := tuple.New(math.Inf(-1), float32(math.Inf(1)), "\xff\xfe is not UTF-8", []byte{0xff}, int64(math.MinInt64))
		require.NoError(h, s.Put(h.Context(), odd, 0))
		got, err := s.Get(h.Context(), tuple.Match(odd...))
		require.NoError(h, err)
		require.True(h, odd.Equal(got))
		require.NoError(h, s.Put(h.Context(), tuple.New(math.NaN()), 0))
		got, err = s.Get(h.Context(), tuple.Match(tuple.Formal{Type: tuple.Float64}))
		require.NoError(h, err)
		require.True(h, math.IsNaN(got[0].(float64)))
	})
}
