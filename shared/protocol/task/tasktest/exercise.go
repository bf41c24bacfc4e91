// Package tasktest is the suite for every coordinator of tasks: the one that users run, and the one in memory for
// their tests (package leaseholdtest). It calls the verbs of task.Client as users do, over sessions.
//
// Each scenario runs in a bubble of testing/synctest with a coordinator of its own, so time-outs cost no time. The
// default policy is expected: three failed attempts are survived, a back-off of 30 s, and 6 s for a session.
package tasktest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// System is a coordinator that runs.
type System struct {
	Tasks   task.Client                                         // of a session that does not end
	Connect func(ctx context.Context) (space.Repository, error) // opens the session of a worker
	Close   func() error
}

// fixture is a system in one scenario, and the worker w with a session at it.
type fixture struct {
	testing.TB
	System
	w     task.Client
	heart *status.Heartbeat // of w
}

// scenarios are what every coordinator must do, by name.
var scenarios = map[string]func(f fixture){
	"the result of a task is shown and listed":        showsResults,
	"a child gets the results of its parents":         carriesParents,
	"a parent that only the history knows is found":   findsEndedParents,
	"a task that is given up is a dead letter":        buries,
	"a cancelled task stops its worker":               cancels,
	"a limit, a unique key and a pause bound claims":  bounds,
	"a task that times out or is lost is tried again": triesAgain,
	"one call ends tasks and claims the next":         continues,
	"a get from the space claims a task":              claimsByGet,
	"only procedures change the protocol's spaces":    guardsSpaces,
}

// Exercise runs the suite on systems that open starts.
func Exercise(t *testing.T, open func(t testing.TB) System) {
	t.Parallel()
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				defer func() { require.NoError(t, s.Close()) }()
				f := fixture{TB: t, System: s}
				repo, err := s.Connect(t.Context())
				require.NoError(t, err)
				f.w, f.heart = task.Client{Repo: repo}, status.NewHeartbeat(repo, time.Second, map[string]int{"a": 8})
				require.NoError(t, f.heart.Beat(t.Context()))
				scenario(f)
			})
		})
	}
}

// make creates a task of the action a.
func (f fixture) make(o models.TaskOptions) task.Item {
	f.Helper()
	i, err := f.Tasks.Create(f.Context(), models.Task{Action: "a", Data: []byte(`{"n":1}`), Timeout: 60, TaskOptions: o}, 0)
	require.NoError(f, err)
	return i
}

// claim claims the next task of the action a.
func (f fixture) claim() task.ClaimedTask {
	f.Helper()
	all, err := f.w.ClaimUpTo(f.Context(), 1, "a")
	require.NoError(f, err)
	return all[0]
}

// is requires the state of a task, and returns it.
func (f fixture) is(id string, want task.State) task.Shown {
	f.Helper()
	shown, err := f.Tasks.Show(f.Context(), id)
	require.NoError(f, err)
	require.Equal(f, want, shown.StateNow(), shown.Why.Text)
	return shown
}

func showsResults(f fixture) {
	i := f.make(models.TaskOptions{Tags: []string{"x"}})
	c := f.claim()
	require.NoError(f, f.w.Note(f.Context(), c.Item, models.Progress{Fraction: 0.5}))
	require.NoError(f, f.w.Extend(f.Context(), c.Item))
	ended := make(chan task.Shown)
	go func() {
		shown, err := f.Tasks.Wait(f.Context(), i.ID)
		require.NoError(f, err)
		ended <- shown
	}()
	synctest.Wait()
	require.NoError(f, f.w.Report(f.Context(), c.Item, "", true, map[string]int{"coins": 3}))
	require.JSONEq(f, `{"coins":3}`, (<-ended).End.Result)
	require.NoError(f, f.Tasks.AwaitEnd(f.Context(), i.ID))
	require.JSONEq(f, `{"coins":3}`, f.is(i.ID, task.Resolved).End.Result)
	all, _, err := f.Tasks.List(f.Context(), task.Filter{State: task.AnyEnd, Tag: "x"}, nil, 10)
	require.NoError(f, err)
	require.Len(f, all, 1)
	require.ErrorIs(f, f.w.Extend(f.Context(), c.Item), fault.ErrStaleToken)
}

func carriesParents(f fixture) {
	one, two := f.make(models.TaskOptions{}), f.make(models.TaskOptions{})
	f.make(models.TaskOptions{After: []string{one.ID, two.ID}})
	large := strings.Repeat("x", 900<<10)
	for _, result := range []string{large, "small"} {
		require.NoError(f, f.w.Report(f.Context(), f.claim().Item, "", true, result))
	}
	c := f.claim()
	require.Equal(f, []task.ParentResult{
		{ID: one.ID, State: task.Resolved, LeftOut: true}, {ID: two.ID, State: task.Resolved, Result: `"small"`},
	}, c.Parents)
	var results []string
	for p, err := range f.w.Parents(f.Context(), c.ID) {
		require.NoError(f, err)
		results = append(results, p.Result)
	}
	require.Equal(f, []string{`"` + large + `"`, `"small"`}, results)
}

func findsEndedParents(f fixture) {
	i := f.make(models.TaskOptions{})
	made, err := f.w.Resolve(f.Context(), f.claim().Item, "done", task.New{Task: models.Task{Action: "a"}})
	require.NoError(f, err)
	require.NoError(f, f.w.Report(f.Context(), f.claim().Item, "", true, nil))
	child := f.make(models.TaskOptions{After: []string{i.ID, made[0].ID}})
	c := f.claim()
	require.Equal(f, child.ID, c.ID)
	require.Equal(f, `"done"`, c.Parents[0].Result)
}

func buries(f fixture) {
	i := f.make(models.TaskOptions{})
	require.NoError(f, f.w.Fail(f.Context(), f.claim().Item, task.Failure{Reason: "not an image", GiveUp: true}))
	l, err := f.Tasks.DeadLetter(f.Context(), i.ID)
	require.NoError(f, err)
	require.Contains(f, l.Reason, "not an image")
	again, err := f.Tasks.Requeue(f.Context(), i.ID, true)
	require.NoError(f, err)
	require.Equal(f, i.ID, again.ID)
	require.NoError(f, f.w.Fail(f.Context(), f.claim().Item, task.Failure{Reason: "still not", GiveUp: true}))
	f.is(i.ID, task.StateDead)
	require.NoError(f, f.Tasks.Discard(f.Context(), i.ID))
	require.NotNil(f, f.is(i.ID, task.StateDead).End)
}

func cancels(f fixture) {
	i := f.make(models.TaskOptions{})
	f.claim()
	require.NoError(f, f.Tasks.Cancel(f.Context(), i.ID, "by hand"))
	message, err := f.w.Repo.Receive(f.Context())
	require.NoError(f, err)
	id, reason, isStop := task.ParseStop(message)
	require.Equal(f, []any{i.ID, "cancelled: by hand", true}, []any{id, reason, isStop})
	f.is(i.ID, task.Cancelled)
}

func bounds(f fixture) {
	require.NoError(f, f.Tasks.SetLimit(f.Context(), task.Limit{Name: "db", Max: 1}))
	o := models.TaskOptions{Limits: []string{"db"}, UniqueKey: "k"}
	i := f.make(o)
	require.True(f, f.make(o).Existing)
	c := f.claim()
	require.Equal(f, i.ID, c.ID)
	behind := f.make(models.TaskOptions{Limits: []string{"db"}})
	require.Equal(f, task.Cancelled, f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.Drop}).StateNow())
	states, err := f.Tasks.Limits(f.Context())
	require.NoError(f, err)
	require.Equal(f, []task.LimitState{{Limit: task.Limit{Name: "db", Max: 1}, Running: 1, Waiting: 1}}, states)
	require.NoError(f, f.Tasks.Pause(f.Context(), "a"))
	require.NoError(f, f.w.Report(f.Context(), c.Item, "", true, nil))
	f.is(behind.ID, task.StatePaused)
	paused, err := f.Tasks.PausedActions(f.Context())
	require.NoError(f, err)
	require.Len(f, paused, 1)
	require.NoError(f, f.Tasks.Resume(f.Context(), "a"))
	require.NoError(f, f.Tasks.RemoveLimit(f.Context(), "db"))
	counts, err := f.Tasks.Counts(f.Context(), "a")
	require.NoError(f, err)
	require.EqualValues(f, 1, counts[task.Waiting])
	require.Equal(f, behind.ID, f.claim().ID)
}

func triesAgain(f fixture) {
	i := f.make(models.TaskOptions{})
	first := f.claim()
	for range 31 { // the task's timeout is over after 60 s
		<-time.After(2 * time.Second)
		require.NoError(f, f.heart.Beat(f.Context()))
	}
	require.ErrorIs(f, f.w.Extend(f.Context(), first.Item), fault.ErrStaleToken)
	require.EqualValues(f, 1, f.is(i.ID, task.Waiting).Attempts)
	for range 15 { // the back-off
		<-time.After(2 * time.Second)
		require.NoError(f, f.heart.Beat(f.Context()))
	}
	require.Equal(f, i.ID, f.claim().ID)
	<-time.After(7 * time.Second) // the session is lost
	f.is(i.ID, task.Waiting)
	require.ErrorIs(f, f.heart.Beat(f.Context()), fault.ErrClosed)
}

func continues(f fixture) {
	one, two := f.make(models.TaskOptions{}), f.make(models.TaskOptions{})
	c := f.claim()
	require.Equal(f, one.ID, c.ID)
	ends, next, err := f.w.Next(f.Context(), []task.Outcome{task.ToResolve(c.Item, "", 1)}, 1, "a")
	require.NoError(f, err)
	require.Equal(f, []task.Ended{{}}, ends)
	require.Equal(f, two.ID, next[0].ID)
	require.NoError(f, f.w.HandBack(f.Context(), next[0].Item))
	require.Zero(f, f.is(two.ID, task.Waiting).Attempts)
	require.NoError(f, f.w.Repo.Close(f.Context()))
}

func claimsByGet(f fixture) {
	i := f.make(models.TaskOptions{})
	t, err := f.w.Repo.Space(task.Space).Get(f.Context(), task.AnyOf("a"))
	require.NoError(f, err)
	id, token := task.TokenOf(t)
	require.Equal(f, i.ID, id)
	f.is(i.ID, task.Claimed)
	i.Token = token
	require.NoError(f, f.w.Report(f.Context(), i, "", true, nil))
	f.is(i.ID, task.Resolved)
}

func guardsSpaces(f fixture) {
	for _, d := range task.Spaces() {
		if d.QueryOnly {
			require.ErrorIs(f, f.w.Repo.Space(d.Name).Put(f.Context(), tuple.New("forged"), 0), fault.ErrForbidden, d.Name)
		}
	}
}
