package worktest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
)

var managerScenarios = []scenario{
	{"Fault25ManagerDiesHoldingAResult", fault25HoldingResult},
	{"Fault25ManagerDiesAfterIssuingHalf", fault25IssuedHalf},
	{"ResultOnWhichManagersFailComesBackBehind", poisonResult},
	{"ManagerThatStopsPutsItsResultInFront", managerStops},
	{"ChoiceIsRefusedOnceItsWorkWasIngested", choiceOvertaken},
	{"ChoiceIsRefusedWhileAResultOfItWaits", choiceWaits},
	{"ChoiceIsRefusedOnceALateResultWasIngested", choiceLate},
	{"ChoiceOfAnotherSubjectIsNotRefused", choiceApart},
	{"BusyNamesEverythingHoweverMuch", busyPages},
	{"IssueRefusesWhatIsNoTask", issueRefuses},
}

func fault25HoldingResult(h *house) {
	w, m1 := h.worker("worker-1", 1), h.manager("manager-1")
	m2 := h.manager("manager-2")
	m1.issue(toDig("site", "a"), 0)
	require.NoError(h, w.report(w.claim(), "a", true))
	r := m1.hold()
	require.Equal(h, []string{"a", "a"}, m2.busy()["site"], "lease and held result")
	m1.die()
	require.ErrorIs(h, m1.work.Ingested(h.Context(), r), fault.ErrClosed)
	require.Equal(h, r.Outcome, m2.ingest().Outcome)
	require.Equal(h, 1, h.total(lease.Revoked))
}

func fault25IssuedHalf(h *house) {
	w, m1 := h.worker("worker-1", 2), h.manager("manager-1")
	m1.issue(toDig("site", "a"), 0)
	m1.issue(toDig("site", "b"), 0)
	m1.die() // c and d are not issued
	m2 := h.manager("manager-2")
	require.ElementsMatch(h, []string{"a", "b"}, m2.busy()["site"])
	_, err := m2.work.Issue(h.Context(), m2.look(), toDig("site", "b", "c"), 0)
	require.ErrorIs(h, err, fault.ErrConflict)
	m2.issue(toDig("site", "c", "d"), 0)
	for range 3 {
		i := w.claim()
		require.NoError(h, w.report(i, lease.JoinParts(i.Parts), true))
		m2.ingest()
	}
	require.Equal(h, 3, h.total(lease.Granted))
	require.Equal(h, 3, h.total(lease.Revoked))
	require.Empty(h, m2.busy())
}

// done has a work-item done to the end by a worker and ingested by a manager.
func (m *actor) done(w *actor, t models.Task) {
	m.h.Helper()
	m.issue(t, 0)
	require.NoError(m.h, w.report(w.claim(), lease.JoinParts(t.Parts), true))
	m.ingest()
}

// Two managers choose the same, and the second comes when the first is through.
func choiceOvertaken(h *house) {
	w, m1, m2 := h.worker("worker-1", 1), h.manager("manager-1"), h.manager("manager-2")
	seen := m1.look()
	m2.done(w, toDig("site", "a"))
	require.Empty(h, m1.busy(), "no lease and no result is in the way")
	_, err := m1.work.Issue(h.Context(), seen, toDig("site", "a", "b"), 0)
	require.ErrorIs(h, err, fault.ErrConflict)
	m1.issue(toDig("site", "b"), 0) // as the catalog has it now
	require.NoError(h, w.report(w.claim(), "b", true))
	m2.ingest()
	require.Equal(h, 2, h.total(lease.Revoked))
}

// The lease has ended by its TTL, the result waits, and is held then.
func choiceWaits(h *house) {
	w, m1, m2 := h.worker("worker-1", 1), h.manager("manager-1"), h.manager("manager-2")
	seen := m1.look()
	m2.issue(toDig("site", "a"), 0)
	require.NoError(h, w.report(w.claim(), "a", true))
	h.pass(leaseTTL)
	require.Equal(h, 1, h.total(lease.Expired))
	_, err := m1.work.Issue(h.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(h, err, fault.ErrConflict)
	r := m2.hold()
	_, err = m1.work.Issue(h.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(h, err, fault.ErrConflict)
	require.NoError(h, m2.work.Ingested(h.Context(), r))
	_, err = m1.work.Issue(h.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(h, err, fault.ErrConflict)
	issued, err := m1.work.Issue(h.Context(), seen, toDig("park", "a"), 0)
	require.NoError(h, err)
	require.True(h, issued)
}

// Somebody who lost the task long ago reports it all the same.
func choiceLate(h *house) {
	w, m1, m2 := h.worker("worker-1", 1), h.manager("manager-1"), h.manager("manager-2")
	m2.issue(longDig(), 0)
	i := w.claim()
	h.pass(leaseTTL + time.Minute)
	require.NoError(h, w.task.HandBack(h.Context(), i))
	seen := m1.look()
	require.Empty(h, seen.Claimed, "lease and task are gone")
	require.ErrorIs(h, w.report(i, "a", true), fault.ErrStaleToken)
	m2.ingest()
	_, err := m1.work.Issue(h.Context(), seen, toDig("site", "a"), 0)
	require.ErrorIs(h, err, fault.ErrConflict)
}

func choiceApart(h *house) {
	w, m1, m2 := h.worker("worker-1", 1), h.manager("manager-1"), h.manager("manager-2")
	seen := m1.look()
	for range 3 {
		m2.done(w, toDig("site", "a"))
	}
	issued, err := m1.work.Issue(h.Context(), seen, toDig("park", "a"), 0)
	require.NoError(h, err)
	require.True(h, issued)
}

// twoResults has two results, a before b, wait.
func (h *house) twoResults(m *actor) {
	h.Helper()
	w := h.worker("worker-1", 1)
	m.issue(toDig("site", "a", "b"), 0)
	i := w.claim()
	require.NoError(h, w.report(i, "a", false))
	require.NoError(h, w.report(i, "b", true))
}

func poisonResult(h *house) {
	m := h.manager("manager-1")
	h.twoResults(m)
	r := m.hold()
	require.Equal(h, "a", r.Part)
	h.pass(ingestTTL)
	require.ErrorIs(h, m.work.Ingested(h.Context(), r), fault.ErrStaleToken)
	require.Equal(h, "b", m.ingest().Part)
	require.Equal(h, "a", m.ingest().Part)
}

func managerStops(h *house) {
	m1, m2 := h.manager("manager-1"), h.manager("manager-2")
	h.twoResults(m1)
	require.Equal(h, "a", m1.hold().Part)
	m1.leave()
	require.Equal(h, "a", m2.ingest().Part)
	require.Equal(h, "b", m2.ingest().Part)
}

func busyPages(h *house) {
	m := h.manager("manager-1")
	w := h.worker("worker-1", 100)
	want := map[string][]string{}
	for n := range 12 {
		subject := fmt.Sprint("site-", n)
		for part := range 900 {
			want[subject] = append(want[subject], fmt.Sprintf("%0128d", part))
		}
		m.issue(toDig(subject, want[subject]...), 0)
	}
	require.Equal(h, want, m.busy(), "1.4 MB of parts")
	m.issue(toDig("last"), 1)
	i := w.claim()
	for n := range 700 {
		part := fmt.Sprintf("%03d-%s", n, strings.Repeat("x", 1000))
		require.NoError(h, w.report(i, part, false))
		want[i.Subject] = append(want[i.Subject], part)
	}
	m.hold()
	require.Equal(h, want, m.busy())
}

func issueRefuses(h *house) {
	m := h.manager("manager-1")
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
		_, err := m.work.Issue(h.Context(), m.look(), bad, 0)
		require.ErrorIs(h, err, fault.ErrInvalid, name)
	}
	bad := good
	bad.Data = []byte("{")
	_, err := m.work.Issue(h.Context(), m.look(), bad, 0)
	require.True(h, errors.Is(err, fault.ErrInvalid), err)
	require.Empty(h, h.state().leases)

	good.Attempts, good.Claimants, good.State, good.History = 9, []string{"x"}, "x", []string{"x"}
	good.CurrentClaimant, good.ClaimedAt, good.ID, good.Parts = "x", time.Now(), "x", []string{"b", "a", "b"}
	m.issue(good, 0)
	made := h.onlyTask().Task
	require.Equal(h, models.Task{
		ID: made.ID, Action: dig, Subject: "site", Parts: []string{"a", "b"}, Timeout: good.Timeout, QueueTTL: models.SecondsOf(queueTTL), CreatedAt: made.CreatedAt,
	}, made)
	require.NotEqual(h, "x", made.ID)
}
