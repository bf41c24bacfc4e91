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

// failed requires that a call fails, and returns its error.
func (c *rawClient) failed(call uint64) error {
	c.fx.Helper()
	f := c.frame()
	require.Equal(c.fx, wire.Failure, f.Kind)
	require.Equal(c.fx, call, f.Call)
	err, decodeErr := wire.DecodeError(f.Body)
	require.NoError(c.fx, decodeErr)
	return err
}

func TestCallsInFlightAreBounded(t *testing.T) {
	const most = 4 * space.Window
	inBubble(t, native.Config{}, func(fx *fixture) {
		c := fx.hello("busy", time.Hour)
		get := func(n uint64) { c.request(n, space.Request{Verb: space.VerbQuery, Space: "s", Template: anyA}) }
		for n := range uint64(most) {
			get(n + 1)
		}
		get(most + 1)
		require.ErrorIs(fx, c.failed(most+1), fault.ErrOverloaded)
		c.send(nil, wire.Frame{Kind: wire.Cancel, Call: 1})
		require.Error(fx, c.failed(1))
		synctest.Wait()
		get(most + 2)
		synctest.Wait()
		require.Equal(fx, most, fx.engine.Stats().Waiters, "another one is accepted")
	})
}

func TestBytesInFlightAreBounded(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		c := fx.hello("large", time.Hour)
		large := tuple.Match("a", strings.Repeat("x", tuple.MaxBytes-100))
		ask := func(n uint64) { c.request(n, space.Request{Verb: space.VerbQuery, Space: "s", Template: large}) }
		for n := range uint64(16) {
			ask(n + 1)
		}
		ask(17)
		require.ErrorIs(fx, c.failed(17), fault.ErrOverloaded, "16 MiB are in flight")
		c.send(nil, wire.Frame{Kind: wire.Cancel, Call: 1})
		require.Error(fx, c.failed(1))
		synctest.Wait()
		ask(18)
		synctest.Wait()
		require.Equal(fx, 16, fx.engine.Stats().Waiters)
	})
}

// The answer to a call that consumes something is kept until it has arrived.
func TestAnswersThatAreKeptAreBounded(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		c, s := fx.hello("silent", time.Hour), space.Over(fx.session("other", 0)).Space("s")
		call := uint64(0)
		ask := func(r space.Request) (wire.Frame, space.Reply) {
			call++
			r.Op = space.OpID{Session: "silent", Seq: space.AutoSeq + call}
			c.request(call, r)
			f := c.frame()
			require.Equal(fx, call, f.Call)
			if f.Kind != wire.Reply {
				return f, space.Reply{}
			}
			reply, err := wire.DecodeReply(f.Body)
			require.NoError(fx, err)
			return f, reply
		}
		_, sub := ask(space.Request{Verb: space.VerbNotify, Space: "s"})
		next := func() wire.Kind {
			require.NoError(fx, s.Put(fx.Context(), tuple.New("a", strings.Repeat("x", tuple.MaxBytes-100)), 0))
			f, _ := ask(space.Request{Verb: space.VerbNext, Subscription: sub.Subscription})
			return f.Kind
		}
		kept := 0
		for ; next() == wire.Reply; kept++ {
			require.LessOrEqual(fx, kept, 17)
		}
		require.GreaterOrEqual(fx, kept, 16)
		f, _ := ask(space.Request{Verb: space.VerbCount, Space: "s"})
		require.Equal(fx, wire.Failure, f.Kind)
		err, decodeErr := wire.DecodeError(f.Body)
		require.NoError(fx, decodeErr)
		require.ErrorIs(fx, err, fault.ErrOverloaded)

		call++ // acknowledged answers count no more
		c.request(call, space.Request{Verb: space.VerbAck, Op: space.OpID{Session: "silent", Seq: space.AutoSeq + 2}})
		require.Equal(fx, wire.Reply, c.frame().Kind)
		require.Equal(fx, wire.Reply, next())
	})
}

func TestAHelloIsBounded(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		for name, hello := range map[string]wire.Hello{
			"a TTL of a day": {Session: "x", TTL: 24 * time.Hour}, "a TTL below 0": {Session: "x", TTL: -1},
			"a long name": {Session: strings.Repeat("x", space.MaxName+1)}, "a long key": {Session: "x", Key: make([]byte, 65)},
		} {
			c := fx.rawClient()
			c.send(wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, hello)})
			require.Contains(fx, []string{"invalid", "too_large"}, fault.Of(c.refused(false)).Code, fmt.Sprint(name))
		}
	})
}

func TestAClientHasOnlySoManyCallsAtATime(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		repo := space.Over(fx.session("eager", 0))
		done := make(chan error, space.Window)
		for range space.Window {
			go func() { _, err := repo.Space("s").Get(fx.Context(), anyA); done <- err }()
		}
		synctest.Wait()
		_, err := repo.Space("s").Count(fx.Context(), anyA)
		require.ErrorIs(fx, err, fault.ErrOverloaded)
		require.NoError(fx, space.Over(fx.session("other", 0)).Space("s").Put(fx.Context(), a(1), 0))
		require.NoError(fx, <-done)
		_, err = repo.Space("s").Count(fx.Context(), anyA)
		require.NoError(fx, err, "another one is accepted")
		require.NoError(fx, repo.Close(fx.Context()))
		for range space.Window - 1 {
			require.ErrorIs(fx, <-done, fault.ErrClosed)
		}
	})
}
