package actions_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/actions"
	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// fixture is an engine with the protocol of tasks, and a source over it.
type fixture struct {
	*testing.T
	tasks  task.Client
	engine *engine.Engine
	source *actions.Source
}

// withFixture runs f on a fixture whose clock is synctest's.
func withFixture(t *testing.T, f func(fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		policy, tracker := task.Policy{MaxAttempts: 1, Backoff: time.Second}, actions.NewTracker()
		definitions := [][]space.Definition{task.Spaces(), lease.Spaces(), status.Spaces()}
		e, err := engine.Open(t.Context(), engine.Config{
			Journal: &journal.Memory{}, Noted: tracker.Note, ShareBy: space.ShareBy(definitions...), Readers: task.Readers(),
			Procedures: space.Join(policy.Procedures(), policy.AdminProcedures(), lease.Procedures(), status.Procedures()),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		conn, err := e.Connect(t.Context(), "worker-1", 0)
		require.NoError(t, err)
		repo := space.Over(conn)
		for _, all := range definitions {
			for _, d := range all {
				require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
			}
		}
		f(fixture{t, task.Client{Repo: repo}, e, actions.NewSource(repo, tracker)})
		stop()
		require.NoError(t, <-ended)
	})
}

func (f fixture) create(action string) task.Item {
	f.Helper()
	i, err := f.tasks.Create(f.Context(), models.Task{Action: action, Timeout: 60}, 0)
	require.NoError(f, err)
	return i
}

func (f fixture) claim(action string) task.Item {
	f.Helper()
	i, err := f.tasks.Claim(f.Context(), action)
	require.NoError(f, err)
	return i
}

// read returns the figures of an action now.
func (f fixture) read(action string) actions.Action {
	f.Helper()
	s, err := f.source.ReadNow(f.Context())
	require.NoError(f, err)
	return s.Of(action)
}

func TestAnActionHasCountsSlotsRatesAndRuns(t *testing.T) {
	withFixture(t, func(f fixture) {
		h := status.NewHeartbeat(f.tasks.Repo, 0, map[string]int{"a": 3})
		require.NoError(f, h.Beat(f.Context()))
		for range 4 {
			f.create("a")
		}
		first := f.claim("a")
		<-time.After(3 * time.Second)
		_, err := f.tasks.Resolve(f.Context(), first, nil)
		require.NoError(f, err)
		second := f.claim("a")

		a := f.read("a")
		require.Equal(f, task.Counts{task.Waiting: 2, task.Claimed: 1, task.StateDelayed: 0, task.StateBlocked: 0, task.StatePaused: 0, task.StateDead: 0}, a.Counts)
		require.Equal(f, []int64{1, 3, 1}, []int64{a.Workers, a.Slots, a.InUse})
		require.Equal(f, actions.Rates{Created: 4, Ended: 1}, a.Rates)
		require.Equal(f, actions.Runs{Number: 1, Median: 3 * time.Second, P95: 3 * time.Second, Mean: 3 * time.Second}, a.Runs)
		require.Equal(f, 3*time.Second, time.Since(a.OldestSince))

		<-time.After(30 * time.Second)
		require.NoError(f, f.tasks.Release(f.Context(), second, "cannot"))
		require.EqualValues(f, 1, f.read("a").Failed)
		<-time.After(time.Minute)
		require.Equal(f, actions.Rates{}, f.read("a").Rates, "a minute later")
		require.Equal(f, 1, f.read("a").Runs.Number)
	})
}

func TestTheOldestClaimableTaskIsOldInsideAnyPriority(t *testing.T) {
	withFixture(t, func(f fixture) {
		old := f.create("a")
		<-time.After(time.Hour)
		for n := range 100 { // these are claimed first
			_, err := f.tasks.Create(f.Context(), models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{Group: fmt.Sprint(n)}}, 9)
			require.NoError(f, err)
		}
		a := f.read("a")
		require.Equal(f, old.ID, a.Oldest)
		require.Equal(f, time.Hour, time.Since(a.OldestSince))
		require.NoError(f, f.tasks.PauseFor(f.Context(), "a", "token ops", "the disk is full"))
		a = f.read("a")
		require.Empty(f, a.Oldest, "none is claimable")
		require.True(f, a.IsPaused())
		require.Equal(f, []string{"token ops", "the disk is full"}, []string{a.Pause.By, a.Pause.Why})
		require.NoError(f, f.tasks.Resume(f.Context(), "a"))
		require.Equal(f, old.ID, f.read("a").Oldest)
		require.Zero(f, f.read("a").Pause)
	})
}

func TestWaitsCountFromWhenATaskCouldBeClaimed(t *testing.T) {
	withFixture(t, func(f fixture) {
		_, err := f.tasks.Create(f.Context(), models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{NotBefore: time.Now().Add(time.Hour)}}, 0)
		require.NoError(f, err)
		<-time.After(time.Hour + 2*time.Second)
		i := f.claim("a") // after 2 s
		<-time.After(5 * time.Second)
		require.NoError(f, f.tasks.HandBack(f.Context(), i))
		require.Equal(f, 7*time.Second, time.Since(f.read("a").OldestSince), "it kept its place")
		<-time.After(4 * time.Second)
		f.claim("a") // after 4 s
		waits := f.source.Tracker().Totals()["a"].Wait.Snapshot()
		require.EqualValues(f, 2, waits.Count)
		require.Equal(f, 6*time.Second, waits.Sum)
	})
}

func TestTotalsOfManyActionsAreBounded(t *testing.T) {
	withFixture(t, func(f fixture) {
		for n := range 3 * actions.MaxLabels {
			f.create(fmt.Sprintf("a%04d", n))
		}
		totals := f.source.Tracker().Totals()
		require.Len(f, totals, actions.MaxLabels+1)
		require.EqualValues(f, 2*actions.MaxLabels, totals[actions.Other].Created)
	})
}

func TestActionsPastTheMaximumAreCounted(t *testing.T) {
	withFixture(t, func(f fixture) {
		for n := range actions.MaxActions + 5 {
			f.create(fmt.Sprintf("a%05d", n))
		}
		s, err := f.source.Read(f.Context())
		require.NoError(f, err)
		require.Len(f, s.Actions, actions.MaxActions)
		require.GreaterOrEqual(f, s.Total, actions.MaxActions+5)
		again, err := f.source.Read(f.Context())
		require.NoError(f, err)
		require.Equal(f, s.At, again.At, "it is shared for a second")
	})
}

func TestEndsAndFailuresAreCountedByTheirReason(t *testing.T) {
	withFixture(t, func(f fixture) {
		cancelled := f.create("a")
		require.NoError(f, f.tasks.Cancel(f.Context(), cancelled.ID, ""))
		f.create("a")
		f.claim("a")
		<-time.After(61 * time.Second) // it times out
		<-time.After(2 * time.Second)
		other, err := f.engine.Connect(f.Context(), "worker-2", 0)
		require.NoError(f, err)
		second := task.Client{Repo: space.Over(other)}
		i, err := second.Claim(f.Context(), "a")
		require.NoError(f, err)
		require.NoError(f, second.Release(f.Context(), i, "cannot")) // its second attempt, so it is dead
		require.EqualValues(f, 1, f.read("a").Counts[task.StateDead])
		a := f.source.Tracker().Totals()["a"]
		require.Equal(f, map[string]int64{"cancelled": 1, "dead": 1}, a.Ended)
		require.EqualValues(f, 1, a.Failed[task.TimedOut])
		require.EqualValues(f, 1, a.Failed[task.Released])
		require.Equal(f, time.Minute, a.Run[task.TimedOut].Snapshot().Sum)
	})
}
