package task_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
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

// A malformed task is alive until a claim or a cancel makes it a dead letter, and its wait ends then.
func TestAWaitForAMalformedTaskEndsWithItsDeadLetter(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", "t1", "", int64(2), int64(0), "{"), 0))
		waited := make(chan task.Shown)
		go func() {
			shown, err := f.client.Wait(f.Context(), "t1")
			require.NoError(f, err)
			waited <- shown
		}()
		synctest.Wait()
		require.Empty(f, waited)
		require.NoError(f, f.client.Cancel(f.Context(), "t1", "a mistake"))
		require.Equal(f, task.StateDead, (<-waited).StateNow())
	})
}

// A foreign client may put any tuple. A task that no worker could do is not claimed; its dead letter
// tells why, and has all of the task that can be read.
func TestAClaimMakesTasksThatNoWorkerCouldDoDeadLetters(t *testing.T) {
	withFixture(t, func(f fixture) {
		created := time.Now().UTC().Truncate(time.Millisecond)
		kept := func(id string, change func(*models.Task)) task.Item {
			i := task.Item{Task: models.Task{ID: id, Action: "a", Timeout: 60, CreatedAt: created, Data: json.RawMessage(`{"n":1}`), TaskOptions: models.TaskOptions{Tags: []string{"x"}}}, Priority: 7}
			change(&i.Task)
			return i
		}
		ofTimeout := func(id string, timeout models.Seconds) task.Item {
			return kept(id, func(t *models.Task) { t.Timeout = timeout })
		}
		body := func(id, text string) task.Item {
			return task.Item{Task: models.Task{ID: id, Action: "a", Data: json.RawMessage(text)}, Priority: 7}
		}
		longest := models.Seconds(lease.MaxTTL.Seconds())
		most := tuple.MaxBytes / 2
		largest := `"` + strings.Repeat("x", most-2) + `"`
		for _, c := range []struct {
			put task.Item // without a time of creation it has no record
			why string
		}{
			{body("no JSON", "{"), "not JSON"},
			{body("large", largest[:1]+"x"+largest[1:]), fmt.Sprint("at most ", most)},
			{body("largest", largest), ""},
			{ofTimeout("no timeout", 0), "timeout 0s: want more than 0"},
			{ofTimeout("negative timeout", -1), "timeout -1s"},
			{ofTimeout("long timeout", longest+1), "at most " + lease.MaxTTL.String()},
			{ofTimeout("longest timeout", longest), ""},
			{kept("worn out", func(t *models.Task) { t.Attempts = 2 }), "given up after attempt 2: more attempts than are allowed"},
			{kept("last attempt", func(t *models.Task) { t.Attempts = 1 }), ""},
			{kept("own maximum", func(t *models.Task) { t.Attempts, t.MaxAttempts = 3, 3 }), "given up after attempt 3"},
			{kept("last of its own", func(t *models.Task) { t.Attempts, t.MaxAttempts = 2, 3 }), ""},
		} {
			id := c.put.ID
			entry, record := task.EncodeNew(c.put)
			if c.put.CreatedAt.IsZero() {
				record = ""
			}
			require.NoError(f, f.try(func(tx space.Tx) error {
				_, err := tx.Put(task.Space, entry, space.PutOptions{Attributes: space.Attributes{Fields: record}})
				return err
			}))
			claimed := f.claims()
			if c.why == "" {
				require.Equal(f, id, claimed.ID)
				f.resolve(claimed, nil)
				continue
			}
			require.Empty(f, claimed.ID, id)
			require.Empty(f, f.waiting(), id)
			l, err := f.client.DeadLetter(f.Context(), id)
			require.NoError(f, err, id)
			require.Contains(f, l.Reason, c.why)
			require.EqualValues(f, 7, l.Priority, id)
			require.Equal(f, id != "large", json.Valid(l.Data), id)
			if strings.HasPrefix(l.Reason, "given up") {
				require.Equal(f, []string{"x"}, l.Tags, id)
				require.JSONEq(f, `{"n":1}`, string(l.Data))
				require.Equal(f, created, l.CreatedAt, id)
				require.Positive(f, l.Attempts, id)
			}
		}
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

func TestAWaitForAMalformedDeadLetterEnds(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Dead).Put(f.Context(), tuple.New("dead", "a", "t1", int64(0), "", "{"), 0))
		shown, err := f.client.Wait(f.Context(), "t1")
		require.NoError(f, err)
		require.Equal(f, task.StateDead, shown.StateNow())
		require.Error(f, shown.Err)
	})
}

func (f fixture) damage(id string) {
	f.Helper()
	require.NoError(f, f.try(func(tx space.Tx) error { return task.Damage(tx, id) }))
}

// A call about a task whose record cannot be read must not answer success.
func TestACallForATaskWithADamagedRecordIsCorrupt(t *testing.T) {
	withFixture(t, func(f fixture) {
		ctx, c := f.Context(), f.client
		f.limit("db", 1)
		keyed, resumed := func(n *task.New) { n.OnConflict = task.Replace }, func(n *task.New) { n.Action = "paused" }
		f.make(models.TaskOptions{UniqueKey: "k", Limits: []string{"db"}})
		held := f.claims()
		next := f.make(models.TaskOptions{UniqueKey: "k"}, keyed)
		limited := f.make(models.TaskOptions{Limits: []string{"db"}}, func(n *task.New) { n.Action = "b" })
		parent := f.make(models.TaskOptions{})
		child := f.make(models.TaskOptions{After: []string{parent.ID}})
		other := f.make(models.TaskOptions{UniqueKey: "l"}, func(n *task.New) { n.Action = "b" })
		require.NoError(f, c.Pause(ctx, "paused"))
		hidden := f.make(models.TaskOptions{}, resumed)
		create := func(key string) error {
			_, err := c.CreateAll(ctx, task.New{Task: models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{UniqueKey: key}}, OnConflict: task.Replace})
			return err
		}
		type calls map[string]func() error
		for _, step := range []struct {
			damaged string
			calls
		}{
			{next.ID, calls{"replace the next one": func() error { return create("k") }, "resolve the first one": func() error { return c.Report(ctx, held, "", true, 1) }}},
			{other.ID, calls{"replace": func() error { return create("l") }}},
			{child.ID, calls{"cancel its parent": func() error { return c.Cancel(ctx, parent.ID, "") }}},
			{hidden.ID, calls{"resume": func() error { return c.Resume(ctx, "paused") }}},
			{limited.ID, calls{"set its limit": func() error { return c.SetLimit(ctx, task.Limit{Name: "db", Max: 2}) }}},
			{held.ID, calls{
				"extend": func() error { return c.Extend(ctx, held) }, "note": func() error { return c.Note(ctx, held, models.Progress{}) },
				"report": func() error { return c.Report(ctx, held, "", false, 1) }, "resolve": func() error { return c.Report(ctx, held, "", true, 1) },
				"release": func() error { return c.Release(ctx, held, "") }, "hand back": func() error { return c.HandBack(ctx, held) },
			}},
		} {
			f.damage(step.damaged)
			for name, call := range step.calls {
				require.ErrorIs(f, call(), fault.ErrCorrupt, name)
			}
			shown, err := c.Show(ctx, step.damaged)
			require.NoError(f, err)
			require.ErrorIs(f, shown.Err, fault.ErrCorrupt)
			require.Equal(f, "malformed", shown.Why.Code)
			require.NoError(f, c.Cancel(ctx, step.damaged, ""), "which makes it a dead letter")
			f.is(step.damaged, task.StateDead, "")
			_, err = c.DeadLetter(ctx, step.damaged)
			require.NoError(f, err)
		}
	})
}

// The time of a task whose record cannot be read must not come repeatedly.
func TestATaskWithADamagedRecordIsADeadLetterWhenItsTimeComes(t *testing.T) {
	withFixture(t, func(f fixture) {
		ids := map[string]string{
			"delayed":  f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Minute)}).ID,
			"expires":  f.make(models.TaskOptions{ExpiresAt: time.Now().Add(time.Minute)}, func(n *task.New) { n.Action = "b" }).ID,
			"held":     f.make(models.TaskOptions{}).ID,
			"is swept": f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "c" }).ID,
			"paused":   f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "d" }).ID,
		}
		require.Equal(f, ids["held"], f.claims().ID)
		for _, id := range ids {
			f.damage(id)
		}
		_, err := f.client.Sweep(f.Context(), nil)
		require.NoError(f, err)
		require.NoError(f, f.client.Pause(f.Context(), "d"))
		<-time.After(time.Minute + time.Second)
		for name, id := range ids {
			l, err := f.client.DeadLetter(f.Context(), id)
			require.NoError(f, err, name)
			require.Contains(f, l.Reason, "record of a task: corrupt", name)
			require.Equal(f, id, l.ID)
		}
	})
}

func TestATaskWithADamagedRecordLosesItsLeaseAndEndsWithoutARecordIfItIsWithdrawn(t *testing.T) {
	withFixture(t, func(f fixture) {
		leases := func() int {
			n, err := f.repo.Space(lease.Space).Count(f.Context(), lease.Any())
			require.NoError(f, err)
			return n
		}
		f.call("lease-one")
		i := f.waiting()[0].Str(2)
		f.damage(i)
		require.Equal(f, 1, leases())
		require.Empty(f, f.claims().ID)
		require.Zero(f, leases())
		f.is(i, task.StateDead, "")
		withdrawn := f.make(models.TaskOptions{})
		f.damage(withdrawn.ID)
		_, err := f.repo.Call(f.Context(), space.OpID{}, "withdraw", tuple.New(withdrawn.ID))
		require.ErrorIs(f, err, fault.ErrCorrupt, "the procedure of this test reads it")
		require.NoError(f, f.try(func(tx space.Tx) error {
			return task.Policy{}.Withdraw(tx, tx.Scan(task.Space, task.Any())[0], "withdrawn")
		}))
		require.Empty(f, f.waiting())
		_, err = f.client.Show(f.Context(), withdrawn.ID)
		require.ErrorIs(f, err, fault.ErrNotFound)
	})
}

// While no space takes its dead letter, a malformed task must not be in the way of others.
func TestAMalformedTaskWhoseDeadLetterCannotBePutIsHiddenForABackOff(t *testing.T) {
	withFullSpace(t, task.Dead, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", "x", "", int64(0), int64(9), "{"), 0))
		good := f.make(models.TaskOptions{})
		require.Equal(f, good.ID, f.claims().ID)
		require.Empty(f, f.waiting())
		<-time.After(2*backoff + time.Second)
		require.Empty(f, f.waiting(), "it is hidden again")
		_, err := f.repo.Space(task.Dead).Get(f.Context(), tuple.Match("full"))
		require.NoError(f, err)
		<-time.After(backoff)
		f.is("x", task.StateDead, "")
	})
}

func TestATupleThatIsNoTaskIsNotClaimed(t *testing.T) {
	withFixture(t, func(f fixture) {
		s := f.repo.Space(task.Space)
		require.NoError(f, s.Put(f.Context(), tuple.New("note", "x", "y", "z", int64(1), int64(9), "{}"), 0))
		_, ok, err := s.GetP(f.Context(), tuple.Match("note", tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString))
		require.NoError(f, err)
		require.False(f, ok)
		anything := tuple.Match(tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString)
		i := f.make(models.TaskOptions{})
		got, ok, err := s.GetP(f.Context(), anything)
		require.NoError(f, err)
		require.True(f, ok)
		require.Equal(f, i.ID, got.Str(2), "the task behind it")
	})
}

// A foreign client may choose any id. The history has no key for an empty or an overlong one.
func TestATaskWithAnIDThatTheHistoryCannotKeepEndsAllTheSame(t *testing.T) {
	withFixture(t, func(f fixture) {
		for id, kept := range map[string]bool{"": false, strings.Repeat("x", space.MaxHistoryKey): true, strings.Repeat("y", space.MaxHistoryKey+1): false} {
			require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", id, "", int64(1), int64(0), ""), 0))
			i, err := f.client.Claim(f.Context(), "a")
			require.NoError(f, err)
			require.NoError(f, f.client.Report(f.Context(), i, "", true, 1))
			require.Empty(f, f.waiting())
			shown, err := f.client.Show(f.Context(), id)
			if !kept {
				require.ErrorIs(f, err, fault.ErrNotFound, len(id))
				continue
			}
			require.NoError(f, err)
			require.Equal(f, task.Resolved, shown.StateNow())
		}
	})
}

// A claim moves a bounded number of tasks out of the way, and the client then claims again.
func TestAClaimFindsTheTaskBehindManyMalformedOnes(t *testing.T) {
	withFixture(t, func(f fixture) {
		for n := range 300 {
			require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", fmt.Sprint("x", n), "", int64(0), int64(9), "{"), 0))
		}
		good := f.make(models.TaskOptions{})
		_, ok, err := f.repo.Space(task.Space).GetP(f.Context(), task.AnyOf("a"))
		require.NoError(f, err)
		require.False(f, ok, "a get only moves them")
		f.client.Op = space.OpID{Session: f.repo.Session(), Seq: 1}
		i, err := f.client.Claim(f.Context(), "a")
		require.NoError(f, err)
		require.Equal(f, good.ID, i.ID)
	})
}
