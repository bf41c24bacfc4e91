package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// end returns how a task ended, which must have.
func (f fixture) end(id string) task.Shown {
	f.Helper()
	shown, err := f.client.Show(f.Context(), id)
	require.NoError(f, err)
	require.NotNil(f, shown.End, "%+v", shown)
	return shown
}

func (f fixture) call(procedure string) {
	f.Helper()
	_, err := f.repo.Call(f.Context(), space.OpID{}, procedure, nil)
	require.NoError(f, err)
}

func TestAnEndedTaskTellsItsStateResultDurationAndAttempts(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{MaxAttempts: 3, Tags: []string{"x"}}, func(n *task.New) { n.Data = json.RawMessage(`{"n":1}`) })
		require.NoError(f, f.client.Fail(f.Context(), f.claims(), task.Failure{Reason: "disk full", Output: "line", Delay: time.Second}))
		<-time.After(time.Second)
		f.forgive()
		i := f.claims()
		<-time.After(5 * time.Second)
		f.resolve(i, map[string]int{"n": 2})
		now := time.Now().UTC()
		<-time.After(time.Hour)

		shown := f.end(i.ID)
		require.Equal(f, task.End{State: task.Resolved, At: now, Worker: "admin", Result: `{"n":2}`}, *shown.End)
		require.Equal(f, task.Resolved, shown.StateNow())
		require.Equal(f, 5*time.Second, shown.End.At.Sub(shown.ClaimedAt))
		require.EqualValues(f, 1, shown.Attempts)
		require.Equal(f, "disk full", shown.History[0].Error)
		require.Equal(f, "line", shown.History[0].Output)
		require.Equal(f, `{"n":1}`, string(shown.Data))
		require.Equal(f, []string{"x"}, shown.Tags)
		results, err := f.repo.Space(task.Result).Count(f.Context(), task.AnyResult("a"))
		require.NoError(f, err)
		require.Zero(f, results, "a result tuple exists on request only")
	})
}

func TestEachWayToEndIsKept(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "one", Max: 1}))
		running := f.make(models.TaskOptions{Limits: []string{"one"}})
		f.claims()
		dropped := f.make(models.TaskOptions{Limits: []string{"one"}, OnLimit: models.Drop})
		cancelled := f.make(models.TaskOptions{})
		require.NoError(f, f.client.Cancel(f.Context(), cancelled.ID, "a mistake"))
		require.NoError(f, f.client.Cancel(f.Context(), running.ID, ""))
		dead := f.make(models.TaskOptions{MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		shown, err := f.client.Show(f.Context(), dead.ID)
		require.NoError(f, err)
		require.Nil(f, shown.End, "a dead letter has not gone")
		require.Equal(f, task.StateDead, shown.StateNow())
		require.Contains(f, shown.Reason, "cannot")
		require.NoError(f, f.client.Discard(f.Context(), dead.ID))
		reselected := f.make(models.TaskOptions{MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot either"))
		_, err = f.client.Requeue(f.Context(), reselected.ID, false)
		require.NoError(f, err)
		for id, want := range map[string][2]string{
			running.ID:    {"cancelled", "cancelled"},
			dropped.ID:    {"cancelled", "dropped, because the limit one was reached"},
			cancelled.ID:  {"cancelled", "cancelled: a mistake"},
			dead.ID:       {"dead", "discarded: given up after attempt 1: cannot"},
			reselected.ID: {"dead", "requeued: its work is selected again; it was dead: given up after attempt 1: cannot either"},
		} {
			end := f.end(id).End
			require.Equal(f, want, [2]string{string(end.State), end.Note}, id)
		}
		_, err = f.client.Show(f.Context(), "t999")
		require.ErrorIs(f, err, fault.ErrNotFound)
		require.ErrorContains(f, err, "it never was, or its end is no longer kept")
	})
}

func TestARequeuedTaskEndsAgain(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		_, err := f.client.Requeue(f.Context(), i.ID, true)
		require.NoError(f, err)
		f.is(i.ID, task.Waiting, task.WhyNoWorker)
		f.resolve(f.claims(), 1)
		require.Equal(f, task.Resolved, f.end(i.ID).StateNow())
	})
}

func TestLargeDataAndResultsOfEndedTasks(t *testing.T) {
	withFixture(t, func(f fixture) {
		large := json.RawMessage(`"` + strings.Repeat("x", 400<<10) + `"`)
		i := f.make(models.TaskOptions{}, func(n *task.New) { n.Data = large })
		result := strings.Repeat("y", 960<<10-2)
		f.resolve(f.claims(), result)
		shown := f.end(i.ID)
		require.Empty(f, shown.Data, "large data is not written twice")
		require.Equal(f, `"`+result+`"`, shown.End.Result, "a result is kept whole")
		all, _, err := f.client.List(f.Context(), task.Filter{State: task.Resolved}, nil, 10)
		require.NoError(f, err)
		require.Len(f, all, 1)
		require.Empty(f, all[0].End.Result)

		i = f.make(models.TaskOptions{}, func(n *task.New) { n.Subject = strings.Repeat("s", 63<<10) })
		f.resolve(f.claims(), result)
		require.Equal(f, `"`+result+`"`, f.end(i.ID).End.Result, "and with a large subject too")
		require.Empty(f, f.end(i.ID).Subject)
	})
}

func TestTheResultOfATaskUnderALeaseIsOnlyInItsTuple(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.call("lease-one")
		i := f.claims()
		f.resolve(i, "found")
		end := f.end(i.ID).End
		require.Equal(f, task.Resolved, end.State)
		require.Empty(f, end.Result)
	})
}

func TestATaskMayComeAfterOneThatHasEnded(t *testing.T) {
	withFixture(t, func(f fixture) {
		resolved := f.make(models.TaskOptions{})
		f.resolve(f.claims(), "r")
		cancelled := f.make(models.TaskOptions{})
		require.NoError(f, f.client.Cancel(f.Context(), cancelled.ID, ""))
		child := f.make(models.TaskOptions{After: []string{resolved.ID}})
		orphan := f.make(models.TaskOptions{After: []string{cancelled.ID}})
		l, err := f.client.DeadLetter(f.Context(), orphan.ID)
		require.NoError(f, err)
		require.Equal(f, "its parent "+cancelled.ID+" is cancelled", l.Reason)
		all, err := f.client.ClaimUpTo(f.Context(), 2, "a")
		require.NoError(f, err)
		require.Len(f, all, 1)
		require.Equal(f, child.ID, all[0].ID)
		require.Equal(f, []task.ParentResult{{ID: resolved.ID, State: task.Resolved, Result: `"r"`}}, all[0].Parents)
		made, err := f.client.Resolve(f.Context(), all[0].Item, nil, task.New{Task: models.Task{Action: "a", TaskOptions: models.TaskOptions{After: []string{resolved.ID}}}})
		require.NoError(f, err)
		require.Len(f, made, 1)
	})
}

func TestListsOfEndedTasksAreFilteredAndPaged(t *testing.T) {
	withFixture(t, func(f fixture) {
		var want []string
		for n := range 30 {
			i := f.make(models.TaskOptions{Tags: []string{fmt.Sprint("x", n%3)}, Group: fmt.Sprint("g", n%2)})
			if n%5 == 4 {
				require.NoError(f, f.client.Cancel(f.Context(), i.ID, fmt.Sprint("Reason ", n)))
			} else {
				f.resolve(f.claims(), n)
			}
			want = append([]string{i.ID}, want...)
			<-time.After(time.Minute)
		}
		f.make(models.TaskOptions{})
		for name, c := range map[string]struct {
			filter task.Filter
			want   int
		}{
			"resolved":        {task.Filter{State: task.Resolved}, 24},
			"cancelled":       {task.Filter{State: task.Cancelled}, 6},
			"all":             {task.Filter{State: task.AnyEnd}, 30},
			"of the action":   {task.Filter{State: task.AnyEnd, Action: "a"}, 30},
			"of another one":  {task.Filter{State: task.AnyEnd, Action: "b"}, 0},
			"of a tag":        {task.Filter{State: task.AnyEnd, Tag: "x1"}, 10},
			"of a group":      {task.Filter{State: task.AnyEnd, Group: "g1"}, 15},
			"with a text":     {task.Filter{State: task.AnyEnd, Text: "reason 14"}, 1},
			"older than 10 m": {task.Filter{State: task.AnyEnd, Older: 10*time.Minute + time.Second}, 20},
		} {
			var got []string
			var cursor task.Cursor
			for first := true; first || len(cursor) > 0; first = false {
				all, next, err := f.client.List(f.Context(), c.filter, cursor, 7)
				require.NoError(f, err, name)
				require.LessOrEqual(f, len(all), 7, name)
				for _, l := range all {
					require.NotNil(f, l.End, name)
					got = append(got, l.ID)
				}
				cursor = next
			}
			require.Len(f, got, c.want, name)
			if name == "all" {
				require.Equal(f, want, got, "the latest first")
			}
		}
	})
}

func TestWaitReturnsTheEndOfATaskBeforeAndAfterIt(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{})
		got := make(chan task.Shown, 1)
		go func() {
			shown, err := f.client.Wait(f.Context(), i.ID)
			require.NoError(f, err)
			got <- shown
		}()
		<-time.After(3 * time.Hour) // longer than a watch lasts
		f.resolve(f.claims(), 7)
		require.Equal(f, "7", (<-got).End.Result)
		before, err := f.client.Wait(f.Context(), i.ID)
		require.NoError(f, err)
		require.Equal(f, "7", before.End.Result)

		dead := f.make(models.TaskOptions{MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		shown, err := f.client.Wait(f.Context(), dead.ID)
		require.NoError(f, err)
		require.Equal(f, task.StateDead, shown.StateNow())
		_, err = f.client.Wait(f.Context(), "t999")
		require.ErrorIs(f, err, fault.ErrNotFound)

		late, cancel := context.WithTimeout(f.Context(), time.Minute)
		defer cancel()
		_, err = f.client.Wait(late, f.make(models.TaskOptions{}).ID)
		require.ErrorIs(f, err, context.DeadlineExceeded)
	})
}

func TestChildrenOfATaskThatIsWithdrawnDoNotWaitForever(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.call("lease-one")
		parent := f.claims()
		require.NoError(f, f.client.HandBack(f.Context(), parent))
		child := f.make(models.TaskOptions{After: []string{parent.ID}})
		_, err := f.repo.Call(f.Context(), space.OpID{}, "withdraw", tuple.New(parent.ID))
		require.NoError(f, err)
		synctest.Wait()
		require.Equal(f, "withdrawn", f.end(parent.ID).End.Note)
		l, err := f.client.DeadLetter(f.Context(), child.ID)
		require.NoError(f, err)
		require.Equal(f, "its parent "+parent.ID+" is cancelled: withdrawn", l.Reason)
	})
}

func TestADeadChildOfAParentThatIsGoneCannotBeRequeuedAndTellsWhatToDo(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{MaxAttempts: 1})
		child := f.make(models.TaskOptions{After: []string{parent.ID}})
		require.NoError(f, f.client.Fail(f.Context(), f.claims(), task.Failure{Reason: "cannot"}))
		_, err := f.client.Requeue(f.Context(), child.ID, true)
		require.ErrorIs(f, err, fault.ErrConflict)
		require.ErrorContains(f, err, "its parent "+parent.ID+" is dead; requeue that first")
		require.NoError(f, f.client.Discard(f.Context(), parent.ID))

		other := f.make(models.TaskOptions{})
		childOfOther := f.make(models.TaskOptions{After: []string{other.ID}})
		require.NoError(f, f.client.Cancel(f.Context(), other.ID, ""))
		for id, reason := range map[string]string{child.ID: parent.ID + " is dead", childOfOther.ID: other.ID + " is cancelled"} {
			_, err := f.client.Requeue(f.Context(), id, true)
			require.ErrorIs(f, err, fault.ErrConflict)
			require.ErrorContains(f, err, "its parent "+reason+"; that cannot come back, so create this task again")
			require.NoError(f, f.client.Discard(f.Context(), id))
		}
	})
}

// countedCalls is a repository that counts the calls of each procedure.
type countedCalls struct {
	space.Repository
	calls map[string]int
}

func (r countedCalls) Call(ctx context.Context, op space.OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	r.calls[procedure]++
	return r.Repository.Call(ctx, op, procedure, args)
}

func TestTheHistoryIsAskedForEachUnknownParentOnce(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{})
		f.resolve(f.claims(), "one")
		counted := countedCalls{f.repo, map[string]int{}}
		f.client.Repo = counted
		n := func(ref string, after ...string) task.New {
			return task.New{Ref: ref, Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: after}}}
		}
		bad := n("", parent.ID)
		bad.Tags = []string{""}
		for name, news := range map[string][]task.New{"a bad tag": {n("x", parent.ID), bad}, "a cycle": {n("x", "y", parent.ID), n("y", "x")}} {
			_, err := f.client.CreateAll(f.Context(), news...)
			require.ErrorIs(f, err, map[string]error{"a bad tag": fault.ErrInvalid, "a cycle": fault.ErrConflict}[name])
			require.Zero(f, counted.calls["task.ended"], name)
		}
		_, err := f.client.CreateAll(f.Context(), n("x", parent.ID), n("y", parent.ID, "x"))
		require.NoError(f, err)
		require.Equal(f, map[string]int{"task.create": 4, "task.ended": 1}, counted.calls)
		got, err := f.client.ClaimUpTo(f.Context(), 2, "a")
		require.NoError(f, err)
		require.Equal(f, []task.ParentResult{{ID: parent.ID, State: task.Resolved, Result: `"one"`}}, got[0].Parents)
	})
}

// unreadable is a session that cannot read the end of one task.
type unreadable struct {
	countedCalls
	id string
}

func (u unreadable) Call(ctx context.Context, op space.OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	if procedure == "task.ended" && args.Str(0) == u.id {
		return nil, fault.ErrUnavailable
	}
	return u.countedCalls.Call(ctx, op, procedure, args)
}

// Whether the unknown parent has ended is not known then, so the refusal stands.
func TestATaskWhoseParentsCannotBeLookedUpIsRefusedWithTheFirstError(t *testing.T) {
	withFixture(t, func(f fixture) {
		one, two := f.make(models.TaskOptions{}), f.make(models.TaskOptions{})
		f.resolve(f.claims(), 1)
		f.resolve(f.claims(), 2)
		counted := countedCalls{f.repo, map[string]int{}}
		f.client.Repo = unreadable{counted, two.ID}
		_, err := f.client.Create(f.Context(), models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{one.ID, two.ID}}}, 0)
		require.ErrorIs(f, err, fault.ErrNotFound)
		require.NotErrorIs(f, err, fault.ErrUnavailable)
		require.Equal(f, 1, counted.calls["task.create"])
		require.Empty(f, f.waiting())
	})
}
