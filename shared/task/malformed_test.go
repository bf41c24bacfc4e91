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
	"leasehold/shared/lease"
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
		created := time.Now().UTC()
		old := func(id string, change func(*models.Task)) string {
			all := models.Task{ID: id, Action: "a", Timeout: 60, CreatedAt: created, Data: json.RawMessage(`{"n":1}`), TaskOptions: models.TaskOptions{Tags: []string{"x"}}}
			change(&all)
			body, err := json.Marshal(all)
			require.NoError(f, err)
			return string(body)
		}
		ofTimeout := func(id string, timeout models.Seconds) string {
			return old(id, func(t *models.Task) { t.Timeout = timeout })
		}
		longest := models.Seconds(lease.MaxTTL.Seconds())
		most := tuple.MaxBytes / 2
		largest := `"` + strings.Repeat("x", most-2) + `"`
		for id, c := range map[string]struct{ body, why string }{
			"no JSON":          {"{", "not JSON"},
			"large":            {largest[:1] + "x" + largest[1:], fmt.Sprint("at most ", most)},
			"largest":          {largest, ""},
			"no timeout":       {ofTimeout("no timeout", 0), "timeout 0s: want more than 0"},
			"negative timeout": {ofTimeout("negative timeout", -1), "timeout -1s"},
			"long timeout":     {ofTimeout("long timeout", longest+1), "at most " + lease.MaxTTL.String()},
			"longest timeout":  {ofTimeout("longest timeout", longest), ""},
			"worn out":         {old("worn out", func(t *models.Task) { t.Attempts = 2 }), "given up after attempt 2: more attempts than are allowed"},
			"last attempt":     {old("last attempt", func(t *models.Task) { t.Attempts = 1 }), ""},
			"own maximum":      {old("own maximum", func(t *models.Task) { t.Attempts, t.MaxAttempts = 3, 3 }), "given up after attempt 3"},
			"last of its own":  {old("last of its own", func(t *models.Task) { t.Attempts, t.MaxAttempts = 2, 3 }), ""},
		} {
			require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", id, "", int64(2), int64(7), c.body), 0))
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
