package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// Without its record nothing else can be done for a task. A cancel that returns no error has removed
// it.
func TestAMalformedTaskThatIsCancelledBecomesADeadLetter(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", "t1", "", int64(2), int64(0), "{"), 0))
		require.NoError(f, f.client.Cancel(f.Context(), "t1", "a mistake"))
		require.Empty(f, f.waiting())
		l, err := f.client.DeadLetter(f.Context(), "t1")
		require.NoError(f, err)
		require.Contains(f, l.Reason, "not JSON")
		require.Equal(f, `"{"`, string(l.Data))
		require.ErrorIs(f, f.client.Cancel(f.Context(), "t1", "a mistake"), fault.ErrNotFound)
	})
}

func TestALimitRemembersNoActionsWhoseTasksDoNotWaitForIt(t *testing.T) {
	withFixture(t, func(f fixture) {
		waiting := func() int {
			n, err := f.repo.Space(task.Data).Count(f.Context(), tuple.Match("limited", "db", tuple.AnyString))
			require.NoError(f, err)
			return n
		}
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "db", Max: 1}))
		for range 2 {
			f.make(models.TaskOptions{Limits: []string{"db"}})
		}
		first := f.claims()
		require.Empty(f, f.claims().ID)
		require.Equal(f, 1, waiting())
		f.resolve(first, nil)
		require.Zero(f, waiting(), "the second task is offered")
		f.resolve(f.claims(), nil)
	})
}
