package task_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

func TestANewTaskRunsOrDiesByHowItsParentEnded(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := func() string { return f.make(models.TaskOptions{MaxAttempts: 1}).ID }
		fail := func() string {
			id := parent()
			require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
			return id
		}
		resolved, cancelled, dead, discarded, alive := parent(), "", "", "", ""
		f.resolve(f.claims(), nil)
		cancelled = parent()
		require.NoError(f, f.client.Cancel(f.Context(), cancelled, "by hand"))
		dead, discarded = fail(), fail()
		require.NoError(f, f.client.Discard(f.Context(), discarded))
		alive = f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "other" }).ID
		for _, c := range []struct {
			parents []string
			reason  string // of the dead letter; empty: it runs
			blocked bool
		}{
			{parents: []string{resolved}},
			{parents: []string{alive}, blocked: true},
			{parents: []string{resolved, alive}, blocked: true},
			{parents: []string{cancelled}, reason: "its parent " + cancelled + " is cancelled"},
			{parents: []string{dead}, reason: "its parent " + dead + " is dead"},
			{parents: []string{discarded}, reason: "its parent " + discarded + " is dead"},
			{parents: []string{alive, dead}, reason: "its parent " + dead + " is dead"},
			{parents: []string{dead, resolved}, reason: "its parent " + dead + " is dead"},
		} {
			child := f.make(models.TaskOptions{After: c.parents})
			anyway := f.make(models.TaskOptions{After: c.parents, OnFailure: models.RunAnyway})
			if c.blocked || c.reason != "" && c.parents[0] == alive {
				f.is(anyway.ID, task.StateBlocked, task.WhyParent)
			} else {
				f.is(anyway.ID, task.Waiting, task.WhyNoWorker)
			}
			switch {
			case c.reason != "":
				l, err := f.client.DeadLetter(f.Context(), child.ID)
				require.NoError(f, err)
				require.Equal(f, c.reason, l.Reason)
			case c.blocked:
				f.is(child.ID, task.StateBlocked, task.WhyParent)
			default:
				f.is(child.ID, task.Waiting, task.WhyNoWorker)
			}
		}
		_, err := f.client.CreateAll(f.Context(), task.New{Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{"t999"}, OnFailure: models.RunAnyway}}})
		require.ErrorIs(f, err, fault.ErrNotFound)
		require.ErrorContains(f, err, `after "t999"`)
	})
}

// A client names how parents ended, because only it can read the history. What the spaces know counts more.
func TestTheSpacesTrustTheirOwnEndOfAParentMoreThanThatOfAClient(t *testing.T) {
	withFixture(t, func(f fixture) {
		resolved, running := f.make(models.TaskOptions{}), f.make(models.TaskOptions{})
		f.make(models.TaskOptions{After: []string{resolved.ID}}, func(n *task.New) { n.Action = "b" }) // so that its end is kept
		f.resolve(f.claims(), "real")
		child := f.make(models.TaskOptions{After: []string{resolved.ID, running.ID}}, func(n *task.New) {
			for _, id := range []string{resolved.ID, running.ID, "t999"} {
				n.Ended = append(n.Ended, task.ParentResult{ID: id, State: task.Resolved, Result: `"false"`})
			}
		})
		f.is(child.ID, task.StateBlocked, task.WhyParent)
		f.resolve(f.claims(), "also real")
		all, err := f.client.ClaimUpTo(f.Context(), 1, "a")
		require.NoError(f, err)
		require.Equal(f, []task.ParentResult{{ID: resolved.ID, State: task.Resolved, Result: `"real"`}, {ID: running.ID, State: task.Resolved, Result: `"also real"`}}, all[0].Parents)
		require.Equal(f, 2, f.countData("parent"), "the end of a task that is not a parent is not kept")
	})
}

func TestTheEndOfAParentIsKeptAsLongAsATaskNamesIt(t *testing.T) {
	withFixture(t, func(f fixture) {
		one, two := f.make(models.TaskOptions{}), f.make(models.TaskOptions{})
		both := f.make(models.TaskOptions{After: []string{one.ID, two.ID}})
		last := f.make(models.TaskOptions{After: []string{one.ID}})
		f.resolve(f.claims(), 1)
		require.Equal(f, 1, f.countData("parent"))
		f.resolve(f.claims(), 2)
		require.Equal(f, last.ID, f.claims().ID)
		i := f.claims()
		require.Equal(f, both.ID, i.ID)
		require.Equal(f, 2, f.countData("parent"))
		f.resolve(i, nil)
		require.Equal(f, 1, f.countData("parent"), "the other one is still a parent")
		require.NoError(f, f.client.Cancel(f.Context(), last.ID, ""))
		require.Zero(f, f.countData("parent"))

		failed := f.make(models.TaskOptions{MaxAttempts: 1})
		orphan := f.make(models.TaskOptions{After: []string{failed.ID}})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		require.Equal(f, 1, f.countData("parent"), "a dead letter names it")
		require.NoError(f, f.client.Discard(f.Context(), orphan.ID))
		require.Zero(f, f.countData("parent"))
	})
}

func TestResultsOfParentsBeyondWhatAClaimCarriesAreMarkedAndCanBeRead(t *testing.T) {
	withFixture(t, func(f fixture) {
		const carried = 256 << 10
		large := func(n int) string { return strings.Repeat("x", n-2) } // JSON adds two bytes
		for name, c := range map[string]struct {
			second string
			want   []bool // whether the result is there
		}{"at the bound": {large(carried / 2), []bool{true, true, false}}, "beyond it": {large(carried/2 + 1), []bool{true, false, true}}} {
			var parents []string
			for range 3 {
				parents = append(parents, f.make(models.TaskOptions{}).ID)
			}
			child := f.make(models.TaskOptions{After: parents})
			results := []string{large(carried / 2), c.second, ""}
			for _, result := range results {
				f.resolve(f.claims(), result)
			}
			all, err := f.client.ClaimUpTo(f.Context(), 1, "a")
			require.NoError(f, err)
			require.Equal(f, child.ID, all[0].ID)
			var got []bool
			for _, p := range all[0].Parents {
				got = append(got, p.Result != "")
				require.Equal(f, p.Result == "", p.LeftOut)
			}
			require.Equal(f, c.want, got, name)
			f.parentsAre(child.ID, parents, results)
			f.resolve(all[0].Item, nil)
		}
	})
}

// parentsAre requires that Client.Parents yields resolved parents with their results.
func (f fixture) parentsAre(child string, ids []string, results []string) {
	f.Helper()
	n := 0
	for p, err := range f.client.Parents(f.Context(), child) {
		require.NoError(f, err)
		result, _ := json.Marshal(results[n])
		require.True(f, p.ID == ids[n] && p.State == task.Resolved && !p.LeftOut && p.Result == string(result), p.ID)
		n++
	}
	require.Equal(f, len(ids), n)
}

func TestResultsOfParentsThatNoAnswerCarriesTogetherAreReadInPages(t *testing.T) {
	withFixture(t, func(f fixture) {
		var ids, results []string
		for range 5 {
			ids = append(ids, f.make(models.TaskOptions{}).ID)
			results = append(results, strings.Repeat("x", 900<<10))
		}
		child := f.make(models.TaskOptions{After: ids, MaxAttempts: 1})
		for _, result := range results {
			f.resolve(f.claims(), result)
		}
		all, err := f.client.ClaimUpTo(f.Context(), 1, "a")
		require.NoError(f, err)
		require.Equal(f, task.ParentResult{ID: ids[4], State: task.Resolved, LeftOut: true}, all[0].Parents[4])
		f.parentsAre(child.ID, ids, results)
		for range f.client.Parents(f.Context(), child.ID) {
			break // the loop may end early
		}
		require.NoError(f, f.client.Release(f.Context(), all[0].Item, "cannot"))
		f.parentsAre(child.ID, ids, results) // of a dead letter
		_, _, err = f.client.ParentsFrom(f.Context(), child.ID, -1)
		require.NoError(f, err)
		for _, err := range f.client.Parents(f.Context(), "t999") {
			require.ErrorIs(f, err, fault.ErrNotFound)
		}
	})
}

// A child that runs anyway may be at work, or wait, when its parent ends a second time.
func TestTheSecondEndOfAParentLeavesAChildThatRunsAnywayAlone(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{MaxAttempts: 1})
		waits := f.make(models.TaskOptions{After: []string{parent.ID}, OnFailure: models.RunAnyway})
		running := f.make(models.TaskOptions{After: []string{parent.ID}, OnFailure: models.RunAnyway}, func(n *task.New) { n.Priority = 1 })
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		held := f.claims()
		require.Equal(f, running.ID, held.ID)
		later := f.make(models.TaskOptions{})
		_, err := f.client.Requeue(f.Context(), parent.ID, true)
		require.NoError(f, err)
		require.NoError(f, f.client.Cancel(f.Context(), parent.ID, ""))
		f.is(running.ID, task.Claimed, "")
		require.Equal(f, waits.ID, f.claims().ID, "it keeps its place")
		require.Equal(f, later.ID, f.claims().ID)
		f.resolve(held, nil)
	})
}

// The child placed first cancels the other one, which has the same parent.
func TestAChildMayEndTheNextChildOfItsParent(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		parent := f.make(models.TaskOptions{MaxAttempts: 1})
		running := f.make(models.TaskOptions{After: []string{parent.ID}, OnFailure: models.RunAnyway, Limits: []string{"db"}})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		require.Equal(f, running.ID, f.claims().ID)
		_, err := f.client.Requeue(f.Context(), parent.ID, true)
		require.NoError(f, err)
		urgent := f.make(models.TaskOptions{After: []string{parent.ID}, Limits: []string{"db"}, OnLimit: models.CancelRunning}, func(n *task.New) { n.Priority = 9 })
		last := f.make(models.TaskOptions{After: []string{parent.ID}}, func(n *task.New) { n.Priority = -9 })
		f.resolve(f.claims(), nil)
		f.ended(running.ID)
		require.Equal(f, urgent.ID, f.claims().ID)
		require.Equal(f, last.ID, f.claims().ID)
	})
}

func TestARequeueBringsBackOnlyTheChildrenThatDiedOfIt(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{MaxAttempts: 1})
		after := func(o models.TaskOptions) task.Item {
			o.After = []string{parent.ID}
			return f.make(o)
		}
		taken, own := after(models.TaskOptions{UniqueKey: "k"}), after(models.TaskOptions{OnFailure: models.RunAnyway, MaxAttempts: 1})
		other := f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "b" })
		two := f.make(models.TaskOptions{After: []string{parent.ID, other.ID}})
		child := after(models.TaskOptions{})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		i := f.claims()
		require.Equal(f, own.ID, i.ID)
		require.NoError(f, f.client.Release(f.Context(), i, "cannot either"))
		f.make(models.TaskOptions{UniqueKey: "k"}, func(n *task.New) { n.Action = "b" })
		require.NoError(f, f.client.Cancel(f.Context(), other.ID, ""))
		_, err := f.client.Requeue(f.Context(), parent.ID, true)
		require.NoError(f, err, "children that cannot come back do not matter")
		for _, id := range []string{taken.ID, own.ID, two.ID} {
			f.is(id, task.StateDead, "")
		}
		f.is(child.ID, task.StateBlocked, task.WhyParent)
	})
}

// An operator may have taken the end of a former parent.
func TestADeadChildWhoseParentIsNotKnownAnyMoreCannotBeRequeued(t *testing.T) {
	withFixture(t, func(f fixture) {
		parent := f.make(models.TaskOptions{})
		child := f.make(models.TaskOptions{After: []string{parent.ID}})
		require.NoError(f, f.client.Cancel(f.Context(), parent.ID, ""))
		_, ok, err := f.repo.Space(task.Data).GetP(f.Context(), tuple.Match("parent", parent.ID, tuple.AnyString, tuple.AnyString))
		require.NoError(f, err)
		require.True(f, ok)
		_, err = f.client.Requeue(f.Context(), child.ID, true)
		require.ErrorIs(f, err, fault.ErrNotFound)
		f.is(child.ID, task.StateDead, "")
	})
}

func TestADeadLetterIsRequeuedWithoutAnExpiryThatIsOver(t *testing.T) {
	withFixture(t, func(f fixture) {
		expires := time.Now().Add(time.Minute).UTC()
		i := f.make(models.TaskOptions{ExpiresAt: expires, MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		early, err := f.client.Requeue(f.Context(), i.ID, true)
		require.NoError(f, err)
		require.Equal(f, expires, early.ExpiresAt)
		<-time.After(time.Minute)
		f.is(i.ID, task.StateDead, "")
		late, err := f.client.Requeue(f.Context(), i.ID, true)
		require.NoError(f, err)
		require.Zero(f, late.ExpiresAt)
		f.is(i.ID, task.Waiting, task.WhyNoWorker)
	})
}

func TestARequeueThatALimitDropsIsAConflict(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		i := f.make(models.TaskOptions{Limits: []string{"db"}, OnLimit: models.Drop, MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		f.make(models.TaskOptions{Limits: []string{"db"}})
		running := f.claims()
		_, err := f.client.Requeue(f.Context(), i.ID, true)
		require.ErrorIs(f, err, fault.ErrConflict)
		require.ErrorContains(f, err, "its limit is reached")
		f.is(i.ID, task.StateDead, "")
		f.resolve(running, nil)
		_, err = f.client.Requeue(f.Context(), i.ID, true)
		require.NoError(f, err)
	})
}
