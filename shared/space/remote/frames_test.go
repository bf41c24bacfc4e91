package remote

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// served runs a Conn over a connection whose other end is the gate's, and counts how often it tries
// to connect again, which fails.
func served(t *testing.T) (conn *Conn, gate *wire.Link, again *int) {
	again = new(int)
	c, err := Config{Session: "s", Log: slog.New(slog.DiscardHandler), Reconnect: 6 * time.Second,
		Dial: func(context.Context, string) (net.Conn, error) { *again++; return nil, fault.ErrUnavailable }}.withDefaults()
	require.NoError(t, err)
	conn = newConn(c)
	ours, theirs := net.Pipe()
	l := wire.NewLink(ours)
	l.Ping = time.Minute
	conn.running.Go(func() { conn.run(l) })
	gate = wire.NewLink(theirs)
	gate.Ping = time.Minute
	conn.running.Go(func() { gate.Write(nil, nil) })
	return conn, gate, again
}

func TestAnAnswerEndsTheCallThatItIsOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, gate, _ := served(t)
		for _, answer := range []struct {
			kind wire.Kind
			body []byte
			want error
		}{
			{wire.Reply, wire.AppendReply(nil, space.Reply{Found: true, Tuple: tuple.New("a")}), nil},
			{wire.Failure, wire.AppendError(nil, fault.ErrNotFound), fault.ErrNotFound},
			{wire.Failure, wire.AppendError(nil, fault.ErrOverloaded), fault.ErrOverloaded},
			{wire.Reply, []byte{0xff}, fault.ErrInvalid},
		} {
			conn.running.Go(func() {
				f, err := gate.Receive()
				assert.NoError(t, err)
				assert.NoError(t, gate.Send(wire.Frame{Kind: wire.Reply, Call: f.Call + 1, Body: wire.AppendReply(nil, space.Reply{})})) // of no call
				assert.NoError(t, gate.Send(wire.Frame{Kind: answer.kind, Call: f.Call, Body: answer.body}))
			})
			reply, err := conn.Do(t.Context(), space.Request{Verb: space.VerbQueryP, Space: "s", Template: tuple.Match("a")})
			require.ErrorIs(t, err, answer.want)
			require.Equal(t, answer.want == nil, reply.Found)
		}
		conn.end(fault.ErrClosed)
		gate.Close(fault.ErrClosed)
		conn.running.Wait()
	})
}

func TestTheGateEndsTheSessionOrTheConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame      wire.Frame
		want       error
		says       string
		reconnects bool
	}{
		"the session":       {wire.Frame{Kind: wire.Ended, Body: wire.AppendError(nil, fault.ErrConflict)}, fault.ErrConflict, "", false},
		"the connection":    {wire.Frame{Kind: wire.Failure, Body: wire.AppendError(nil, fault.ErrOverloaded)}, fault.ErrUnavailable, "no connection for 6s", true},
		"an unknown frame":  {wire.Frame{Kind: 200}, fault.ErrUnavailable, "no connection for 6s", true},
		"a client's frame":  {wire.Frame{Kind: wire.Request}, fault.ErrUnavailable, "no connection for 6s", true},
		"a malformed error": {wire.Frame{Kind: wire.Failure, Body: []byte{0xff}}, fault.ErrUnavailable, "no connection for 6s", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn, gate, again := served(t)
				require.NoError(t, gate.Send(c.frame))
				began := time.Now()
				_, err := conn.Do(t.Context(), space.Request{Verb: space.VerbPut, Space: "s"})
				require.ErrorIs(t, err, fault.ErrClosed)
				require.ErrorIs(t, err, c.want)
				require.ErrorContains(t, err, c.says)
				require.Equal(t, c.reconnects, *again > 0)
				require.Equal(t, c.reconnects, time.Since(began) > time.Second)
				gate.Close(fault.ErrClosed)
				conn.running.Wait()
			})
		})
	}
}
