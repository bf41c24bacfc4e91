package remote

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// A caller that has given up must not wait for an answer that no session can give.
func TestACancelledCallEndsWithItsSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		done := calls(ctx, conn, get)
		g.sent()
		cancel()
		f, _ := g.sent()
		require.Equal(t, wire.Cancel, f.Kind)
		require.NoError(t, g.link.Send(wire.Frame{Kind: wire.Ended, Body: wire.AppendError(nil, fault.ErrConflict)}))
		x := <-done
		require.ErrorIs(t, x.err, fault.ErrClosed)
		require.ErrorIs(t, x.err, fault.ErrConflict)
		require.ErrorContains(t, x.err, "get a: ")
		require.Zero(t, x.took)
		g.hangsUp(conn)
	})
}

func TestAnAnswerThatCameBeforeTheEndOfTheSessionCounts(t *testing.T) {
	t.Parallel()
	conn := newConn(Config{Session: "s"})
	answered, waits := &call{request: get, done: make(chan struct{}), reply: found}, &call{request: get, done: make(chan struct{})}
	close(answered.done)
	conn.end(fault.ErrClosed)
	reply, err := conn.lastReply(answered)
	require.NoError(t, err)
	require.Equal(t, found, reply)
	_, err = conn.lastReply(waits)
	require.ErrorIs(t, err, fault.ErrClosed)
	require.ErrorContains(t, err, "get a: ")
}

func TestAConnThatHasEndedAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	conn := newConn(Config{Session: "s"})
	conn.arrived, conn.unacked = []uint64{1, 2}, 2
	conn.end(fault.ErrClosed)
	conn.acknowledgeArrived()
	require.Empty(t, conn.calls)
	require.Equal(t, 2, conn.unacked)

	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		conn.Backoff = retry.Backoff{Min: time.Hour, Max: time.Hour}
		done := calls(t.Context(), conn, get)
		f, _ := g.sent()
		g.replies(f, found)
		require.NoError(t, (<-done).err)
		ack, r := g.sent()
		require.Equal(t, space.VerbAck, r.Verb)
		g.fails(ack, fault.ErrUnavailable) // it would be repeated after the pause
		began := time.Now()
		g.hangsUp(conn)
		require.Zero(t, time.Since(began))
		g.silent()
	})
}

func TestAConnThatHasEndedIsNotConnectedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, g := dialled(t, Config{})
		conn.Backoff = retry.Backoff{Min: time.Hour, Max: time.Hour}
		g.loses()
		began := time.Now()
		g.hangsUp(conn)
		require.Zero(t, time.Since(began), "it does not wait for the pause")
		require.Len(t, g.hellos, 1)
	})
}

func TestAnAddressIsDialledOverTCPUnlessTheConfigurationHasADialOfItsOwn(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	c, err := Config{Session: "s"}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, "client", c.Mode)
	require.NotNil(t, c.Log)
	nc, err := c.Dial(t.Context(), listener.Addr().String())
	require.NoError(t, err)
	require.Equal(t, listener.Addr().String(), nc.RemoteAddr().String())
	require.NoError(t, nc.Close())
}

func TestTheErrorOfACallWithoutAnAnswerTellsWhetherItHappened(t *testing.T) {
	t.Parallel()
	conn := newConn(Config{Session: "s"})
	conn.end(fault.ErrClosed)
	for _, c := range []struct {
		verb space.Verb
		sent bool
		want string
	}{
		{space.VerbPut, true, "it may have happened"}, {space.VerbPut, false, "it was not sent"},
		{space.VerbGet, true, "it took nothing"}, {space.VerbQuery, true, "it has no answer"},
	} {
		_, err := conn.lastReply(&call{request: space.Request{Verb: c.verb, Space: "a"}, sent: c.sent, done: make(chan struct{})})
		require.ErrorIs(t, err, fault.ErrClosed)
		require.ErrorContains(t, err, c.want)
	}
}
