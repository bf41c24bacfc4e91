package worktest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var foreignScenarios = []scenario{
	{"MalformedTasksDoNotStopTheOthers", corruptTasks},
	{"ATaskOfAForeignClientIsDone", foreignTask},
	{"ATaskOfAForeignClientCannotEndALease", foreignLease},
	{"OnlyTheEngineMayExpire", forgedExpiry},
}

// corruptTasks checks that malformed tasks are never claimed, count as waiting until ReviveStuck
// makes them dead letters, and do not stop other tasks.
func corruptTasks(f *fixture) {
	w, m := f.worker("worker-1", 2), f.manager("manager-1")
	bodies := []string{"garbage", "{", `"` + strings.Repeat("x", 800_000) + `"`, strings.Repeat("\xff", 1_000_000), "\xff", strings.Repeat("\x80", 1_000_000)}
	for n, body := range bodies {
		f.put(task.Space, tuple.New("task", dig, strings.Repeat("i", 1+n*1000), "", int64(0), int64(99), body))
	}
	issued, err := m.work.Issue(f.Context(), m.inProgress(), toDig("site", "a"), 0)
	require.NoError(f, err)
	require.False(f, issued, "they count as waiting")
	_, ok := w.tryClaim()
	require.False(f, ok, "but are never claimed")

	require.NoError(f, m.task.ReviveStuck(f.Context(), dig))
	require.Equal(f, len(bodies), f.state().dead)
	require.Zero(f, f.count(task.Space, task.Any()))
	require.Equal(f, len(bodies), f.count(status.Log, status.MatchLog(tuple.AnyString, "error")))
	m.issue(toDig("site", "a"), 0)
	require.NoError(f, w.report(w.claim(), "a", true))
	m.ingestResult()
}

// foreignTask checks that a task that a foreign client put without a record is done with the
// default timeout, and becomes a dead letter like any other.
func foreignTask(f *fixture) {
	const token, priority = int64(7), int64(0)
	w := f.worker("worker-1", 1)
	f.put(task.Space, tuple.New("task", dig, "theirs", "", token, priority, `{"hole":1}`))
	for range maxAttempts {
		i := w.claim()
		require.Equal(f, "theirs", i.ID)
		require.JSONEq(f, `{"hole":1}`, string(i.Data))
		f.pass(task.DefaultTimeout.Duration() + backoff)
	}
	require.NoError(f, w.report(w.claim(), "", true))
	require.Empty(f, f.state().results, "it has no lease, and nobody asked for a result")
	f.put(task.Space, tuple.New("task", dig, "theirs", "", token, priority, ""))
	for range maxAttempts + 1 {
		w.claim()
		f.pass(task.DefaultTimeout.Duration() + backoff)
	}
	require.Equal(f, 1, f.state().dead)
	require.Empty(f, f.state().results, "no manager selected it")
}

// foreignLease checks that a task that a foreign client put with the id of a lease cannot end the
// lease, because it does not have its token.
func foreignLease(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	l, err := m.grant("site", "", 24*time.Hour)
	require.NoError(f, err)
	f.put(task.Space, tuple.New("task", dig, "theirs", l.ID, int64(0), int64(0), "garbage"))
	require.NoError(f, m.task.ReviveStuck(f.Context(), dig))
	f.put(task.Space, tuple.New("task", dig, "theirs", l.ID, int64(0), int64(0), `{"hole":1}`))
	for range maxAttempts + 1 {
		w.claim()
		f.pass(task.DefaultTimeout.Duration() + backoff)
	}
	require.Equal(f, 2, f.state().dead)
	require.Equal(f, l, f.onlyLease())
	m.ingestResult() // the failure that the second one left
	require.Equal(f, l, f.onlyLease())
	require.NoError(f, m.revoke(l.ID, l.Token))
}

// forgedExpiry checks that a session cannot call the procedures of expiries: each call fails with fault.ErrInvalid
// and changes nothing.
func forgedExpiry(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	require.NoError(f, m.visit.Put(f.Context(), models.Visit{ID: "v1", Origin: models.Origin{ID: "o1"}}))
	m.issue(toDig("site", "a"), 0)
	w.claim()
	before := f.state()
	for _, p := range []string{"lease.expire", "task.timeout", "task.return", "task.expire", "task.refill", "work.expire", "work.drop", "work.return", "visit.lost"} {
		for ref := range int64(20) {
			for _, cause := range []space.Cause{space.Due, space.Lost, space.Closed} {
				x := space.Expired{Ref: ref, Cause: cause, Holder: "worker-1"}
				_, err := m.repo.Call(f.Context(), space.OpID{}, p, x.Args())
				require.ErrorIs(f, err, fault.ErrInvalid)
			}
		}
	}
	require.Equal(f, before, f.state())
	require.Equal(f, 1, f.count(lease.Space, lease.Any()))
}
