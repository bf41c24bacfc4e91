package worktest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/work"
)

var managerScenarios = []scenario{
	{"Fault25ManagerDiesHoldingAResult", fault25HoldingResult},
	{"Fault25ManagerDiesAfterIssuingHalf", fault25IssuedHalf},
	{"ResultOnWhichManagersFailComesBackBehind", poisonResult},
	{"ManagerThatStopsPutsItsResultInFront", managerStops},
	{"SelectionIsRefusedOnceItsWorkWasIngested", selectionOvertaken},
	{"SelectionIsRefusedWhileAResultOfItWaits", selectionWaits},
	{"SelectionIsRefusedOnceALateResultWasIngested", selectionLate},
	{"SelectionOfAnotherSubjectIsNotRefused", selectionApart},
	{"PairIsNotIssuedTwiceWhicheverOfItIsTheSubject", transposed},
	{"InProgressNamesAnyAmount", inProgressPages},
	{"IssueRefusesWhatIsNoTask", issueRefuses},
}

// fault25HoldingResult checks that a result that a manager held when it was killed is offered to
// another manager.
func fault25HoldingResult(f *fixture) {
	w, m1 := f.worker("worker-1", 1), f.manager("manager-1")
	m2 := f.manager("manager-2")
	m1.issue(toDig("site", "a"), 0)
	require.NoError(f, w.report(w.claim(), "a", true))
	r := m1.holdResult()
	require.Equal(f, []string{"a", "a"}, m2.reserved()["site"], "lease and held result")
	m1.kill()
	require.ErrorIs(f, m1.work.Ingested(f.Context(), r), fault.ErrClosed)
	require.Equal(f, r.ResultTuple, m2.ingestResult().ResultTuple)
	require.Equal(f, 1, f.total(lease.Revoked))
}

// fault25IssuedHalf checks that another manager sees what a killed one has issued, and issues
// only the rest.
func fault25IssuedHalf(f *fixture) {
	w, m1 := f.worker("worker-1", 2), f.manager("manager-1")
	m1.issue(toDig("site", "a"), 0)
	m1.issue(toDig("site", "b"), 0)
	m1.kill() // c and d are not issued
	m2 := f.manager("manager-2")
	require.ElementsMatch(f, []string{"a", "b"}, m2.reserved()["site"])
	_, err := m2.work.Issue(f.Context(), m2.inProgress(), toDig("site", "b", "c"), 0)
	require.ErrorIs(f, err, fault.ErrConflict)
	m2.issue(toDig("site", "c", "d"), 0)
	for range 3 {
		i := w.claim()
		require.NoError(f, w.report(i, lease.JoinParts(i.Parts), true))
		m2.ingestResult()
	}
	require.Equal(f, 3, f.total(lease.Granted))
	require.Equal(f, 3, f.total(lease.Revoked))
	require.Empty(f, m2.reserved())
}

// complete has a worker do a work-item, and the manager ingest its result.
func (m *session) complete(w *session, t models.Task) {
	m.f.Helper()
	m.issue(t, 0)
	require.NoError(m.f, w.report(w.claim(), lease.JoinParts(t.Parts), true))
	m.ingestResult()
}

// transposed checks that a pair of a clip and an episode is not issued twice, although the one
// task has the clip as its subject and the episodes as its parts, and the other the episode as
// its subject and the clips as its parts. The second one is refused while the first is there,
// while its result waits, and after that if its selection is older.
func transposed(f *fixture) {
	w, m := f.worker("worker-1", 9), f.manager("manager-1")
	before := m.inProgress()
	m.issue(toDig("clip", "e1", "e2"), 0)
	refused := func(seen work.InProgress, t models.Task) {
		f.Helper()
		_, err := m.work.Issue(f.Context(), seen, t, 0)
		require.ErrorIs(f, err, fault.ErrConflict)
	}
	refused(before, toDig("e1", "clip"))
	refused(m.inProgress(), toDig("e2", "another", "clip"))
	i := w.claim()
	m.issue(toDig("e1", "another"), 0)
	refused(m.inProgress(), toDig("another", "e0", "e1"))
	m.issue(toDig("another", "e0"), 0)
	require.NoError(f, w.report(i, "e1,e2", true))
	refused(before, toDig("e2", "clip")) // while its result waits
	m.ingestResult()
	refused(before, toDig("e2", "clip")) // it was done since
	refused(before, toDig("e1", "clip"))
	m.issue(toDig("e3", "clip"), 0)
}

// selectionOvertaken checks that work that was selected before another manager ingested a result
// of it is refused, although neither a lease nor a result reserves it then.
func selectionOvertaken(f *fixture) {
	w, m1, m2 := f.worker("worker-1", 1), f.manager("manager-1"), f.manager("manager-2")
	seen := m1.inProgress()
	m2.complete(w, toDig("site", "a"))
	require.Empty(f, m1.reserved(), "neither a lease nor a result is in the way")
	_, err := m1.work.Issue(f.Context(), seen, toDig("site", "a", "b"), 0)
	require.ErrorIs(f, err, fault.ErrConflict)
	m1.issue(toDig("site", "b"), 0) // as the catalog has it now
	require.NoError(f, w.report(w.claim(), "b", true))
	m2.ingestResult()
	require.Equal(f, 2, f.total(lease.Revoked))
}

// selectionWaits checks that work is refused while a result of it waits or is held, also after
// its lease expired, and after it was ingested if the selection is older.
func selectionWaits(f *fixture) {
	w, m1, m2 := f.worker("worker-1", 1), f.manager("manager-1"), f.manager("manager-2")
	seen := m1.inProgress()
	m2.issue(toDig("site", "a"), 0)
	require.NoError(f, w.report(w.claim(), "a", true))
	f.pass(leaseTTL)
	require.Equal(f, 1, f.total(lease.Expired))
	_, err := m1.work.Issue(f.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(f, err, fault.ErrConflict)
	r := m2.holdResult()
	_, err = m1.work.Issue(f.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(f, err, fault.ErrConflict)
	require.NoError(f, m2.work.Ingested(f.Context(), r))
	_, err = m1.work.Issue(f.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(f, err, fault.ErrConflict)
	issued, err := m1.work.Issue(f.Context(), seen, toDig("park", "a"), 0)
	require.NoError(f, err)
	require.True(f, issued)
}

// selectionLate checks that work that was selected before a late result of it was ingested is
// refused.
func selectionLate(f *fixture) {
	w, m1, m2 := f.worker("worker-1", 1), f.manager("manager-1"), f.manager("manager-2")
	m2.issue(longDig(), 0)
	i := w.claim()
	f.pass(leaseTTL + time.Minute)
	require.NoError(f, w.task.HandBack(f.Context(), i))
	seen := m1.inProgress()
	require.Empty(f, seen.Reserved, "lease and task are gone")
	require.ErrorIs(f, w.report(i, "a", true), fault.ErrStaleToken)
	m2.ingestResult()
	_, err := m1.work.Issue(f.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(f, err, fault.ErrConflict)
}

// selectionApart checks that results of one subject do not refuse work of another.
func selectionApart(f *fixture) {
	w, m1, m2 := f.worker("worker-1", 1), f.manager("manager-1"), f.manager("manager-2")
	seen := m1.inProgress()
	for range 3 {
		m2.complete(w, toDig("site", "a"))
	}
	issued, err := m1.work.Issue(f.Context(), seen, toDig("park", "a"), 0)
	require.NoError(f, err)
	require.True(f, issued)
}

// putTwoResults puts two results that wait, a before b.
func (f *fixture) putTwoResults(m *session) {
	f.Helper()
	w := f.worker("worker-1", 1)
	m.issue(toDig("site", "a", "b"), 0)
	i := w.claim()
	require.NoError(f, w.report(i, "a", false))
	require.NoError(f, w.report(i, "b", true))
}

// poisonResult checks that a result that a manager holds for longer than ingestTTL goes behind
// the others, so that one on which managers fail does not stop them.
func poisonResult(f *fixture) {
	m := f.manager("manager-1")
	f.putTwoResults(m)
	r := m.holdResult()
	require.Equal(f, "a", r.Part)
	f.pass(ingestTTL)
	require.ErrorIs(f, m.work.Ingested(f.Context(), r), fault.ErrStaleToken)
	require.Equal(f, "b", m.ingestResult().Part)
	require.Equal(f, "a", m.ingestResult().Part)
}

// managerStops checks that a manager that closes its session puts its result back in front of the
// others.
func managerStops(f *fixture) {
	m1, m2 := f.manager("manager-1"), f.manager("manager-2")
	f.putTwoResults(m1)
	require.Equal(f, "a", m1.holdResult().Part)
	m1.closeInOrder()
	require.Equal(f, "a", m2.ingestResult().Part)
	require.Equal(f, "b", m2.ingestResult().Part)
}

// inProgressPages checks that InProgress returns more than one answer can carry: parts of leases,
// and of results that wait.
func inProgressPages(f *fixture) {
	m := f.manager("manager-1")
	w := f.worker("worker-1", 100)
	want := map[string][]string{}
	for n := range 12 {
		subject := fmt.Sprint("site-", n)
		for part := range 900 {
			want[subject] = append(want[subject], fmt.Sprintf("%0128d", part))
		}
		m.issue(toDig(subject, want[subject]...), 0)
	}
	require.Equal(f, want, m.reserved(), "1.4 MB of parts")
	m.issue(toDig("last"), 1)
	i := w.claim()
	for n := range 700 {
		part := fmt.Sprintf("%03d-%s", n, strings.Repeat("x", 1000))
		require.NoError(f, w.report(i, part, false))
		want[i.Subject] = append(want[i.Subject], part)
	}
	m.holdResult()
	require.Equal(f, want, m.reserved())
}

// issueRefuses checks which tasks fail with fault.ErrInvalid, and that fields that only the protocol sets are
// ignored.
func issueRefuses(f *fixture) {
	m := f.manager("manager-1")
	good := toDig("site", "a")
	for name, spoil := range map[string]func(*models.Task){
		"no action":        func(t *models.Task) { t.Action = "" },
		"no subject":       func(t *models.Task) { t.Subject = "" },
		"a subject":        func(t *models.Task) { t.Subject = "a subject" },
		"two parts in one": func(t *models.Task) { t.Parts = []string{"a,b"} },
		"no timeout":       func(t *models.Task) { t.Timeout = 0 },
		"a negative one":   func(t *models.Task) { t.Timeout = -1 },
		"an endless one":   func(t *models.Task) { t.Timeout = 1e300 },
	} {
		bad := good
		spoil(&bad)
		_, err := m.work.Issue(f.Context(), m.inProgress(), bad, 0)
		require.ErrorIs(f, err, fault.ErrInvalid, name)
	}
	bad := good
	bad.Data = []byte("{")
	_, err := m.work.Issue(f.Context(), m.inProgress(), bad, 0)
	require.True(f, errors.Is(err, fault.ErrInvalid), err)
	require.Empty(f, f.state().leases)

	good.Attempts, good.Claimants, good.State, good.History = 9, []string{"x"}, "x", []models.Attempt{{Error: "x"}}
	good.CurrentClaimant, good.ClaimedAt, good.ID, good.Parts = "x", time.Now(), "x", []string{"b", "a", "b"}
	m.issue(good, 0)
	made := f.onlyTask().Task
	require.Equal(f, models.Task{
		ID: made.ID, Action: dig, Subject: "site", Parts: []string{"a", "b"}, Timeout: good.Timeout, QueueTTL: models.SecondsOf(queueTTL), CreatedAt: made.CreatedAt,
	}, made)
	require.NotEqual(f, "x", made.ID)
}
