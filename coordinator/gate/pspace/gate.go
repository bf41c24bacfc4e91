package pspace

import (
	"cmp"
	"context"
	"log/slog"
	"net"

	"leasehold/coordinator/gate/foreign"
)

// Config is what a gate opens.
type Config struct {
	Hub    *foreign.Hub // carries out the operations
	Access foreign.Access
	Log    *slog.Logger // nil: slog.Default
}

// Gate opens all spaces of a coordinator to clients that speak JSON. A request names its
// space. Its methods may be called concurrently.
type Gate struct{ Config }

// New returns a gate; Serve opens it.
func New(c Config) *Gate {
	c.Log = cmp.Or(c.Log, slog.Default())
	return &Gate{c}
}

// Serve serves connections until ctx ends, and closes the listener. It returns nil then,
// after all connections have ended, and an error if the listener was closed from outside.
func (g *Gate) Serve(ctx context.Context, l net.Listener) error {
	return g.Hub.Serve(ctx, l, func(ctx context.Context, c *foreign.Conn) {
		newConnection(g, c).serve(ctx)
	})
}
