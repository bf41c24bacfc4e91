package conformance

import (
	"context"
	"testing"
	"time"
)

// TestLogsThatListTheStateMoreOftenConform runs the archive with users while the trace lists the whole state at random
// times, as a coordinator does whose check has missed events.
func TestLogsThatListTheStateMoreOftenConform(t *testing.T) {
	t.Parallel()
	for seed := range *seeds {
		requireConforms(t, recordedWith(t, uint64(300+seed), 20*time.Minute, true, func(r *archiveRun, ctx context.Context) {
			withUsers(r, ctx)
			r.running.Go(func() { r.listStates(ctx) })
		}))
	}
}

// listStates makes the trace list the state at random times until ctx ends.
func (r *archiveRun) listStates(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.upTo(2 * time.Minute)):
		}
		r.mu.Lock()
		engine := r.coord.Engine()
		r.mu.Unlock()
		engine.TraceState()
	}
}
