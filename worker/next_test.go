package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
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

func TestFurtherLastResultsAreStaleAndClaimNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		for range 3 {
			b.create("act")
		}
		resolved := map[string]error{}
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			err := job.Resolve(ctx, "", nil)
			for range 2 {
				resolved[job.Task().ID] = job.Resolve(context.WithoutCancel(ctx), "", nil) // the first stale one ends ctx
			}
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

// A task that was claimed by a worker that drains would have to be handed back.
func TestAResultClaimsNothingWhileTheWorkerDrains(t *testing.T) {
	inBubble(t, func(b *bench) {
		var claims []int64
		b.wrap = func(c space.Conn) space.Conn {
			return changing{c, func(_ context.Context, r space.Request, _ space.Conn) (space.Reply, bool, error) {
				if r.Procedure == "task.next" {
					claims = append(claims, r.Args.Int64(1))
				}
				return space.Reply{}, false, nil
			}}
		}
		first := true
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			if !first {
				<-job.Draining()
			}
			first = false
			return job.Resolve(ctx, "", nil)
		}))
		for range 3 {
			b.create("act")
		}
		pass(time.Second)
		require.NoError(b.t, stop())
		require.Equal(b.t, []int64{1, 0}, claims)
		require.Len(b.t, b.results(), 2)
	})
}

func TestAResultWithAContextThatHasEndedIsNotSent(t *testing.T) {
	inBubble(t, func(b *bench) {
		ended, end := context.WithCancel(b.t.Context())
		end()
		var refused error
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			refused = job.Resolve(ended, "first", nil)
			return job.Resolve(ctx, "second", nil)
		}))
		b.create("act")
		pass(time.Second)
		require.ErrorIs(b.t, refused, context.Canceled)
		require.Len(b.t, b.results(), 1)
		require.Equal(b.t, "second", task.DecodeResult(b.results()[0]).Part)
		require.NoError(b.t, stop())
	})
}
