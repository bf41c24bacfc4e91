package worktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

var expiryScenarios = []scenario{
	{"LeaseOutlivesItsTTLUnderALiveHold", leaseUnderHold},
	{"LeaseEndsWithTheHoldThatProlongedIt", leaseEndsWithHold},
	{"TaskHandedBackPastItsQueueTTLGoesWithItsLease", handedBackLate},
	{"LeaseExpiresWithItsTaskInBackOff", leaseExpiresInBackOff},
	{"TaskPastItsQueueTTLGoesWithItsLease", pastQueueTTL},
	{"Fault32TaskThatAlwaysTimesOutIsADeadLetter", failsLate(func(f *fixture, _ *session, i task.Item) {
		f.pass(i.Timeout.Duration() - queueTTL)
	})},
	{"Fault32TaskThatIsAlwaysReleasedLateIsADeadLetter", failsLate(func(f *fixture, w *session, i task.Item) {
		require.NoError(f, w.task.Release(f.Context(), i, "tired"))
	})},
	{"Fault32TaskThatAlwaysLosesItsWorkerLateIsADeadLetter", failsLate(func(_ *fixture, w *session, _ task.Item) { w.kill() })},
	{"LeaseExpiresWhileItsFinalWaits", expiresWhileFinalWaits},
}

// refs returns the refs of the only task and of its lease, as facts of the journal that each is gone.
func (f *fixture) refs() (refs []journal.Fact) {
	f.Helper()
	f.inspect(func(tx space.Tx) {
		for _, e := range slices.Concat(tx.Scan(task.Space, task.Any()), tx.Held(task.Space, task.Any()), tx.Scan(lease.Space, lease.Any())) {
			refs = append(refs, journal.Gone(e.Ref))
		}
	})
	require.Len(f, refs, 2)
	return refs
}

// requireGoneTogether checks that no task and no lease is left, and that one record took all refs, so
// that no reader saw one without the other.
func (f *fixture) requireGoneTogether(refs []journal.Fact) {
	f.Helper()
	require.Empty(f, f.state().tasks)
	require.Empty(f, f.state().leases)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.records {
		if slices.Contains(r.Facts, refs[0]) {
			require.Subset(f, r.Facts, refs)
			return
		}
	}
	require.Fail(f, "no record took the task")
}

// longDig is a task that may take twice as long as its lease.
func longDig() models.Task {
	t := toDig("site", "a")
	t.Timeout = models.SecondsOf(2 * leaseTTL)
	return t
}

// leaseUnderHold checks that a lease does not expire while a session holds its task, that its
// parts stay reserved, and that the last result ends it as usual.
func leaseUnderHold(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(longDig(), 0)
	i := w.claim()
	f.pass(leaseTTL + time.Minute)
	l := f.onlyLease()
	require.Greater(f, l.Deadline, time.Now())
	_, err := m.work.Issue(f.Context(), m.inProgress(), longDig(), 0)
	require.ErrorIs(f, err, fault.ErrConflict)
	require.Zero(f, f.total(lease.Expired))
	require.NoError(f, w.report(i, "a", true))
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Revoked))
}

// leaseEndsWithHold checks that a lease past its TTL ends with the hold that prolonged it, in the
// same transaction as the task.
func leaseEndsWithHold(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(longDig(), 0)
	w.claim()
	f.pass(leaseTTL + time.Minute)
	refs := f.refs()
	w.closeInOrder()
	f.requireGoneTogether(refs)
	require.Equal(f, 1, f.total(lease.Expired))
}

// leaseExpiresInBackOff checks that a lease expires at its TTL while its task is in its back-off,
// in the same transaction as the task.
func leaseExpiresInBackOff(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(longDig(), 0)
	granted := time.Now()
	i := w.claim()
	f.pass(leaseTTL - backoff/2 - time.Since(granted))
	require.NoError(f, w.task.Release(f.Context(), i, "tired"))
	refs := f.refs()
	f.pass(backoff/2 - time.Nanosecond)
	require.Len(f, f.state().leases, 1)
	f.pass(time.Nanosecond)
	f.requireGoneTogether(refs)
	require.Equal(f, 1, f.total(lease.Expired))
	f.pass(time.Hour)
}

// pastQueueTTL checks that a task that waits for longer than its queue TTL ends with its lease,
// so that its parts can be issued again.
func pastQueueTTL(f *fixture) {
	m := f.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	refs := f.refs()
	f.pass(queueTTL - time.Nanosecond)
	require.Len(f, f.state().tasks, 1)
	f.pass(time.Nanosecond)
	f.requireGoneTogether(refs)
	require.Equal(f, 1, f.total(lease.Expired))
	require.Empty(f, m.reserved())
	m.issue(toDig("site", "a"), 0)
}

// failsLate returns a scenario in which a task is in its attempts for longer than its queue TTL, and
// fail ends each of them. The task becomes a dead letter and is not dropped, because each failed
// attempt restarts the queue TTL.
func failsLate(fail func(f *fixture, w *session, i task.Item)) func(*fixture) {
	return func(f *fixture) {
		m := f.manager("manager-1")
		m.issue(longDig(), 0)
		for n := range maxAttempts + 1 {
			w := f.worker(fmt.Sprintf("worker-%d", n), 1)
			i := w.claim()
			f.pass(queueTTL + time.Minute)
			fail(f, w, i)
			f.pass(backoff)
		}
		require.Equal(f, 1, f.count(task.Dead, task.AnyDead()))
		require.Equal(f, 1, f.total(lease.Revoked))
	}
}

// handedBackLate checks that a task ends with its lease if it is handed back past its queue TTL.
func handedBackLate(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(longDig(), 0)
	i := w.claim()
	f.pass(queueTTL + time.Minute)
	refs := f.refs()
	require.NoError(f, w.task.HandBack(f.Context(), i))
	f.requireGoneTogether(refs)
	require.Equal(f, 1, f.total(lease.Expired))
}

// expiresWhileFinalWaits checks that parts stay reserved while a final result waits, also after
// the lease has expired.
func expiresWhileFinalWaits(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	require.NoError(f, w.report(w.claim(), "a", true))
	f.pass(leaseTTL)
	require.Equal(f, 1, f.total(lease.Expired))
	require.Equal(f, []string{"a"}, m.reserved()["site"], "the result waits")
	m.ingestResult()
	require.Zero(f, f.total(lease.Revoked))
}
