package worker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/worker"
)

// The handler goes on beside the worker that gets its task next, so the process must restart. Replacing the lost
// session is not enough.
func TestAHandlerThatDoesNotStopIsAnErrorAlsoIfItsSessionIsLost(t *testing.T) {
	for name, refused := range map[string]error{ // of a heartbeat; nil: the session is closed
		"the session is closed":  nil,
		"the session is unknown": fault.ErrClosed,
		"another error":          fault.ErrCorrupt,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				release := make(chan struct{})
				var refuses atomic.Bool
				stop := b.runFlaky(does(func(context.Context, worker.Job) error { <-release; return nil }), func(_ int, op string) error {
					if refuses.Load() && op == "status.beat" {
						return fmt.Errorf("heartbeat: %w", refused)
					}
					return nil
				})
				b.create("act")
				synctest.Wait()
				if refused == nil {
					require.NoError(b.t, b.repos[0].Close(b.t.Context()))
				} else {
					refuses.Store(true)
				}
				pass(2 * grace)
				err := stop()
				close(release)
				require.ErrorIs(b.t, err, worker.ErrStuck)
				require.ErrorContains(b.t, err, "act t1")
				require.Len(b.t, b.repos, 1)
			})
		})
	}
}
