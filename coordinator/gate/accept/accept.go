// Package accept is the loop in which a gate accepts connections.
//
// Invariants: an accept that fails, such as for lack of file descriptors, is tried again
// after a pause, and ends nothing. Serve returns when the goroutines of all connections have
// ended. The gate bounds its connections, because Serve asks it before each.
package accept

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// The pause after an accept that failed doubles each time from firstPause to lastPause.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
	// warnEvery is the time between two warnings, because a flood of connections would fill the log.
	warnEvery = time.Minute
)

// Gate is what Serve does with the connections of a listener.
type Gate struct {
	Name string // in errors and in the log
	// Wait is called before each accept, and may block until ctx ends; nil: no rate limit.
	Wait func(ctx context.Context)
	// Admit counts a connection and returns what serves it, or nil after it has refused and
	// closed the connection. It is called for one connection at a time, and should not block.
	// The returned function runs in a goroutine of its own. It must close the connection, and
	// return soon after its context has ended, because Serve does not close the connection.
	Admit func(c net.Conn) (serve func(ctx context.Context))
	Log   *slog.Logger
}

// Serve accepts connections until ctx ends, and closes the listener. It returns nil then, and an
// error that wraps net.ErrClosed if the listener was closed from outside; in both cases after
// the contexts of all connections have ended and their functions have returned. If a connection
// cannot be accepted, such as for lack of file descriptors, it is tried again after a pause that
// doubles, and the log tells it once a minute, with the number of failures.
func Serve(ctx context.Context, l net.Listener, g Gate) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { <-ctx.Done(); _ = l.Close() }) // Accept returns the error
	var warned time.Time
	failures := 0
	for pause := firstPause; ; {
		if g.Wait != nil {
			g.Wait(ctx)
		}
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if c != nil {
				_ = c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("%s: %w", g.Name, err)
		case err != nil:
			failures++
			if time.Since(warned) >= warnEvery {
				g.Log.Warn(g.Name+": cannot accept a connection; retrying", "error", err, "failures", failures)
				warned, failures = time.Now(), 0
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, lastPause)
			continue
		}
		pause = firstPause
		if serve := g.Admit(c); serve != nil {
			running.Go(func() { serve(ctx) })
		}
	}
}
