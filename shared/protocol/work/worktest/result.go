package worktest

import (
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
)

var resultScenarios = []scenario{
	{"LateFinalAfterATimeOut", lateFinal},
	{"FinalOvertakesItsSiblings", finalOvertakes},
	{"Fault27ResultTwice", fault27Twice},
	{"Fault27ResultAfterFinal", fault27AfterFinal},
	{"Fault27ResultForUnknownLease", fault27UnknownLease},
	{"Fault27ResultForAnotherTask", fault27AnotherTask},
}

// lateFinal checks that a final result that comes after the task's timeout is ingested and moves
// no lease.
func lateFinal(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	late := w.claim()
	f.pass(taskTimeout)
	require.ErrorIs(f, w.report(late, "a", true), fault.ErrStaleToken)
	before := f.onlyLease()
	r := m.ingestResult()
	require.Equal(f, late.Token, r.Token)
	require.True(f, r.Final)
	require.Equal(f, before, f.onlyLease(), "it moves no lease")

	again := w.claimAfterBackoff()
	require.NoError(f, w.report(again, "a", true))
	m.ingestResult()
	require.Empty(f, f.state().leases)
}

// finalOvertakes checks results of one task that managers ingest in another order than they came:
// the final one revokes the lease, and the parts of the others stay reserved until they are
// ingested.
func finalOvertakes(f *fixture) {
	w, m1 := f.worker("worker-1", 1), f.manager("manager-1")
	m2, m3 := f.manager("manager-2"), f.manager("manager-3")
	m1.issue(toDig("site", "a", "b", "c"), 0)
	i := w.claim()
	require.NoError(f, w.report(i, "a", false))
	require.NoError(f, w.report(i, "b", false))
	require.NoError(f, w.report(i, "c", true))
	first, second := m1.holdResult(), m1.holdResult()
	require.Equal(f, "c", m2.ingestResult().Part)
	require.Empty(f, f.state().leases, "revoked by the final")
	require.ElementsMatch(f, []string{"a", "b"}, m3.reserved()["site"], "held results are busy")
	m1.kill()
	require.ElementsMatch(f, []string{"a", "b"}, m3.reserved()["site"], "waiting ones are")
	require.ErrorIs(f, m2.work.Ingested(f.Context(), first), fault.ErrStaleToken)
	m3.ingestResult()
	require.Len(f, m3.reserved()["site"], 1)
	require.Contains(f, []string{"a", "b"}, m3.ingestResult().Part)
	require.Empty(f, m3.reserved())
	require.ErrorIs(f, m3.work.Ingested(f.Context(), second), fault.ErrStaleToken)
}

// fault27Twice checks that the one of two equal results with the current token moves the lease, also if the copy is
// ingested first.
func fault27Twice(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	i := w.claim()
	require.NoError(f, w.report(i, "a", true))
	require.ErrorIs(f, w.report(i, "a", true), fault.ErrStaleToken)
	r := m.holdResult()
	m.ingestResult()
	require.Zero(f, f.total(lease.Revoked), "the copy moves nothing, though it was first")
	require.Equal(f, 1, f.total(lease.Late), "and is counted")
	require.NoError(f, m.work.Ingested(f.Context(), r))
	require.Equal(f, 1, f.total(lease.Revoked))
	require.ErrorIs(f, m.work.Ingested(f.Context(), r), fault.ErrStaleToken)
	require.Equal(f, 1, f.total(lease.Late), "a result that is not ingested is not counted")
}

// fault27AfterFinal checks that a result that the worker sends after its final one is ingested
// and counted as late, and moves no lease, because the final one has revoked it.
func fault27AfterFinal(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	i := w.claim()
	require.NoError(f, w.report(i, "b", true))
	m.ingestResult()
	require.ErrorIs(f, w.report(i, "a", false), fault.ErrStaleToken)
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Revoked))
	require.Zero(f, f.total(lease.Extended))
	require.Equal(f, 1, f.total(lease.Late))
}

// fault27UnknownLease checks that a result that names an unknown lease is counted as late; one
// that names none is not.
func fault27UnknownLease(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	i := w.claim()
	f.put(task.Result, task.EncodeResult(task.ResultTuple{Action: dig, Subject: "site", Part: "x", Lease: "l999", Token: i.Token, Final: true}))
	f.put(task.Result, task.EncodeResult(task.ResultTuple{Action: dig, Subject: "site", Part: "y", Final: true}))
	m.ingestResult()
	m.ingestResult()
	require.Len(f, f.state().leases, 1)
	require.Zero(f, f.total(lease.Revoked))
	require.Equal(f, 1, f.total(lease.Late), "the other names no lease")
}

// fault27AnotherTask checks that a worker cannot end the task of another one, neither with that
// task's token nor by naming its lease in a result.
func fault27AnotherTask(f *fixture) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	w2 := f.worker("worker-2", 1)
	m.issue(toDig("site-1"), 0)
	m.issue(toDig("site-2"), 0)
	mine, hers := w1.claim(), w2.claim()
	require.ErrorIs(f, w1.report(hers, "", true), fault.ErrStaleToken, "with the other's token")
	forged := mine
	forged.Lease, forged.Subject = hers.Lease, hers.Subject
	require.NoError(f, w1.report(forged, "", true), "of its own task")
	require.Zero(f, m.ingestResult().Token)
	r := m.ingestResult()
	require.Equal(f, mine.Lease, r.Lease)
	require.Equal(f, "site-1", r.Subject)
	require.Equal(f, hers.Lease, f.onlyLease().ID, "is still hers")
	require.NoError(f, w2.report(hers, "", true))
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Late), "what was shown with her token")
}
