package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space/wire"
)

// How long the gate waits after an accept that failed, such as for want of file
// descriptors: twice as long each time.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// refuseIn bounds the refusal of a connection that is one too many.
const refuseIn = 100 * time.Millisecond

// Serve accepts connections until ctx ends, and closes the listener. It returns
// nil then, after all connections have ended, and the error if somebody else
// closed the listener. No other error ends it. Sessions that clients left behind
// live on in the engine.
func (g *Gate) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { <-ctx.Done(); _ = l.Close() }) // Accept says so
	hands := newCrew(ctx, &running)
	pause, paced := firstPause, newPace(g.Rate)
	for {
		paced.wait(ctx)
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if c != nil {
				_ = c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("gate: %w", err)
		case err != nil:
			g.Log.Warn("gate: cannot accept; trying again", "error", err, "in", pause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, lastPause)
			continue
		}
		pause = firstPause
		if !g.enter() {
			g.refuse(c)
			continue
		}
		running.Go(func() { g.serve(ctx, hands, c) })
	}
}

// enter counts a connection, unless there are too many.
func (g *Gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open >= g.Connections {
		return false
	}
	g.open++
	return true
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
}

// refuse tells a connection that there are too many.
func (g *Gate) refuse(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(refuseIn))
	g.fail(c, 0, fmt.Errorf("%d connections: %w", g.Connections, fault.ErrOverloaded))
	_ = c.Close()
}

// fail answers with an error before a link is set up, if the client listens.
func (g *Gate) fail(c net.Conn, call uint64, err error) {
	_ = wire.Send(c, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Failure, Call: call, Body: wire.AppendError(nil, err)})
}

// serve is the life of one connection, and of its session until somebody comes
// back to it.
func (g *Gate) serve(ctx context.Context, hands *crew, c net.Conn) {
	if s, v := g.meet(ctx, hands, c); s != nil {
		s.linger(ctx, v)
	}
}

// meet is the life of one connection. The session is nil if the client was not
// admitted.
func (g *Gate) meet(ctx context.Context, hands *crew, c net.Conn) (s *session, v *visit) {
	defer g.leave()
	defer g.rescue("connection", c.RemoteAddr())
	if s, v = g.admit(ctx, c); s != nil {
		v.hands = hands
		s.converse(ctx, v, c)
	}
	return s, v
}

// rescue keeps a panic from ending more than what it happened in.
func (g *Gate) rescue(what string, who any) {
	if p := recover(); p != nil {
		g.Log.Error("gate: panic", "in", what, "of", who, "value", p, "stack", string(debug.Stack()))
		g.mu.Lock()
		defer g.mu.Unlock()
		g.panics++
	}
}
