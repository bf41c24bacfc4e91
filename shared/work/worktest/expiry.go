package worktest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/task"
)

var expiryScenarios = []scenario{
	{"LeaseOutlivesItsTTLUnderALiveHold", leaseUnderHold},
	{"LeaseEndsWithTheHoldThatProlongedIt", leaseEndsWithHold},
	{"TaskHandedBackPastItsQueueTTLGoesWithItsLease", handedBackLate},
	{"LeaseExpiresWithItsTaskInBackOff", leaseExpiresInBackOff},
	{"TaskPastItsQueueTTLGoesWithItsLease", pastQueueTTL},
	{"TaskThatComesBackPastItsQueueTTLGoesWithItsLease", comesBackLate},
	{"Fault32TaskThatAlwaysTimesOutIsADeadLetter", alwaysTimesOut},
	{"LeaseExpiresWhileItsFinalWaits", expiresWhileFinalWaits},
}

// refs are those of the only task and of its lease.
func (h *house) refs() (refs []journal.Fact) {
	h.Helper()
	h.inspect(func(tx space.Tx) {
		for _, e := range slices.Concat(tx.Scan(task.Space, task.Any()), tx.Held(task.Space, task.Any()), tx.Scan(lease.Space, lease.Any())) {
			refs = append(refs, journal.Gone(e.Ref))
		}
	})
	require.Len(h, refs, 2)
	return refs
}

// goneTogether checks that one record took all refs.
func (h *house) goneTogether(refs []journal.Fact) {
	h.Helper()
	require.Empty(h, h.state().tasks)
	require.Empty(h, h.state().leases)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.records {
		if slices.Contains(r.Facts, refs[0]) {
			require.Subset(h, r.Facts, refs)
			return
		}
	}
	require.Fail(h, "no record took the task")
}

// longDig is a task that may take twice as long as its lease.
func longDig() models.Task {
	t := toDig("site", "a")
	t.Timeout = models.SecondsOf(2 * leaseTTL)
	return t
}

func leaseUnderHold(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(longDig(), 0)
	i := w.claim()
	h.pass(leaseTTL + time.Minute)
	l := h.onlyLease()
	require.Greater(h, l.Deadline, time.Now())
	_, err := m.work.Issue(h.Context(), m.look(), longDig(), 0)
	require.ErrorIs(h, err, fault.ErrConflict)
	require.Zero(h, h.total(lease.Expired))
	require.NoError(h, w.report(i, "a", true))
	m.ingest()
	require.Equal(h, 1, h.total(lease.Revoked))
}

func leaseEndsWithHold(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(longDig(), 0)
	w.claim()
	h.pass(leaseTTL + time.Minute)
	refs := h.refs()
	w.leave()
	h.goneTogether(refs)
	require.Equal(h, 1, h.total(lease.Expired))
}

func leaseExpiresInBackOff(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(longDig(), 0)
	granted := time.Now()
	i := w.claim()
	h.pass(leaseTTL - backoff/2 - time.Since(granted))
	require.NoError(h, w.task.Release(h.Context(), i, "tired"))
	refs := h.refs()
	h.pass(backoff/2 - time.Nanosecond)
	require.Len(h, h.state().leases, 1)
	h.pass(time.Nanosecond)
	h.goneTogether(refs)
	require.Equal(h, 1, h.total(lease.Expired))
	h.pass(time.Hour)
}

func pastQueueTTL(h *house) {
	m := h.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	refs := h.refs()
	h.pass(queueTTL - time.Nanosecond)
	require.Len(h, h.state().tasks, 1)
	h.pass(time.Nanosecond)
	h.goneTogether(refs)
	require.Equal(h, 1, h.total(lease.Expired))
	require.Empty(h, m.busy())
	m.issue(toDig("site", "a"), 0)
}

func comesBackLate(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(longDig(), 0)
	i := w.claim()
	h.pass(queueTTL + time.Minute)
	require.NoError(h, w.task.Release(h.Context(), i, "tired"))
	refs := h.refs()
	h.pass(backoff)
	h.goneTogether(refs)
	require.Equal(h, 1, h.total(lease.Expired))
	_, ok := w.claims()
	require.False(h, ok)
}

func alwaysTimesOut(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(longDig(), 0) // it may take as long as it may wait
	for range maxAttempts + 1 {
		i := w.claim()
		require.GreaterOrEqual(h, i.Timeout.Duration(), queueTTL)
		h.pass(i.Timeout.Duration())
		h.pass(backoff)
	}
	require.Equal(h, 1, h.count(task.Dead, task.AnyDead(dig)))
	require.Equal(h, 1, h.total(lease.Revoked))
}

func handedBackLate(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(longDig(), 0)
	i := w.claim()
	h.pass(queueTTL + time.Minute)
	refs := h.refs()
	require.NoError(h, w.task.HandBack(h.Context(), i))
	h.goneTogether(refs)
	require.Equal(h, 1, h.total(lease.Expired))
}

func expiresWhileFinalWaits(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	require.NoError(h, w.report(w.claim(), "a", true))
	h.pass(leaseTTL)
	require.Equal(h, 1, h.total(lease.Expired))
	require.Equal(h, []string{"a"}, m.busy()["site"], "the result waits")
	m.ingest()
	require.Zero(h, h.total(lease.Revoked))
}
