package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// resolveCreating resolves a task and creates another one with options, and returns that one.
func (f fixture) resolveCreating(i task.Item, o models.TaskOptions, onConflict string) task.Item {
	f.Helper()
	made, err := f.client.Resolve(f.Context(), i, "done", task.New{Task: models.Task{Action: "a", Timeout: 60, TaskOptions: o}, OnConflict: onConflict})
	require.NoError(f, err)
	return made[0]
}

func TestATaskCreatesItsSuccessorUnderItsOwnUniqueKeyWhileItResolves(t *testing.T) {
	for _, onConflict := range []string{"", task.KeepFirst, task.Replace} {
		t.Run(onConflict, func(t *testing.T) {
			withFixture(t, func(f fixture) {
				o := models.TaskOptions{UniqueKey: "k"}
				i := f.make(o)
				for range 3 {
					claimed := f.claims()
					require.Equal(f, i.ID, claimed.ID)
					next := f.resolveCreating(claimed, o, onConflict)
					require.False(f, next.Existing)
					require.NotEqual(f, i.ID, next.ID)
					f.is(next.ID, task.Waiting, task.WhyNoWorker)
					f.ended(i.ID)
					i = next
				}
			})
		})
	}
}

// The key goes to the task that waits for it, as at any other end.
func TestASuccessorUnderAUniqueKeyGivesWayToATaskThatWaitsForTheKey(t *testing.T) {
	withFixture(t, func(f fixture) {
		o := models.TaskOptions{UniqueKey: "k"}
		f.make(o)
		i := f.claims()
		waits := f.make(o, func(n *task.New) { n.OnConflict = task.Replace })
		next := f.resolveCreating(i, o, task.KeepFirst)
		require.Equal(f, waits.ID, next.ID)
		require.True(f, next.Existing)
		f.is(waits.ID, task.Waiting, task.WhyNoWorker)
	})
}

func TestATaskCreatesASuccessorForItsOwnSlotOfALimitWhileItResolves(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "db", Max: 1}))
		o := models.TaskOptions{Limits: []string{"db"}, OnLimit: models.Drop}
		f.make(o)
		next := f.resolveCreating(f.claims(), o, "")
		require.Empty(f, next.State)
		f.is(next.ID, task.Waiting, task.WhyNoWorker)
	})
}

func TestATaskCreatesChildrenOfItselfAndOfItsParentsWhileItResolves(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{})
		i := f.make(models.TaskOptions{After: []string{parent.ID}})
		f.resolve(f.claims(), "first")
		child := f.resolveCreating(f.claims(), models.TaskOptions{After: []string{parent.ID, i.ID}}, "")
		all, err := f.client.ClaimUpTo(f.Context(), 1, "a")
		require.NoError(f, err)
		require.Equal(f, child.ID, all[0].ID)
		require.Equal(f, []task.ParentResult{
			{ID: parent.ID, State: task.Resolved, Result: `"first"`},
			{ID: i.ID, State: task.Resolved, Result: `"done"`},
		}, all[0].Parents)
		f.resolve(all[0].Item, nil)
		require.Zero(f, f.countData("parent"), "no task names them any more")
	})
}
