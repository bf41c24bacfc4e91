package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"leasehold/coordinator/peer"
	"leasehold/shared/space/wire"
)

// The pause after an accept that failed, such as for lack of file descriptors, doubles
// each time from firstPause to lastPause.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// refusalTimeout bounds how long the refusal of a surplus connection may take, because
// no other connection is accepted meanwhile.
const refusalTimeout = 100 * time.Millisecond

// Serve accepts connections until ctx ends, and closes the listener. It returns nil
// then, after all connections have ended, and an error if the listener was closed from
// outside. No other error ends it. Sessions of clients that are still there stay open
// in the engine.
func (g *Gate) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { <-ctx.Done(); _ = l.Close() }) // Accept returns the error
	workers := newPool(ctx, &running)
	pause, limit := firstPause, newRateLimit(g.Rate)
	for {
		limit.wait(ctx)
		nc, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if nc != nil {
				_ = nc.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("gate: %w", err)
		case err != nil:
			g.Log.Warn("gate: cannot accept a connection; retrying", "error", err, "in", pause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, lastPause)
			continue
		}
		pause = firstPause
		slot, err := g.slots.accept(nc, peer.Of(nc.RemoteAddr(), g.Exempt))
		if err != nil {
			_ = nc.SetDeadline(time.Now().Add(refusalTimeout))
			g.fail(nc, err)
			_ = nc.Close()
			continue
		}
		running.Go(func() {
			if s, conn := g.serveConnection(ctx, workers, slot); s != nil {
				s.awaitReconnect(ctx, conn)
			}
		})
	}
}

// fail sends an error before there is a session, if the client still reads.
func (g *Gate) fail(nc net.Conn, err error) {
	_ = wire.Send(nc, wire.AppendPreamble(nil), failure(0, err))
}

// serveConnection serves one connection until it ends. The session is nil if the
// client was not admitted.
func (g *Gate) serveConnection(ctx context.Context, workers *pool, slot *slot) (s *session, conn *connection) {
	defer g.slots.end(slot)
	defer g.recoverPanic("connection", slot.conn.RemoteAddr())
	if s, conn = g.admit(ctx, slot); s != nil {
		conn.workers = workers
		s.serve(ctx, conn, slot.conn)
	}
	return s, conn
}

// recoverPanic, deferred, logs and counts a panic, so that it ends only the connection
// or the call in which it happened.
func (g *Gate) recoverPanic(what string, of any) {
	if p := recover(); p != nil {
		g.Log.Error("gate: panic", "in", what, "of", of, "value", p, "stack", string(debug.Stack()))
		g.mu.Lock()
		defer g.mu.Unlock()
		g.panics++
	}
}
