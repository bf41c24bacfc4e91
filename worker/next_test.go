package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/task"
	"leasehold/worker"
)

func TestASlotClaimsItsNextTaskWithTheResultOfTheLast(t *testing.T) {
	inBubble(t, func(b *bench) {
		calls := map[string]int{}
		for range 5 {
			b.create("act")
		}
		stop := b.runFlaky(does(func(ctx context.Context, job worker.Job) error { return job.Resolve(ctx, "", nil) }),
			func(_ int, op string) error { calls[op]++; return nil })
		pass(time.Second)
		require.Len(b.t, b.results(), 5)
		require.Equal(b.t, 5, calls["task.next"])
		require.Equal(b.t, 2, calls["task.claim"], "for the first task, and when there was none")
		require.NoError(b.t, stop())
	})
}

func TestATaskThatWasClaimedWithAResultIsHandedBackIfTheWorkerDrains(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.create("act")
		b.create("act")
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			err := job.Resolve(ctx, "", nil)
			<-job.Draining()
			return err
		}))
		pass(time.Second)
		require.NoError(b.t, stop())
		require.Len(b.t, b.results(), 1)
		i := b.only()
		require.Zero(b.t, i.Attempts)
		require.Empty(b.t, i.Claimants)
	})
}

func TestASecondLastResultIsStaleAndClaimsNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		for range 3 {
			b.create("act")
		}
		resolved := map[string]error{}
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			err := job.Resolve(ctx, "", nil)
			resolved[job.Task().ID] = job.Resolve(ctx, "", nil)
			return err
		}))
		pass(time.Second)
		require.Len(b.t, resolved, 3)
		for id, err := range resolved {
			require.ErrorIs(b.t, err, fault.ErrStaleToken, id)
		}
		require.Len(b.t, b.results(), 3)
		n, err := b.repo.Space(task.Space).Count(b.t.Context(), task.Any())
		require.NoError(b.t, err)
		require.Zero(b.t, n)
		require.NoError(b.t, stop())
	})
}
