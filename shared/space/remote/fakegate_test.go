package remote

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/retry"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// fakeGate is the other end of a Conn. It answers nothing by itself but the handshake.
type fakeGate struct {
	t      *testing.T
	away   bool // it refuses connections
	hellos []wire.Hello
	link   *wire.Link
	frames chan wire.Frame // that the client has sent, over all connections
}

// pause is the first pause of a test's Conn: with a nanosecond it has no jitter.
const pause = time.Nanosecond

// dialled returns a Conn connected to a fake gate. It must be used in a bubble of synctest.
func dialled(t *testing.T, c Config) (*Conn, *fakeGate) {
	t.Helper()
	g := &fakeGate{t: t, frames: make(chan wire.Frame, 10_000)}
	c.Dial, c.Log, c.Backoff = g.dial, slog.New(slog.DiscardHandler), retry.Backoff{Min: pause, Max: time.Second}
	c.Session = "s"
	conn, err := Dial(t.Context(), c)
	require.NoError(t, err)
	synctest.Wait()
	return conn, g
}

// dial serves a new connection.
func (g *fakeGate) dial(context.Context, string) (net.Conn, error) {
	if g.away {
		return nil, errors.New("the gate is away")
	}
	ours, theirs := net.Pipe()
	l := wire.NewLink(theirs)
	l.Ping = time.Hour
	g.link = l
	go func() {
		_, err := wire.ReadPreamble(l.Reader())
		assert.NoError(g.t, err)
		f, _, err := wire.Read(l.Reader(), nil)
		assert.NoError(g.t, err)
		h, err := wire.DecodeHello(f.Body)
		assert.NoError(g.t, err)
		g.hellos = append(g.hellos, h)
		w := wire.Welcome{Ping: time.Hour, HTTP: "http://" + string(rune('0'+len(g.hellos)))}
		assert.NoError(g.t, wire.Send(theirs, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Welcomed, Body: wire.AppendWelcome(nil, w)}))
		go l.Write(nil, nil)
		for {
			f, err := l.Receive()
			if err != nil {
				l.Close(err)
				return
			}
			f.Body = append([]byte(nil), f.Body...)
			g.frames <- f
		}
	}()
	return ours, nil
}

// loses ends the connection, and waits until the Conn knows.
func (g *fakeGate) loses() {
	g.link.Close(fault.ErrUnavailable)
	synctest.Wait()
}

// sent returns the next frame that the client has sent; it fails if there is none.
func (g *fakeGate) sent() (wire.Frame, space.Request) {
	g.t.Helper()
	synctest.Wait()
	require.NotEmpty(g.t, g.frames, "the client has sent nothing")
	f := <-g.frames
	if f.Kind != wire.Request {
		return f, space.Request{}
	}
	r, err := wire.DecodeRequest(f.Body)
	require.NoError(g.t, err)
	return f, r
}

// silent requires that the client has sent nothing more.
func (g *fakeGate) silent() {
	g.t.Helper()
	synctest.Wait()
	require.Empty(g.t, g.frames)
}

// replies answers a call, and fails fails it.
func (g *fakeGate) replies(f wire.Frame, r space.Reply) {
	g.t.Helper()
	require.NoError(g.t, g.link.Send(wire.Frame{Kind: wire.Reply, Call: f.Call, Body: wire.AppendReply(nil, r)}))
	synctest.Wait()
}

func (g *fakeGate) fails(f wire.Frame, err error) {
	g.t.Helper()
	require.NoError(g.t, g.link.Send(wire.Frame{Kind: wire.Failure, Call: f.Call, Body: wire.AppendError(nil, err)}))
	synctest.Wait()
}

// outcome is what a call returned.
type outcome struct {
	reply space.Reply
	err   error
	took  time.Duration
}

// calls begins a call.
func calls(ctx context.Context, conn *Conn, r space.Request) chan outcome {
	done, began := make(chan outcome, 1), time.Now()
	go func() {
		reply, err := conn.Do(ctx, r)
		done <- outcome{reply, err, time.Since(began)}
	}()
	synctest.Wait()
	return done
}

// hangsUp ends the Conn and the gate.
func (g *fakeGate) hangsUp(conn *Conn) {
	conn.end(fault.ErrClosed)
	g.link.Close(fault.ErrClosed)
	conn.running.Wait()
	synctest.Wait()
}

var (
	get   = space.Request{Verb: space.VerbGet, Space: "a", Template: tuple.Match("x")}
	put   = space.Request{Verb: space.VerbPut, Space: "a", Tuple: tuple.New("x")}
	query = space.Request{Verb: space.VerbQuery, Space: "a", Template: tuple.Match("x")}
	found = space.Reply{Found: true, Tuple: tuple.New("x")}
)
