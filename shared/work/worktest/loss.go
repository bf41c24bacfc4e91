package worktest

import (
	"encoding/json"
	"fmt"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

var lossScenarios = []scenario{
	{"Fault19PausedWorkerResolvesLate", fault19PausedWorker},
	{"Fault28TwoWorkersResolveAtOnce", fault28TwoResolve},
	{"Fault31WorkerKilledAfterClaim", func(h *house) { fault31Killed(h, nil) }},
	{"Fault31WorkerKilledAfterReport", func(h *house) { fault31Killed(h, []string{"a"}) }},
	{"Fault31WorkerKilledAfterFinal", fault31KilledAfterFinal},
	{"Fault32PoisonTaskBecomesADeadLetter", fault32Poison},
	{"TimeOutTellsTheWorker", timeOutTells},
}

func fault19PausedWorker(h *house) {
	w1, m := h.worker("worker-1", 1), h.manager("manager-1")
	w2 := h.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	i := w1.claim()
	w1.silence()
	h.pass(3 * sessionTTL)
	require.ErrorIs(h, w1.report(i, "", true), fault.ErrClosed)
	again := w2.claimAfterBackoff()
	require.Equal(h, i.ID, again.ID)
	require.Equal(h, []string{"worker-1: its worker was lost"}, again.History)

	w1 = h.worker("worker-1", 1) // it comes back, and still has what it found
	require.ErrorIs(h, w1.report(i, "", true), fault.ErrStaleToken)
	require.Equal(h, "worker-1", m.ingest().Worker, "what it found is true")
	require.Equal(h, again.Token, h.onlyLease().Token)
	require.Zero(h, h.total(lease.Revoked)+h.total(lease.Extended), "but moves nothing")

	require.NoError(h, w2.report(again, "", true))
	m.ingest()
	require.Equal(h, 1, h.total(lease.Revoked))
}

func fault28TwoResolve(h *house) {
	w1, m := h.worker("worker-1", 1), h.manager("manager-1")
	w2 := h.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	first := w1.claim()
	h.pass(taskTimeout)
	second := w2.claimAfterBackoff()
	errs := make(chan error)
	go func() { errs <- w1.report(first, "", true) }()
	go func() { errs <- w2.report(second, "", true) }()
	one, two := receive(h, errs), receive(h, errs)
	if one != nil {
		one, two = two, one
	}
	require.NoError(h, one)
	require.ErrorIs(h, two, fault.ErrStaleToken)
	workers := []string{m.ingest().Worker, m.ingest().Worker}
	require.ElementsMatch(h, []string{"worker-1", "worker-2"}, workers)
	require.Equal(h, 1, h.total(lease.Revoked))
	require.Empty(h, h.state().tasks)
}

// fault31Killed kills a worker that has claimed, and has reported these parts.
func fault31Killed(h *house, reported []string) {
	w1, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	i := w1.claim()
	for _, part := range reported {
		require.NoError(h, w1.report(i, part, false))
	}
	w1.die()
	require.EqualValues(h, 1, h.onlyTask().Attempts, "noticed within the session's TTL")
	require.Zero(h, h.count(status.Space, status.AnyServing(dig)))
	w2 := h.worker("worker-2", 1)
	again := w2.claimAfterBackoff()
	require.EqualValues(h, 1, again.Attempts)
	require.Greater(h, again.Token, i.Token)
	for range reported {
		m.ingest()
	}
	require.NoError(h, w2.report(again, "a", false))
	require.NoError(h, w2.report(again, "b", true))
	m.ingest()
	m.ingest()
	require.Equal(h, 1, h.total(lease.Revoked))
	require.Equal(h, 1, h.total(lease.Extended), "by the report with the current token")
}

func fault31KilledAfterFinal(h *house) {
	w1, m := h.worker("worker-1", 1), h.manager("manager-1")
	h.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	require.NoError(h, w1.report(w1.claim(), "", true))
	w1.die()
	require.Empty(h, h.state().tasks, "it is done")
	m.ingest()
	require.Equal(h, 1, h.total(lease.Revoked))
}

func fault32Poison(h *house) {
	m := h.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	tokens := []int64{h.onlyTask().Token}
	for n := range maxAttempts + 1 { // each worker dies of it
		w := h.worker(fmt.Sprint("worker-", n), 1)
		h.pass(backoff)
		i := w.claim()
		require.EqualValues(h, n, i.Attempts)
		require.Len(h, i.Claimants, n)
		w.die()
		for _, t := range h.state().tasks {
			require.Greater(h, t.Token, tokens[len(tokens)-1])
			require.Equal(h, t.Token, h.onlyLease().Token)
			tokens = append(tokens, t.Token)
		}
	}
	require.Len(h, tokens, maxAttempts+1)

	s := h.state()
	require.Empty(h, s.tasks)
	require.Empty(h, s.leases)
	letter, ok, err := h.admin.Space(task.Dead).QueryP(h.Context(), task.AnyDead(dig))
	require.NoError(h, err)
	require.True(h, ok)
	require.EqualValues(h, maxAttempts+1, letter.Int64(3))
	var dead models.Task
	require.NoError(h, json.Unmarshal([]byte(letter.Str(5)), &dead))
	require.Len(h, dead.History, maxAttempts+1)
	require.Equal(h, "worker-0: its worker was lost", dead.History[0])
	require.Equal(h, 1, h.count(status.Log, tuple.Match("log", tuple.AnyString, letter.Str(2), "error", tuple.AnyString)))
	require.Equal(h, []string{"a", "b"}, m.busy()["site"], "until the failure is ingested")

	r := m.ingest()
	require.True(h, r.Final)
	require.Equal(h, "a,b", r.Part)
	var failure models.Failure
	require.NoError(h, json.Unmarshal([]byte(r.Body), &failure))
	require.Contains(h, failure.Problem, "its worker was lost")
	require.Equal(h, dead.ID, failure.Task.ID)
	require.Empty(h, m.busy())
}

func timeOutTells(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site"), 0)
	i := w.claim()
	h.pass(taskTimeout)
	message, err := w.repo.Receive(h.Context())
	require.NoError(h, err)
	id, reason, ok := task.ParseStop(message)
	require.True(h, ok)
	require.Equal(h, i.ID, id)
	require.Equal(h, "timed out after 10m0s", reason)
	require.Contains(h, h.onlyTask().History, "worker-1: timed out after 10m0s")
}
