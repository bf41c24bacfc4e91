package native_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// failed requires that a call fails, and returns why.
func (c *raw) failed(call uint64) error {
	c.h.Helper()
	f := c.frame()
	require.Equal(c.h, wire.Failure, f.Kind)
	require.Equal(c.h, call, f.Call)
	err, decodeErr := wire.DecodeError(f.Body)
	require.NoError(c.h, decodeErr)
	return err
}

func TestCallsInFlightAreBounded(t *testing.T) {
	const most = 4 * space.Window
	bubble(t, native.Config{}, func(h *house) {
		c := h.hello("busy", time.Hour)
		get := func(n uint64) { c.request(n, space.Request{Verb: space.VerbQuery, Space: "s", Template: anyA}) }
		for n := range uint64(most) {
			get(n + 1)
		}
		get(most + 1)
		require.ErrorIs(h, c.failed(most+1), fault.ErrOverloaded)
		c.send(nil, wire.Frame{Kind: wire.Cancel, Call: 1})
		require.Error(h, c.failed(1))
		synctest.Wait()
		get(most + 2)
		synctest.Wait()
		require.Equal(h, most, h.engine.Stats().Waiters, "there is room for another")
	})
}

func TestBytesInFlightAreBounded(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		c := h.hello("large", time.Hour)
		large := tuple.Match("a", strings.Repeat("x", tuple.MaxBytes-100))
		ask := func(n uint64) { c.request(n, space.Request{Verb: space.VerbQuery, Space: "s", Template: large}) }
		for n := range uint64(16) {
			ask(n + 1)
		}
		ask(17)
		require.ErrorIs(h, c.failed(17), fault.ErrOverloaded, "16 MiB are in flight")
		c.send(nil, wire.Frame{Kind: wire.Cancel, Call: 1})
		require.Error(h, c.failed(1))
		synctest.Wait()
		ask(18)
		synctest.Wait()
		require.Equal(h, 16, h.engine.Stats().Waiters)
	})
}

// What consumes something is kept until its answer has arrived.
func TestAnswersThatAreKeptAreBounded(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		c, s := h.hello("silent", time.Hour), space.Over(h.session("other", 0)).Space("s")
		call := uint64(0)
		ask := func(r space.Request) (wire.Frame, space.Reply) {
			call++
			r.Op = space.OpID{Session: "silent", Seq: space.AutoSeq + call}
			c.request(call, r)
			f := c.frame()
			require.Equal(h, call, f.Call)
			if f.Kind != wire.Reply {
				return f, space.Reply{}
			}
			reply, err := wire.DecodeReply(f.Body)
			require.NoError(h, err)
			return f, reply
		}
		_, sub := ask(space.Request{Verb: space.VerbNotify, Space: "s"})
		next := func() wire.Kind {
			require.NoError(h, s.Put(h.Context(), tuple.New("a", strings.Repeat("x", tuple.MaxBytes-100)), 0))
			f, _ := ask(space.Request{Verb: space.VerbNext, Subscription: sub.Subscription})
			return f.Kind
		}
		kept := 0
		for ; next() == wire.Reply; kept++ {
			require.LessOrEqual(h, kept, 17)
		}
		require.GreaterOrEqual(h, kept, 16)
		f, _ := ask(space.Request{Verb: space.VerbCount, Space: "s"})
		require.Equal(h, wire.Failure, f.Kind)
		err, decodeErr := wire.DecodeError(f.Body)
		require.NoError(h, decodeErr)
		require.ErrorIs(h, err, fault.ErrOverloaded)

		call++ // what has arrived makes room again
		c.request(call, space.Request{Verb: space.VerbAck, Op: space.OpID{Session: "silent", Seq: space.AutoSeq + 2}})
		require.Equal(h, wire.Reply, c.frame().Kind)
		require.Equal(h, wire.Reply, next())
	})
}

func TestAHelloIsBounded(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		for name, hello := range map[string]wire.Hello{
			"a TTL of a day": {Session: "x", TTL: 24 * time.Hour}, "a TTL below 0": {Session: "x", TTL: -1},
			"a long name": {Session: strings.Repeat("x", space.MaxName+1)}, "a long key": {Session: "x", Key: make([]byte, 65)},
		} {
			c := h.raw()
			c.send(wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, hello)})
			require.Contains(h, []string{"invalid", "too_large"}, fault.Of(c.refused(false)).Code, fmt.Sprint(name))
		}
	})
}

func TestAClientHasOnlySoManyCallsAtATime(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		repo := space.Over(h.session("eager", 0))
		done := make(chan error, space.Window)
		for range space.Window {
			go func() { _, err := repo.Space("s").Get(h.Context(), anyA); done <- err }()
		}
		synctest.Wait()
		_, err := repo.Space("s").Count(h.Context(), anyA)
		require.ErrorIs(h, err, fault.ErrOverloaded)
		require.NoError(h, space.Over(h.session("other", 0)).Space("s").Put(h.Context(), a(1), 0))
		require.NoError(h, <-done)
		_, err = repo.Space("s").Count(h.Context(), anyA)
		require.NoError(h, err, "there is room for another")
		require.NoError(h, repo.Close(h.Context()))
		for range space.Window - 1 {
			require.ErrorIs(h, <-done, fault.ErrClosed)
		}
	})
}
