package worktest

import (
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/task"
)

var resultScenarios = []scenario{
	{"LateFinalAfterATimeOut", lateFinal},
	{"FinalOvertakesItsSiblings", finalOvertakes},
	{"Fault27ResultTwice", fault27Twice},
	{"Fault27ResultAfterFinal", fault27AfterFinal},
	{"Fault27ResultForUnknownLease", fault27UnknownLease},
	{"Fault27ResultForAnotherTask", fault27AnotherTask},
}

func lateFinal(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	late := w.claim()
	h.pass(taskTimeout)
	require.ErrorIs(h, w.report(late, "a", true), fault.ErrStaleToken)
	before := h.onlyLease()
	r := m.ingest()
	require.Equal(h, late.Token, r.Token)
	require.True(h, r.Final)
	require.Equal(h, before, h.onlyLease(), "it moves no lease")

	again := w.claimAfterBackoff()
	require.NoError(h, w.report(again, "a", true))
	m.ingest()
	require.Empty(h, h.state().leases)
}

func finalOvertakes(h *house) {
	w, m1 := h.worker("worker-1", 1), h.manager("manager-1")
	m2, m3 := h.manager("manager-2"), h.manager("manager-3")
	m1.issue(toDig("site", "a", "b", "c"), 0)
	i := w.claim()
	require.NoError(h, w.report(i, "a", false))
	require.NoError(h, w.report(i, "b", false))
	require.NoError(h, w.report(i, "c", true))
	first, second := m1.hold(), m1.hold()
	require.Equal(h, "c", m2.ingest().Part)
	require.Empty(h, h.state().leases, "revoked by the final")
	require.ElementsMatch(h, []string{"a", "b"}, m3.busy()["site"], "held results are busy")
	m1.die()
	require.ElementsMatch(h, []string{"a", "b"}, m3.busy()["site"], "waiting ones are")
	require.ErrorIs(h, m2.work.Ingested(h.Context(), first), fault.ErrStaleToken)
	m3.ingest()
	require.Len(h, m3.busy()["site"], 1)
	require.Contains(h, []string{"a", "b"}, m3.ingest().Part)
	require.Empty(h, m3.busy())
	require.ErrorIs(h, m3.work.Ingested(h.Context(), second), fault.ErrStaleToken)
}

func fault27Twice(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	i := w.claim()
	require.NoError(h, w.report(i, "a", true))
	require.ErrorIs(h, w.report(i, "a", true), fault.ErrStaleToken)
	r := m.hold()
	m.ingest()
	require.Zero(h, h.total(lease.Revoked), "the copy moves nothing, though it was first")
	require.Equal(h, 1, h.total(lease.Late), "and is counted")
	require.NoError(h, m.work.Ingested(h.Context(), r))
	require.Equal(h, 1, h.total(lease.Revoked))
	require.ErrorIs(h, m.work.Ingested(h.Context(), r), fault.ErrStaleToken)
	require.Equal(h, 1, h.total(lease.Late), "what is not ingested is not")
}

func fault27AfterFinal(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	i := w.claim()
	require.NoError(h, w.report(i, "b", true))
	m.ingest()
	require.ErrorIs(h, w.report(i, "a", false), fault.ErrStaleToken)
	m.ingest()
	require.Equal(h, 1, h.total(lease.Revoked))
	require.Zero(h, h.total(lease.Extended))
	require.Equal(h, 1, h.total(lease.Late))
}

func fault27UnknownLease(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	i := w.claim()
	h.put(task.Result, task.EncodeResult(task.Outcome{Action: dig, Subject: "site", Part: "x", Lease: "l999", Token: i.Token, Final: true}))
	h.put(task.Result, task.EncodeResult(task.Outcome{Action: dig, Subject: "site", Part: "y", Final: true}))
	m.ingest()
	m.ingest()
	require.Len(h, h.state().leases, 1)
	require.Zero(h, h.total(lease.Revoked))
	require.Equal(h, 1, h.total(lease.Late), "the other names no lease")
}

func fault27AnotherTask(h *house) {
	w1, m := h.worker("worker-1", 1), h.manager("manager-1")
	w2 := h.worker("worker-2", 1)
	m.issue(toDig("site-1"), 0)
	m.issue(toDig("site-2"), 0)
	mine, hers := w1.claim(), w2.claim()
	require.ErrorIs(h, w1.report(hers, "", true), fault.ErrStaleToken, "with the other's token")
	forged := mine
	forged.Lease, forged.Subject = hers.Lease, hers.Subject
	require.NoError(h, w1.report(forged, "", true), "of its own task")
	require.Zero(h, m.ingest().Token)
	r := m.ingest()
	require.Equal(h, mine.Lease, r.Lease)
	require.Equal(h, "site-1", r.Subject)
	require.Equal(h, hers.Lease, h.onlyLease().ID, "is still hers")
	require.NoError(h, w2.report(hers, "", true))
	m.ingest()
	require.Equal(h, 1, h.total(lease.Late), "what was shown with her token")
}
