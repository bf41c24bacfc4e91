package task_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func TestAPausedActionKeepsItsTasks(t *testing.T) {
	withFixture(t, func(f fixture) {
		first, running := f.make(models.TaskOptions{}), f.claims()
		second := f.make(models.TaskOptions{})
		require.NoError(f, f.client.Pause(f.Context(), "a"))
		third := f.make(models.TaskOptions{})
		require.Empty(f, f.claims().ID)
		require.Empty(f, f.waiting())
		f.is(second.ID, task.StatePaused, task.WhyPaused)
		f.is(third.ID, task.StatePaused, task.WhyPaused)
		counts, err := f.client.Counts(f.Context(), "a")
		require.NoError(f, err)
		require.Equal(f, task.Counts{task.Waiting: 0, task.StateDelayed: 0, task.StateBlocked: 0, task.StatePaused: 2, task.Claimed: 1}, counts)
		f.resolve(running, nil)
		f.ended(first.ID)

		claimed := make(chan string, 1)
		go func() {
			i, err := f.client.Claim(f.Context(), "a")
			require.NoError(f, err)
			claimed <- i.ID
		}()
		synctest.Wait()
		require.NoError(f, f.client.Resume(f.Context(), "a"))
		require.Equal(f, second.ID, <-claimed, "at its old place")
		require.Equal(f, third.ID, f.claims().ID)
	})
}

func TestAPauseOfManyTasksIsComplete(t *testing.T) {
	withFixture(t, func(f fixture) {
		const many = 2500
		for n := 0; n < many; n += 500 {
			all := make([]task.New, 500)
			for k := range all {
				all[k] = task.New{Task: models.Task{Action: "a", Timeout: 60}}
			}
			_, err := f.client.CreateAll(f.Context(), all...)
			require.NoError(f, err)
		}
		require.NoError(f, f.client.Pause(f.Context(), "a"))
		require.Empty(f, f.waiting())
		require.NoError(f, f.client.Resume(f.Context(), "a"))
		require.Len(f, f.waiting(), many)
		left, err := f.repo.Space(task.Data).QueryAll(f.Context(), tuple.Match("resuming", "a"))
		require.NoError(f, err)
		require.Empty(f, left)
	})
}

func TestPausesAreListedAndOneActionDoesNotPauseAnother(t *testing.T) {
	withFixture(t, func(f fixture) {
		since := time.Now().UTC()
		require.NoError(f, f.client.Pause(f.Context(), "paused"))
		<-time.After(time.Minute)
		require.NoError(f, f.client.Pause(f.Context(), "paused"))
		require.NoError(f, f.repo.Space(task.Data).Put(f.Context(), tuple.New("paused", "foreign", "no time"), 0))
		all, err := f.client.PausedActions(f.Context())
		require.NoError(f, err)
		require.Equal(f, []task.PausedAction{{Action: "paused", Since: since}, {Action: "foreign"}}, all)
		f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "paused" })
		i := f.make(models.TaskOptions{})
		got, err := f.client.Claim(f.Context(), "paused", "a")
		require.NoError(f, err)
		require.Equal(f, i.ID, got.ID)
	})
}

// A sweep does not resume an action paused again before all its tasks are back.
func TestAPauseEndsAResumptionThatIsHalfDone(t *testing.T) {
	withFixture(t, func(f fixture) {
		all := make([]task.New, 501)
		for n := range all {
			all[n] = task.New{Task: models.Task{Action: "a", Timeout: 60}}
		}
		for range 2 {
			_, err := f.client.CreateAll(f.Context(), all...)
			require.NoError(f, err)
		}
		require.NoError(f, f.client.Pause(f.Context(), "a"))
		_, err := f.repo.Call(f.Context(), space.OpID{}, "task.resume", tuple.New("a")) // and the caller dies
		require.NoError(f, err)
		require.Len(f, f.waiting(), 1000)
		require.NoError(f, f.client.Pause(f.Context(), "a"))
		require.Empty(f, f.waiting())
		_, err = f.client.Sweep(f.Context(), nil)
		require.NoError(f, err)
		require.Empty(f, f.waiting())
		_, err = f.repo.Call(f.Context(), space.OpID{}, "task.resume", tuple.New("a"))
		require.NoError(f, err)
		_, err = f.client.Sweep(f.Context(), nil)
		require.NoError(f, err)
		require.Len(f, f.waiting(), 1002)
	})
}
