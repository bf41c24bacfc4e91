package spacetest

import (
	"context"
	"fmt"
	"sync"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// Refuse returns a connection that refuses the first call of each verb and procedure, and
// then every n-th call, with fault.ErrOverloaded and fault.ErrUnavailable in turn. The
// engine sees nothing of a refused call.
func Refuse(c space.Conn, n int) space.Conn {
	return &refusing{Conn: c, every: n, seen: map[string]bool{}}
}

type refusing struct {
	space.Conn
	every int

	mu             sync.Mutex // guards the fields below
	seen           map[string]bool
	calls, refused int
}

// Do implements space.Conn: a refused call does not reach the engine.
func (c *refusing) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if err := c.refuse(r.String()); err != nil {
		return space.Reply{}, err
	}
	return c.Conn.Do(ctx, r)
}

// refuse returns the error of a refused call, and nil for any other. It counts all calls.
func (c *refusing) refuse(call string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.seen[call] && c.calls%c.every != 0 {
		return nil
	}
	c.seen[call] = true
	c.refused++
	return fmt.Errorf("%s, refusal %d by the test: %w", call, c.refused, []error{fault.ErrOverloaded, fault.ErrUnavailable}[c.refused%2])
}
