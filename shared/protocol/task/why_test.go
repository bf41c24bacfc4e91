package task_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// Each reason why a task is not running has a code and a text.
func TestExplainHasACodeForEachReason(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC)
	worker := []task.Server{{Name: "lab/w1", Slots: 2}}
	busy := []task.Server{{Name: "lab/w1", Slots: 2, Running: 2}}
	for name, c := range map[string]struct {
		item  task.Item
		facts task.Facts
		want  task.Why
	}{
		"claimed": {item: task.Item{Task: models.Task{CurrentClaimant: "lab/w1"}}},
		"waits for tasks": {task.Item{Hidden: task.Blocked, Pending: []string{"t1", "t2"}}, task.Facts{},
			task.Why{Code: task.WhyParent, Text: "waits for task t1 and 1 more"}},
		"unique key": {task.Item{Hidden: task.Blocked, HiddenBy: "t3", Task: models.Task{TaskOptions: models.TaskOptions{UniqueKey: "k"}}}, task.Facts{},
			task.Why{Code: task.WhyUniqueKey, Text: `task t3 is running with the same unique key "k"`}},
		"not due": {task.Item{Hidden: task.Delayed, Task: models.Task{TaskOptions: models.TaskOptions{NotBefore: at}}}, task.Facts{},
			task.Why{Code: task.WhyNotDue, Text: "not due until 2026-11-22T15:00:00Z"}},
		"back-off": {task.Item{Hidden: task.BackOff, RetryAt: at, Task: models.Task{Attempts: 2, History: []models.Attempt{{Error: "old"}, {Error: "disk full"}}}}, task.Facts{},
			task.Why{Code: task.WhyBackOff, Text: "in back-off until 2026-11-22T15:00:00Z, because attempt 2 failed: disk full"}},
		"back-off without an attempt": {task.Item{Hidden: task.BackOff, RetryAt: at}, task.Facts{},
			task.Why{Code: task.WhyBackOff, Text: "in back-off until 2026-11-22T15:00:00Z"}},
		"paused": {task.Item{Hidden: task.Paused, Task: models.Task{Action: "a"}}, task.Facts{Paused: "2026-11-22T15:00:00Z"},
			task.Why{Code: task.WhyPaused, Text: "action a is paused since 2026-11-22T15:00:00Z"}},
		"paused a moment ago": {task.Item{Task: models.Task{Action: "a"}}, task.Facts{Paused: "2026-11-22T15:00:00Z", Servers: worker},
			task.Why{Code: task.WhyPaused, Text: "action a is paused since 2026-11-22T15:00:00Z"}},
		"limit": {task.Item{Hidden: task.Limited, HiddenBy: "api"}, task.Facts{Holders: []string{"t7", "t8"}},
			task.Why{Code: task.WhyLimit, Text: "limit api is reached by t7, t8"}},
		"limit and rate": {task.Item{Hidden: task.Limited, HiddenBy: "api"}, task.Facts{Holders: []string{"t7"}, Rate: true},
			task.Why{Code: task.WhyLimit, Text: "limit api is reached by t7"}},
		"limit with a free slot": {task.Item{Hidden: task.Limited, HiddenBy: "api"}, task.Facts{},
			task.Why{Code: task.WhyLimit, Text: "the free slots of limit api are offered to other tasks"}},
		"rate": {task.Item{Hidden: task.Limited, HiddenBy: "api"}, task.Facts{Rate: true},
			task.Why{Code: task.WhyLimit, Text: "the rate of limit api is reached"}},
		"no worker": {task.Item{Task: models.Task{Action: "a"}}, task.Facts{},
			task.Why{Code: task.WhyNoWorker, Text: "no live worker serves the action a"}},
		"all gave it back": {task.Item{Task: models.Task{Claimants: []string{"lab/w1"}}}, task.Facts{Servers: worker},
			task.Why{Code: task.WhyAllGave, Text: "the only live worker, lab/w1, gave it back"}},
		"both gave it back": {task.Item{Task: models.Task{Claimants: []string{"lab/w2", "lab/w1"}}}, task.Facts{Servers: append(worker, task.Server{Name: "lab/w2", Slots: 1})},
			task.Why{Code: task.WhyAllGave, Text: "each of the 2 live workers gave it back"}},
		"only beside others": {task.Item{Task: models.Task{Lost: 2}}, task.Facts{Servers: []task.Server{{Name: "lab/w1", Slots: 2, Running: 1}}},
			task.Why{Code: task.WhyAlone, Text: "its worker was lost 2 times, so it waits for a worker that does nothing else"}},
		"a worker is reserved": {task.Item{Task: models.Task{Lost: 3}}, task.Facts{Servers: busy, For: "lab/w1"},
			task.Why{Code: task.WhyAlone, Text: "its worker was lost 3 times, so it waits for a worker that does nothing else; lab/w1 is reserved for it and finishes its other tasks"}},
		"a worker is idle": {task.Item{Task: models.Task{Lost: 2}}, task.Facts{Servers: worker, Ahead: 1},
			task.Why{Code: task.WhyBehind, Text: "behind 1 task of its action"}},
		"no free slot": {task.Item{}, task.Facts{Servers: busy, Ahead: 3},
			task.Why{Code: task.WhyBusy, Text: "all slots (2) of the live worker lab/w1 are in use"}},
		"no free slot of two": {task.Item{}, task.Facts{Servers: append(busy, task.Server{Name: "lab/w2", Slots: 1, Running: 1})},
			task.Why{Code: task.WhyBusy, Text: "all slots (3) of the 2 live workers are in use"}},
		"the free worker gave it back": {task.Item{Task: models.Task{Claimants: []string{"lab/w2"}}}, task.Facts{Servers: append(busy, task.Server{Name: "lab/w2", Slots: 1})},
			task.Why{Code: task.WhyBusy, Text: "all slots (2) of the live worker lab/w1 are in use"}},
		"behind one": {task.Item{}, task.Facts{Servers: worker, Ahead: 1},
			task.Why{Code: task.WhyBehind, Text: "behind 1 task of its action"}},
		"behind some": {task.Item{}, task.Facts{Servers: worker, Ahead: 3},
			task.Why{Code: task.WhyBehind, Text: "behind 3 tasks of its action"}},
		"behind many": {task.Item{}, task.Facts{Servers: worker, Ahead: 1000},
			task.Why{Code: task.WhyBehind, Text: "behind at least 1000 tasks of its action"}},
		"behind others, in a list": {task.Item{}, task.Facts{Servers: worker, Ahead: -1},
			task.Why{Code: task.WhyBehind, Text: "behind others of its action"}},
		"next": {task.Item{}, task.Facts{Servers: worker},
			task.Why{Code: task.WhyNextInLine, Text: "it is the next one of its action"}},
	} {
		require.Equal(t, c.want, task.Explain(c.item, c.facts), name)
	}
}

// A list and the task alone name the same code, over the protocol itself.
func TestAListHasTheCodeOfEachTask(t *testing.T) {
	withFixture(t, func(f fixture) {
		in := func(action string) func(*task.New) { return func(n *task.New) { n.Action = action } }
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "one", Max: 1}))
		require.NoError(f, f.client.Pause(f.Context(), "paused"))
		running := f.make(models.TaskOptions{Limits: []string{"one"}, UniqueKey: "k"})
		f.claims()
		backOff := f.make(models.TaskOptions{Backoff: 60})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		limited := f.make(models.TaskOptions{Limits: []string{"one"}})
		first := f.make(models.TaskOptions{}, in("served"))
		second := f.make(models.TaskOptions{}, in("served"))
		want := map[string]string{
			running.ID: "", backOff.ID: task.WhyBackOff, limited.ID: task.WhyLimit,
			f.make(models.TaskOptions{After: []string{running.ID}}).ID:                                       task.WhyParent,
			f.make(models.TaskOptions{UniqueKey: "k"}, func(n *task.New) { n.OnConflict = task.Replace }).ID: task.WhyUniqueKey,
			f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Hour)}).ID:                              task.WhyNotDue,
			f.make(models.TaskOptions{}, in("paused")).ID:                                                    task.WhyPaused,
			f.make(models.TaskOptions{}, in("nobody")).ID:                                                    task.WhyNoWorker,
		}
		f.serve("served", 3)
		want[first.ID], want[second.ID] = task.WhyNextInLine, task.WhyBehind
		all, _, err := f.client.List(f.Context(), task.Filter{}, nil, 100)
		require.NoError(f, err)
		require.Len(f, all, len(want))
		for _, l := range all {
			require.Equal(f, want[l.ID], l.Why.Code, "%s: %s", l.ID, l.Why.Text)
			shown, err := f.client.Show(f.Context(), l.ID)
			require.NoError(f, err)
			require.Equal(f, want[l.ID], shown.Why.Code, "%s: %s", l.ID, shown.Why.Text)
			if l.ID == limited.ID {
				require.Contains(f, l.Why.Text, running.ID, "who holds it")
			}
		}
	})
}

// serve has the session of the fixture serve an action.
func (f fixture) serve(action string, slots int64) {
	f.Helper()
	require.NoError(f, f.repo.Space(status.Space).Put(f.Context(), tuple.New("serves", f.repo.Session(), action, slots), 0))
}

// Actions share the slots of a worker, so a task may wait for one of another action.
func TestNoSlotIsFreeIfTheWorkerHasTasksOfAnotherAction(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.serve("a", 1)
		f.serve("b", 1)
		f.make(models.TaskOptions{})
		f.claims()
		other := f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "b" })
		shown, err := f.client.Show(f.Context(), other.ID)
		require.NoError(f, err)
		require.Equal(f, task.WhyBusy, shown.Why.Code, shown.Why.Text)
	})
}
