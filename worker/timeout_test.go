package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/space"
	"leasehold/worker"
)

// deaf is a session that gets no messages.
type deaf struct{ space.Conn }

func (d deaf) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if r.Verb == space.VerbReceive {
		<-ctx.Done()
		return space.Reply{}, space.ContextError(ctx)
	}
	return d.Conn.Do(ctx, r)
}

func TestATaskThatTimesOutIsStoppedWithoutTheCoordinator(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.wrap = func(c space.Conn) space.Conn { return deaf{c} }
		began := time.Now()
		var cause error
		var took time.Duration
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			if cause != nil {
				return job.Resolve(ctx, "", nil) // the second attempt
			}
			<-time.After(timeout / 2)
			require.NoError(b.t, job.Note(ctx, models.Progress{Fraction: 0.5})) // starts it again
			<-ctx.Done()
			cause, took = context.Cause(ctx), time.Since(began)
			return cause
		}))
		b.create("act")
		pass(2 * timeout)
		require.ErrorContains(b.t, cause, "timed out after 10m0s")
		require.Equal(b.t, timeout*3/2+time.Second, took)
		require.NoError(b.t, stop())
	})
}
