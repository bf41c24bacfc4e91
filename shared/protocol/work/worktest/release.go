package worktest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

var giveBackScenarios = []scenario{
	{"HandingBackCountsNothing", handBackCountsNothing},
	{"ClosingInOrderCountsNothing", closingCountsNothing},
	{"Fault33RejectedTaskGoesToAnother", fault33GoesToAnother},
	{"Fault33OnlyWorkerReleases", fault33OnlyWorker},
	{"Fault33LastOtherWorkerLeaves", fault33OtherLeaves},
	{"ALongReasonIsCut", longReason},
	{"WhoGaveBackCannotReachTheTaskAnyMore", gaveBackIsOver},
}

// claimUntouched claims the next task, and checks that it is i with no attempt counted.
func (s *session) claimUntouched(i task.Item) {
	s.f.Helper()
	again := s.claim()
	require.Equal(s.f, i.ID, again.ID, "its old place")
	require.Zero(s.f, again.Attempts)
	require.Empty(s.f, again.Claimants)
	require.Empty(s.f, again.History)
	require.Greater(s.f, again.Token, i.Token)
}

// handBackCountsNothing checks that a task handed back has its old place and no attempt counted.
func handBackCountsNothing(f *fixture) {
	w, m := f.worker("worker-1", 3), f.manager("manager-1")
	m.issue(toDig("site-1"), 0)
	m.issue(toDig("site-2"), 0)
	i := w.claim()
	require.NoError(f, w.task.HandBack(f.Context(), i))
	require.Equal(f, "handed back by worker-1", f.taskWith(i.ID).State)
	require.Empty(f, f.taskWith(i.ID).CurrentClaimant)
	require.Zero(f, f.taskWith(i.ID).ClaimedAt)
	w.claimUntouched(i)
}

// closingCountsNothing checks that a task whose worker closes its session has its old place and
// no attempt counted.
func closingCountsNothing(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	w2 := f.worker("worker-2", 1)
	m.issue(toDig("site-1"), 0)
	m.issue(toDig("site-2"), 0)
	i := w.claim()
	w.closeInOrder()
	w2.claimUntouched(i)
}

// taskWith returns the task with an id, held or not, or fails the test.
func (f *fixture) taskWith(id string) entry {
	f.Helper()
	for _, t := range f.state().tasks {
		if t.ID == id {
			return t
		}
	}
	require.Fail(f, "no task "+id)
	return entry{}
}

// fault33GoesToAnother checks that a task that a worker gave back goes to another worker, and not
// to the first one while another serves.
func fault33GoesToAnother(f *fixture) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	w2 := f.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	i := w1.claim()
	require.NoError(f, w1.task.Release(f.Context(), i, "no shovel"))
	f.pass(time.Hour / 4)
	_, ok := w1.tryClaim()
	require.False(f, ok, "another could take it")
	again := w2.claim()
	require.Equal(f, i.ID, again.ID)
	require.Equal(f, []string{"worker-1"}, again.Claimants)
	require.Equal(f, []string{"worker-1: no shovel"}, models.Errors(again.History))
	require.EqualValues(f, 1, again.Attempts)
	require.NoError(f, w2.report(again, "", true))
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Revoked))
}

// fault33OnlyWorker checks that the only worker gets a task that it gave back again after the
// back-off, and not before.
func fault33OnlyWorker(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	for attempt := range maxAttempts {
		start := time.Now()
		i := w.claim()
		require.EqualValues(f, attempt, i.Attempts)
		require.Len(f, i.Claimants, min(attempt, 1), "kept at the back-off, and ignored")
		require.NoError(f, w.task.Release(f.Context(), i, "no shovel"))
		require.Contains(f, f.onlyTask().State, "every worker gave it back")
		_, ok := w.tryClaim()
		require.False(f, ok, "no spin")
		f.pass(backoff)
		require.WithinDuration(f, start.Add(backoff), time.Now(), time.Second)
	}
	require.Zero(f, f.state().dead)
	require.NoError(f, w.report(w.claim(), "", true))
}

// fault33OtherLeaves checks that a task that waits for another worker goes back to the first one
// when the other has left: ReviveStuck puts it into a back-off, and counts no attempt.
func fault33OtherLeaves(f *fixture) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	w2 := f.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	i := w1.claim()
	require.NoError(f, w1.task.Release(f.Context(), i, "no shovel"))
	f.pass(backoff)
	require.NoError(f, m.task.ReviveStuck(f.Context(), dig))
	require.False(f, f.onlyTask().held, "worker-2 could take it: it is left alone")
	w2.closeInOrder()
	_, ok := w1.tryClaim()
	require.False(f, ok)
	require.NoError(f, m.task.ReviveStuck(f.Context(), dig))
	require.Contains(f, f.onlyTask().State, "every worker gave it back")
	again := w1.claimAfterBackoff()
	require.EqualValues(f, 1, again.Attempts, "only attempts lead to the dead letters")
}

// longReason checks that a reason from a worker is cut to one bounded line, so that the history
// of a task with the most data still fits into an answer.
func longReason(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	big := toDig("site")
	big.Data = []byte(`"` + strings.Repeat("<", 480_000) + `"`)
	m.issue(big, 0)
	for range maxAttempts + 1 {
		i := w.claim()
		reason := "line\nline\x00" + strings.Repeat("é<", 100_000)
		require.NoError(f, w.task.Release(f.Context(), i, reason))
		f.pass(backoff)
	}
	require.Equal(f, 1, f.state().dead)
	dead := f.onlyDead()
	require.Less(f, len(dead.Reason), 1000)
	require.NotContains(f, dead.Reason, "\n")

	m.ingestResult() // its failure
	big.Data = []byte(`"` + strings.Repeat("<", 540_000) + `"`)
	_, err := m.work.Issue(f.Context(), m.inProgress(), big, 0)
	require.ErrorIs(f, err, fault.ErrTooLarge)
}

// gaveBackIsOver checks that each call for a task that the worker has handed back fails with fault.ErrStaleToken, and
// that its late result moves no lease.
func gaveBackIsOver(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	i := w.claim()
	require.NoError(f, w.task.HandBack(f.Context(), i))
	for name, verb := range map[string]func() error{
		"extend":    func() error { return w.task.Extend(f.Context(), i) },
		"release":   func() error { return w.task.Release(f.Context(), i, "") },
		"hand back": func() error { return w.task.HandBack(f.Context(), i) },
		"resolve":   func() error { return w.report(i, "", true) },
	} {
		require.ErrorIs(f, verb(), fault.ErrStaleToken, name)
	}
	m.ingestResult() // the late final
	require.Zero(f, f.total(lease.Revoked), "the lease is the next one's")
	require.NoError(f, w.report(w.claim(), "", true))
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Revoked))
	_, err := w.repo.Call(f.Context(), space.OpID{}, "task.extend", nil)
	require.ErrorIs(f, err, fault.ErrInvalid)
}
