package native

import (
	"context"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"leasehold/coordinator/gate/accept"
	"leasehold/coordinator/peer"
	"leasehold/shared/space/wire"
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
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	workers, limit := newPool(ctx, &calls), newRateLimit(g.Rate)
	return accept.Serve(ctx, l, accept.Gate{Name: "gate", Log: g.Log, Wait: limit.wait, Admit: func(nc net.Conn) func(context.Context) {
		slot, err := g.slots.accept(nc, peer.Of(nc.RemoteAddr(), g.Exempt))
		if err != nil {
			_ = nc.SetDeadline(time.Now().Add(refusalTimeout))
			g.sendFailure(nc, err)
			_ = nc.Close()
			return nil
		}
		return func(ctx context.Context) {
			if s, conn := g.serveConnection(ctx, workers, slot); s != nil {
				s.awaitReconnect(ctx, conn)
			}
		}
	}})
}

// sendFailure sends an error before there is a session, if the client still reads.
func (g *Gate) sendFailure(nc net.Conn, err error) {
	_ = wire.Send(nc, wire.AppendPreamble(nil), failure(noCall, err))
}

// serveConnection admits the client that has connected at a slot, and serves it until the
// connection ends. It returns both for awaitReconnect, also after a panic; the session is nil if
// the client was not admitted. The slot is free again before the session waits for a reconnect.
func (g *Gate) serveConnection(ctx context.Context, workers *pool, at *slot) (s *session, conn *connection) {
	defer g.slots.remove(at)
	defer g.recoverPanic("connection", at.conn.RemoteAddr())
	s, conn = g.admit(ctx, at)
	if s != nil {
		conn.workers = workers
		s.serve(ctx, conn, at.conn)
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
