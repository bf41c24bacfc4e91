package foreign

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"

	"leasehold/coordinator/gate/accept"
	"leasehold/coordinator/peer"
	"leasehold/shared/fault"
	"leasehold/shared/space/memory"
)

// connectionCost estimates the memory of a connection in bytes of heap and stacks.
const connectionCost = 16 << 10

// Conn is a connection of a foreign client.
type Conn struct {
	net.Conn
	Peer peer.Peer
}

// Serve accepts connections until ctx ends, closes the listener, and calls serve for each
// connection in a goroutine of its own, in which serve may block and panic. It closes the
// connection when serve returns or ctx ends, and returns nil when all have ended; or an
// error if the listener was closed from outside. Surplus connections are closed at once.
func (h *Hub) Serve(ctx context.Context, l net.Listener, serve func(context.Context, *Conn)) error {
	return accept.Serve(ctx, l, accept.Gate{Name: "gate", Log: h.Log, Admit: func(nc net.Conn) func(context.Context) {
		c := &Conn{nc, peer.Of(nc.RemoteAddr(), h.Exempt)}
		if err := h.admit(c); err != nil {
			h.Log.Info("gate: refused", "remote", nc.RemoteAddr(), "error", err)
			_ = nc.Close()
			return nil
		}
		return func(ctx context.Context) {
			defer h.returnConnection(c)
			defer func() { _ = nc.Close() }()
			stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
			defer stop()
			defer h.recoverPanic(nc)
			serve(ctx, c)
		}
	}})
}

// admit counts a connection, for its peer, in memory and in all, or counts nothing and returns
// fault.ErrOverloaded. returnConnection must follow if it succeeds.
func (h *Hub) admit(c *Conn) error {
	if err := h.connections.Take(c.Peer); err != nil {
		return err
	}
	if err := h.Memory.Reserve(connectionCost, memory.Growth); err != nil {
		h.connections.Return(c.Peer)
		return err
	}
	if h.open.Add(1) > int64(h.Connections) {
		h.returnConnection(c)
		return fmt.Errorf("%d connections of foreign clients: %w", h.Connections, fault.ErrOverloaded)
	}
	return nil
}

// returnConnection undoes an admit that succeeded. It must be called once for each.
func (h *Hub) returnConnection(c *Conn) {
	h.open.Add(-1)
	h.Memory.Add(-connectionCost)
	h.connections.Return(c.Peer)
}

// recoverPanic, deferred, logs and counts a panic, so that it ends only its connection.
func (h *Hub) recoverPanic(c net.Conn) {
	if p := recover(); p != nil {
		h.Log.Error("gate: panic", "remote", c.RemoteAddr(), "value", p, "stack", string(debug.Stack()))
		h.panics.Add(1)
	}
}

// Panics returns how many connections a panic has ended.
func (h *Hub) Panics() int { return int(h.panics.Load()) }

// Protect runs f, in a goroutine that f's caller has started for a connection, and keeps a panic
// from ending the process: it is logged and counted.
func (h *Hub) Protect(c *Conn, f func()) {
	defer h.recoverPanic(c)
	f()
}
