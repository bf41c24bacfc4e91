package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/worker"
)

func (b *bench) drain(session string) error { return status.Drain(b.t.Context(), b.repo, session) }

func TestAWorkerThatIsAskedToDrainFinishesAndEnds(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.create("act")
		b.create("act")
		began := time.Now()
		b.run(does(func(ctx context.Context, job worker.Job) error {
			<-job.Draining()
			<-time.After(drain - time.Second)
			return job.Resolve(ctx, "", nil)
		}))
		<-time.After(time.Minute)
		require.NoError(b.t, b.drain("worker-a"))
		<-time.After(time.Second)
		require.Equal(b.t, "draining", b.state("worker-a"))
		require.NoError(b.t, b.drain("worker-a"), "a second request is harmless")
		require.NoError(b.t, <-b.ended)
		require.Equal(b.t, time.Minute+drain-time.Second, time.Since(began))
		require.Len(b.t, b.results(), 1)
		n, err := b.repo.Space(task.Space).Count(b.t.Context(), task.Any())
		require.NoError(b.t, err)
		require.Equal(b.t, 1, n, "it claimed nothing new")
		require.ErrorIs(b.t, b.drain("worker-a"), fault.ErrNotFound)
	})
}

func TestAWorkerThatIsToldToDrainHandsBackWhatDoesNotFinish(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.create("act")
		b.run(does(func(ctx context.Context, job worker.Job) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		<-time.After(time.Minute)
		require.NoError(b.t, b.drain("worker-a"))
		require.NoError(b.t, <-b.ended)
		i, err := task.Client{Repo: b.repo}.Claim(b.t.Context(), "act")
		require.NoError(b.t, err)
		require.Zero(b.t, i.Attempts)
		require.Empty(b.t, i.Claimants)
	})
}

func TestOnlyASessionThatBeatsCanBeToldToDrain(t *testing.T) {
	inBubble(t, func(b *bench) {
		require.ErrorIs(b.t, b.drain("nobody"), fault.ErrNotFound)
		require.ErrorIs(b.t, b.drain(b.repo.Session()), fault.ErrNotFound, "it would not listen")
	})
}
