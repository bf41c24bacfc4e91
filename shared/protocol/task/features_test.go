package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime/debug"
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

// make creates a task of action a with options, and returns it.
func (f fixture) make(o models.TaskOptions, with ...func(*task.New)) task.Item {
	f.Helper()
	n := task.New{Task: models.Task{Action: "a", Timeout: 60, TaskOptions: o}}
	for _, change := range with {
		change(&n)
	}
	all, err := f.client.CreateAll(f.Context(), n)
	require.NoError(f, err)
	return all[0]
}

// claims claims a task of action a; its id is empty if there is none now.
func (f fixture) claims() task.Item {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), time.Nanosecond)
	defer cancel()
	i, err := f.client.Claim(ctx, "a")
	if err != nil {
		require.ErrorIs(f, err, context.DeadlineExceeded)
	}
	return i
}

// is requires the state of a task and the code of why it is not running.
func (f fixture) is(id string, state task.State, why string) {
	f.Helper()
	shown, err := f.client.Show(f.Context(), id)
	require.NoError(f, err)
	require.Equal(f, state, shown.StateNow(), shown.Why.Text)
	require.Equal(f, why, shown.Why.Code, shown.Why.Text)
}

func (f fixture) ended(id string) {
	f.Helper()
	shown, err := f.client.Show(f.Context(), id)
	require.NoError(f, err)
	require.True(f, shown.HasEnded())
}

func (f fixture) resolve(i task.Item, result any) {
	f.Helper()
	require.NotEmpty(f, i.ID)
	require.NoError(f, f.client.Report(f.Context(), i, "", true, result))
}

func TestADelayedTaskIsHiddenUntilItsTime(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Hour)})
		f.is(i.ID, task.StateDelayed, task.WhyNotDue)
		require.Empty(f, f.waiting(), "the space shows what can be claimed only")
		require.Empty(f, f.claims().ID)
		<-time.After(time.Hour - time.Second)
		require.Empty(f, f.claims().ID)
		<-time.After(time.Second)
		f.is(i.ID, task.Waiting, task.WhyNoWorker)
		require.Equal(f, i.ID, f.claims().ID)
		f.is(i.ID, task.Claimed, "")
	})
}

func TestATaskThatIsNotClaimedInTimeIsDead(t *testing.T) {
	for name, o := range map[string]models.TaskOptions{
		"it waits":                  {},
		"it is delayed":             {NotBefore: time.Date(2000, 1, 1, 0, 59, 59, 0, time.UTC)},
		"it waits for a limit":      {Limits: []string{"none"}},
		"it is delayed a moment":    {NotBefore: time.Date(2000, 1, 1, 0, 30, 0, 0, time.UTC)},
		"it is paused":              {Tags: []string{"pause"}},
		"it is blocked by a parent": {After: []string{"t1"}},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(f fixture) {
				parent := f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "other" })
				require.Equal(f, "t1", parent.ID)
				if len(o.Tags) > 0 {
					require.NoError(f, f.client.Pause(f.Context(), "a"))
				}
				o.ExpiresAt = time.Now().Add(time.Hour)
				i := f.make(o)
				<-time.After(time.Hour - time.Second)
				shown, err := f.client.Show(f.Context(), i.ID)
				require.NoError(f, err)
				require.False(f, shown.HasEnded())
				<-time.After(2 * time.Second)
				synctest.Wait()
				l, err := f.client.DeadLetter(f.Context(), i.ID)
				require.NoError(f, err)
				require.Contains(f, l.Reason, "it expired")
			})
		})
	}
}

func TestATaskWithoutANameMayComeBeforeThoseWithOne(t *testing.T) {
	withFixture(t, func(f fixture) {
		all, err := f.client.CreateAll(f.Context(),
			task.New{Task: models.Task{Action: "a", Timeout: 60}},
			task.New{Ref: "x", Task: models.Task{Action: "a", Timeout: 60}},
			task.New{Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{"x"}}}})
		require.NoError(f, err)
		require.Equal(f, []string{all[1].ID}, all[2].After)
	})
}

func TestAtMostOneTaskOfAUniqueKeyIsAlive(t *testing.T) {
	withFixture(t, func(f fixture) {
		o := models.TaskOptions{UniqueKey: "nightly"}
		replace := func(data string) func(*task.New) {
			return func(n *task.New) { n.OnConflict, n.Data = task.Replace, json.RawMessage(data) }
		}
		i := f.make(o)
		require.False(f, i.Existing)
		kept := f.make(o)
		require.Equal(f, i.ID, kept.ID, "the first one is kept")
		require.True(f, kept.Existing)
		changed := f.make(o, replace("1"))
		require.Equal(f, i.ID, changed.ID)
		require.True(f, changed.Existing)
		got := f.claims()
		require.False(f, got.Existing, "only the answer to a creation tells it")
		require.Equal(f, "1", string(got.Data), "data of one that waits are replaced")
		require.Equal(f, i.ID, f.make(o).ID)
		next := f.make(o, replace("2"))
		require.NotEqual(f, i.ID, next.ID)
		require.False(f, next.Existing)
		f.is(next.ID, task.StateBlocked, task.WhyUniqueKey)
		require.Equal(f, next.ID, f.make(o, replace("3")).ID, "there is one successor")
		_, err := f.client.CreateAll(f.Context(), task.New{Task: models.Task{Action: "other", Timeout: 60, TaskOptions: o}, OnConflict: task.Replace})
		require.EqualError(f, err, "call task.create: task "+next.ID+` has the unique key "nightly", and is of action a: its data cannot be replaced by those of a task of action other: conflict`)
		require.Empty(f, f.claims().ID)
		f.resolve(got, nil)
		last := f.claims()
		require.Equal(f, next.ID, last.ID)
		require.Equal(f, "3", string(last.Data))
		f.resolve(last, nil)
		require.NotEqual(f, i.ID, f.make(o).ID, "the key is free")
	})
}

func TestARequeueAgainstATakenKeyIsAConflict(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{UniqueKey: "k", MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		other := f.make(models.TaskOptions{UniqueKey: "k"})
		_, err := f.client.Requeue(f.Context(), i.ID, true)
		require.ErrorIs(f, err, fault.ErrConflict)
		require.NoError(f, f.client.Cancel(f.Context(), other.ID, ""))
		_, err = f.client.Requeue(f.Context(), i.ID, true)
		require.NoError(f, err)
	})
}

func TestATaskRunsAfterItsParentsAndGetsTheirResults(t *testing.T) {
	withFixture(t, func(f fixture) {
		made, err := f.client.CreateAll(f.Context(),
			task.New{Ref: "c", Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{"x", "y"}}}},
			task.New{Ref: "x", Task: models.Task{Action: "a", Timeout: 60}},
			task.New{Ref: "y", Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{"x"}}}})
		require.NoError(f, err)
		c, x, y := made[0], made[1], made[2]
		f.is(c.ID, task.StateBlocked, task.WhyParent)
		got := f.claims()
		require.Equal(f, x.ID, got.ID)
		require.Empty(f, f.claims().ID)
		f.resolve(got, "one")
		got = f.claims()
		require.Equal(f, y.ID, got.ID)
		f.resolve(got, map[string]int{"n": 2})
		all, err := f.client.ClaimUpTo(f.Context(), 2, "a")
		require.NoError(f, err)
		require.Len(f, all, 1)
		require.Equal(f, []task.ParentResult{{ID: x.ID, State: task.Resolved, Result: `"one"`}, {ID: y.ID, State: task.Resolved, Result: `{"n":2}`}}, all[0].Parents)
		require.Equal(f, 2, f.countData("parent"))
		f.resolve(all[0].Item, nil)
		require.Zero(f, f.countData("parent"), "nobody needs the parents any more")
	})
}

// The end of a parent may be missing, for example because an operator took its tuple.
func TestATaskGetsTheResultsOfTheParentsThatAreKept(t *testing.T) {
	withFixture(t, func(f fixture) {
		lost, kept := f.make(models.TaskOptions{}), f.make(models.TaskOptions{})
		child := f.make(models.TaskOptions{After: []string{lost.ID, kept.ID}})
		f.resolve(f.claims(), "one")
		f.resolve(f.claims(), "two")
		_, ok, err := f.repo.Space(task.Data).GetP(f.Context(), tuple.Match("parent", lost.ID, tuple.AnyString, tuple.AnyString))
		require.NoError(f, err)
		require.True(f, ok)
		all, err := f.client.ClaimUpTo(f.Context(), 1, "a")
		require.NoError(f, err)
		require.Equal(f, child.ID, all[0].ID)
		require.Equal(f, []task.ParentResult{{ID: kept.ID, State: task.Resolved, Result: `"two"`}}, all[0].Parents)
	})
}

func (f fixture) countData(kind string) int {
	n, err := f.repo.Space(task.Data).Count(f.Context(), tuple.Match(kind, tuple.AnyString, tuple.AnyString, tuple.AnyString))
	require.NoError(f, err)
	return n
}

func TestChildrenOfATaskThatFailsAreDeadUntilItIsRequeued(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{MaxAttempts: 1})
		child := f.make(models.TaskOptions{After: []string{parent.ID}})
		grandchild := f.make(models.TaskOptions{After: []string{child.ID}})
		anyway := f.make(models.TaskOptions{After: []string{parent.ID}, OnFailure: models.RunAnyway})
		greatGrandchild := f.make(models.TaskOptions{After: []string{grandchild.ID}})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "no disk, because it is full"))
		first := parent.ID + " is dead: given up after attempt 1: no disk, because it is full"
		for id, reason := range map[string]string{
			child.ID: first, grandchild.ID: child.ID + " is dead, because " + first, greatGrandchild.ID: grandchild.ID + " is dead, because " + first,
		} {
			l, err := f.client.DeadLetter(f.Context(), id)
			require.NoError(f, err)
			require.Equal(f, "its parent "+reason, l.Reason)
		}
		got := f.claims()
		require.Equal(f, anyway.ID, got.ID)
		f.resolve(got, nil)

		_, err := f.client.Requeue(f.Context(), grandchild.ID, true)
		require.ErrorIs(f, err, fault.ErrConflict, "its parent is dead")
		again, err := f.client.Requeue(f.Context(), parent.ID, true)
		require.NoError(f, err)
		require.Equal(f, parent.ID, again.ID)
		f.is(child.ID, task.StateBlocked, task.WhyParent)
		f.is(grandchild.ID, task.StateBlocked, task.WhyParent)
		for _, want := range []string{parent.ID, child.ID, grandchild.ID, greatGrandchild.ID} {
			got := f.claims()
			require.Equal(f, want, got.ID)
			f.resolve(got, nil)
		}
		require.Zero(f, f.countData("parent"))
	})
}

// The depth of the stack must not depend on the length of a chain, because a stack overflow cannot
// be recovered: it ends the coordinator.
func TestAChainOfTenThousandTasksEndsWithItsFirst(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20))
	withFixture(t, func(f fixture) {
		const length = 10_000
		last := f.make(models.TaskOptions{}).ID
		for n := 1; n < length; n += 999 {
			news := make([]task.New, min(999, length-n))
			for k := range news {
				parent := last
				if k > 0 {
					parent = fmt.Sprint("r", k-1)
				}
				news[k] = task.New{Ref: fmt.Sprint("r", k), Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{parent}}}}
			}
			made, err := f.client.CreateAll(f.Context(), news...)
			require.NoError(f, err)
			last = made[len(made)-1].ID
		}
		first := f.claims()
		require.NoError(f, f.client.Fail(f.Context(), first, task.Failure{Reason: "never", GiveUp: true}))
		dead, err := f.repo.Space(task.Dead).Count(f.Context(), task.AnyDead())
		require.NoError(f, err)
		require.Equal(f, length, dead)
		_, err = f.client.Requeue(f.Context(), first.ID, true)
		require.NoError(f, err)
		f.is(last, task.StateBlocked, task.WhyParent)
	})
}

func TestTheChildrenOfATaskAreBounded(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{MaxAttempts: 1})
		_, err := f.repo.Call(f.Context(), space.OpID{}, "add-children", tuple.New(parent.ID))
		require.NoError(f, err)
		last := f.make(models.TaskOptions{After: []string{parent.ID}})
		_, err = f.client.Create(f.Context(), models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{parent.ID}}}, 0)
		require.ErrorIs(f, err, fault.ErrInvalid)
		require.ErrorContains(f, err, fmt.Sprintf("after %q: invalid: it has 100000 children, and that is the maximum", parent.ID))
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		_, err = f.client.Requeue(f.Context(), parent.ID, true)
		require.NoError(f, err)
		f.is(last.ID, task.StateBlocked, task.WhyParent) // a requeued child does not count again
	})
}

func TestMalformedDependenciesAreRefusedAsAWhole(t *testing.T) {
	withFixture(t, func(f fixture) {
		n := func(ref string, after ...string) task.New {
			return task.New{Ref: ref, Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: after}}}
		}
		for name, c := range map[string]struct {
			news []task.New
			want error
		}{
			"unknown":   {[]task.New{n(""), n("", "t999")}, fault.ErrNotFound},
			"cycle":     {[]task.New{n("x", "z"), n("y", "x"), n("z", "y")}, fault.ErrConflict},
			"itself":    {[]task.New{n("x", "x")}, fault.ErrConflict},
			"twice":     {[]task.New{n("x"), n("x")}, fault.ErrConflict},
			"same name": {[]task.New{n("", "x", "x"), n("x")}, fault.ErrInvalid},
		} {
			_, err := f.client.CreateAll(f.Context(), c.news...)
			require.ErrorIs(f, err, c.want, name)
			require.Empty(f, f.waiting(), name)
		}
	})
}

func TestAReleasedTaskWaitsForItsDelayAndKeepsItsOutput(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{MaxAttempts: 2})
		require.NoError(f, f.client.Fail(f.Context(), f.claims(), task.Failure{Reason: "busy", Delay: time.Hour, Output: "line 1\nline 2"}))
		f.is(i.ID, task.Waiting, task.WhyBackOff)
		<-time.After(time.Hour - time.Second)
		require.Empty(f, f.claims().ID)
		<-time.After(time.Second)
		f.forgive()
		held := f.claims()
		require.ErrorIs(f, f.client.HandBackFor(f.Context(), held, 20*365*24*time.Hour), fault.ErrInvalid)
		require.NoError(f, f.client.HandBackFor(f.Context(), held, time.Minute))
		require.Empty(f, f.claims().ID)
		<-time.After(time.Minute)
		again := f.claims()
		require.EqualValues(f, 1, again.Attempts, "handing back counts nothing")
		require.Equal(f, "line 1\nline 2", again.History[0].Output)
		require.NoError(f, f.client.Release(f.Context(), again, "still"))
		l, err := f.client.DeadLetter(f.Context(), i.ID)
		require.NoError(f, err)
		require.Len(f, l.History, 2)
		require.NotZero(f, l.History[1].ClaimedAt)
		require.NoError(f, f.client.Discard(f.Context(), i.ID))
		_, err = f.client.DeadLetter(f.Context(), i.ID)
		require.ErrorIs(f, err, fault.ErrNotFound)
	})
}

func TestProgressMovesTheTimeout(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{})
		i := f.claims()
		for n := range 5 {
			<-time.After(50 * time.Second)
			require.NoError(f, f.client.Note(f.Context(), i, models.Progress{Fraction: float64(n) / 5, Text: "step"}))
		}
		shown, err := f.client.Show(f.Context(), i.ID)
		require.NoError(f, err)
		require.Equal(f, &models.Progress{Fraction: 0.8, Text: "step"}, shown.Progress)
		require.ErrorIs(f, f.client.Note(f.Context(), i, models.Progress{Fraction: 2}), fault.ErrInvalid)
		<-time.After(time.Minute)
		require.ErrorIs(f, f.client.Note(f.Context(), i, models.Progress{}), fault.ErrStaleToken)
	})
}

func TestACancelledTaskIsTakenFromItsWorker(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{})
		claimed := f.claims()
		ended := make(chan error, 1)
		go func() { ended <- f.client.AwaitEnd(f.Context(), i.ID) }()
		synctest.Wait()
		require.NoError(f, f.client.Cancel(f.Context(), i.ID, "no longer needed"))
		require.NoError(f, <-ended)
		require.ErrorIs(f, f.client.Report(f.Context(), claimed, "", true, 1), fault.ErrStaleToken)
		require.ErrorIs(f, f.client.Cancel(f.Context(), i.ID, ""), fault.ErrNotFound)
		message, err := f.repo.Receive(f.Context())
		require.NoError(f, err)
		_, reason, _ := task.ParseStop(message)
		require.Equal(f, "cancelled: no longer needed", reason)

		_, err = f.repo.Call(f.Context(), space.OpID{}, "lease-one", nil)
		require.NoError(f, err)
		require.ErrorIs(f, f.client.Cancel(f.Context(), f.claims().ID, ""), fault.ErrConflict, "its manager decides")
	})
}

func TestAWorkerCreatesTasksWithItsResult(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{})
		i := f.claims()
		bad := task.New{Task: models.Task{Action: "no id"}}
		_, err := f.client.Resolve(f.Context(), i, 1, bad)
		require.ErrorIs(f, err, fault.ErrInvalid)
		f.is(i.ID, task.Claimed, "")
		made, err := f.client.Resolve(f.Context(), i, 1, task.New{Task: models.Task{Action: "a", TaskOptions: models.TaskOptions{After: []string{i.ID}}}})
		require.NoError(f, err)
		require.Equal(f, made[0].ID, f.claims().ID)
		_, err = f.client.Resolve(f.Context(), i, 1, task.New{Task: models.Task{Action: "a"}})
		require.ErrorIs(f, err, fault.ErrStaleToken)
		require.Empty(f, f.claims().ID, "a stale attempt creates nothing")
	})
}

func TestARepeatedRequestHasOneEffect(t *testing.T) {
	withFixture(t, func(f fixture) {
		client := f.client
		client.Op = space.OpID{Session: f.repo.Session(), Seq: 1}
		one, err := client.Create(f.Context(), models.Task{Action: "a", Timeout: 60}, 0)
		require.NoError(f, err)
		again, err := client.Create(f.Context(), models.Task{Action: "a", Timeout: 60}, 0)
		require.NoError(f, err)
		require.Equal(f, one.ID, again.ID)
		require.Len(f, f.waiting(), 1)
	})
}

func TestAnExpiryCannotBeCalledByASession(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{})
		for _, procedure := range []string{"task.timeout", "task.return", "task.expire", "task.refill"} {
			for _, args := range []tuple.Tuple{nil, tuple.New(int64(1), "timeout", "admin")} {
				_, err := f.repo.Call(f.Context(), space.OpID{}, procedure, args)
				require.ErrorIs(f, err, fault.ErrInvalid, procedure)
			}
		}
		_, err := f.repo.Call(f.Context(), space.OpID{}, "task.get", tuple.New("x"))
		require.ErrorIs(f, err, fault.ErrInvalid)
		f.is(i.ID, task.Waiting, task.WhyNoWorker)
	})
}

func TestAReplacementEndsABackOffAndACancelledSuccessorLeavesTheFirstOne(t *testing.T) {
	withFixture(t, func(f fixture) {
		o := models.TaskOptions{UniqueKey: "k"}
		replace := func(n *task.New) { n.OnConflict = task.Replace }
		i := f.make(o)
		require.NoError(f, f.client.HandBackFor(f.Context(), f.claims(), time.Hour))
		f.is(i.ID, task.Waiting, task.WhyBackOff)
		require.Equal(f, i.ID, f.make(o, replace).ID)
		held := f.claims()
		require.Equal(f, i.ID, held.ID)
		require.Empty(f, held.State)
		next := f.make(o, replace)
		require.NoError(f, f.client.Cancel(f.Context(), next.ID, ""))
		f.is(i.ID, task.Claimed, "")
		last := f.make(o, replace)
		f.is(last.ID, task.StateBlocked, task.WhyUniqueKey)
		f.resolve(held, nil)
		require.Equal(f, last.ID, f.claims().ID)
	})
}

func TestASweepRetiresMalformedTasksOfAnyActionAndFinishesWhatCallersLeft(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "strange action", "x", "", int64(0), int64(0), "{"), 0))
		for range 1200 {
			f.make(models.TaskOptions{})
		}
		_, err := f.repo.Call(f.Context(), space.OpID{}, "task.pause", tuple.New("a")) // and the caller dies
		require.NoError(f, err)
		require.Len(f, f.waiting(), 201)
		next := task.Cursor{}
		for first := true; first || len(next) > 0; first = false {
			next, err = f.client.Sweep(f.Context(), next)
			require.NoError(f, err)
		}
		require.Empty(f, f.waiting())
		_, err = f.client.DeadLetter(f.Context(), "x")
		require.NoError(f, err)
	})
}

// A program that corrects one field and tries again must not get another error for the same mistakes.
func TestOfSeveralInvalidFieldsTheSameOneIsNamedEachTime(t *testing.T) {
	withFixture(t, func(f fixture) {
		far := time.Now().AddDate(99, 0, 0)
		for range 20 {
			names := models.TaskOptions{Tags: []string{""}, Limits: []string{""}, After: []string{""}}
			_, err := f.client.Create(f.Context(), models.Task{Action: "a", Timeout: 60, TaskOptions: names}, 0)
			require.ErrorContains(f, err, "tags")
			times := models.TaskOptions{NotBefore: far, ExpiresAt: far}
			_, err = f.client.Create(f.Context(), models.Task{Action: "a", Timeout: 60, TaskOptions: times}, 0)
			require.ErrorContains(f, err, "not_before")
		}
	})
}

func TestTasksThatNoWorkerCouldDoAreRefused(t *testing.T) {
	withFixture(t, func(f fixture) {
		for name, change := range map[string]func(*task.New){
			"data that are not JSON":  func(n *task.New) { n.Data = json.RawMessage("{") },
			"data not in UTF-8":       func(n *task.New) { n.Data = json.RawMessage("\"\xff\"") },
			"no timeout":              func(n *task.New) { n.Timeout = 0 },
			"a negative duration":     func(n *task.New) { n.Backoff = -1 },
			"expiry before its start": func(n *task.New) { n.NotBefore, n.ExpiresAt = time.Now().Add(time.Hour), time.Now().Add(time.Minute) },
			"an absurd time":          func(n *task.New) { n.NotBefore = time.Now().AddDate(99, 0, 0) },
			"a time past 64 bits":     func(n *task.New) { n.NotBefore = time.Unix(0, math.MaxInt64).AddDate(349, 0, 0) },
			"an expiry past 64 bits":  func(n *task.New) { n.ExpiresAt = time.Now().Add(time.Hour).AddDate(584, 6, 20) },
			"an expiry in 1970":       func(n *task.New) { n.ExpiresAt = time.Unix(0, 0) },
			"a group with a newline":  func(n *task.New) { n.Group = "a\nb" },
			"a group not in UTF-8":    func(n *task.New) { n.Group = "\xff" },
			"too many attempts":       func(n *task.New) { n.MaxAttempts = 1001 },
			"an empty tag":            func(n *task.New) { n.Tags = []string{""} },
			"a result for ever":       func(n *task.New) { n.ResultTuple = true },
			"an unknown conflict":     func(n *task.New) { n.OnConflict = "fight" },
			"an unknown failure":      func(n *task.New) { n.OnFailure = "cry" },
			"an unknown limit rule":   func(n *task.New) { n.OnLimit = "ignore" },
			"a conflict of no key":    func(n *task.New) { n.OnConflict = task.Replace },
			"a failure of no parent":  func(n *task.New) { n.OnFailure = models.RunAnyway },
			"a rule for no limit":     func(n *task.New) { n.OnLimit = models.Drop },
		} {
			n := task.New{Task: models.Task{Action: "a", Timeout: 60}}
			change(&n)
			_, err := f.client.CreateAll(f.Context(), n)
			want := fault.ErrInvalid
			if !n.NotBefore.IsZero() || !n.ExpiresAt.IsZero() {
				want = fault.ErrConflict // with each other, or with the clock
			}
			require.ErrorIs(f, err, want, name)
		}
		_, err := f.client.Create(f.Context(), models.Task{Action: "a", Timeout: 60, Data: json.RawMessage(`"` + string(make([]byte, 2<<20)) + `"`)}, 0)
		require.ErrorIs(f, err, fault.ErrTooLarge)
		require.ErrorContains(f, err, "524288", "the limit is named")
		require.Empty(f, f.waiting())
	})
}
