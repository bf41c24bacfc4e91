package worktest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
)

var lossScenarios = []scenario{
	{"Fault19PausedWorkerResolvesLate", fault19PausedWorker},
	{"Fault28TwoWorkersResolveAtOnce", fault28TwoResolve},
	{"Fault31WorkerKilledAfterClaim", func(f *fixture) { fault31Killed(f, nil) }},
	{"Fault31WorkerKilledAfterReport", func(f *fixture) { fault31Killed(f, []string{"a"}) }},
	{"Fault31WorkerKilledAfterFinal", fault31KilledAfterFinal},
	{"TheTaskOfALostWorkerIsOfferedToAnotherAtOnce", lostWorkerIsReplaced},
	{"ATaskThatFailedOnAMachineGoesToAnotherMachine", otherMachineIsPreferred},
	{"ATaskThatFailedOnTheOnlyMachineGoesToAnotherWorkerOnIt", onlyMachine},
	{"WhenTheOtherMachineLeavesTheTaskGoesBackToTheFirst", otherMachineLeaves},
	{"Fault32PoisonTaskBecomesADeadLetter", fault32Poison},
	{"TimeOutTellsTheWorker", timeOutTells},
}

// fault19PausedWorker checks that a worker that was paused until its session was lost can report
// what it found over a new session: the result is put, and moves no lease, because another worker
// has the task.
func fault19PausedWorker(f *fixture) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	w2 := f.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	i := w1.claim()
	w1.stopHeartbeat()
	f.pass(3 * sessionTTL)
	require.ErrorIs(f, w1.report(i, "", true), fault.ErrClosed)
	again := w2.claim()
	require.Equal(f, i.ID, again.ID)
	require.Equal(f, []string{"worker-1: its worker was lost"}, models.Errors(again.History))

	w1 = f.worker("worker-1", 1) // it comes back, and still has what it found
	require.ErrorIs(f, w1.report(i, "", true), fault.ErrStaleToken)
	require.Equal(f, "worker-1", m.ingestResult().Worker, "what it found is true")
	require.Equal(f, again.Token, f.onlyLease().Token)
	require.Zero(f, f.total(lease.Revoked)+f.total(lease.Extended), "but moves nothing")

	require.NoError(f, w2.report(again, "", true))
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Revoked))
}

// fault28TwoResolve checks that if two workers resolve one task at once, the one with the current token succeeds, and
// the results of both are ingested.
func fault28TwoResolve(f *fixture) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	w2 := f.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	first := w1.claim()
	f.pass(taskTimeout)
	second := w2.claim()
	errs := make(chan error)
	go func() { errs <- w1.report(first, "", true) }()
	go func() { errs <- w2.report(second, "", true) }()
	one, two := receive(f, errs), receive(f, errs)
	if one != nil {
		one, two = two, one
	}
	require.NoError(f, one)
	require.ErrorIs(f, two, fault.ErrStaleToken)
	workers := []string{m.ingestResult().Worker, m.ingestResult().Worker}
	require.ElementsMatch(f, []string{"worker-1", "worker-2"}, workers)
	require.Equal(f, 1, f.total(lease.Revoked))
	require.Empty(f, f.state().tasks)
}

// fault31Killed kills a worker that has claimed, and has reported these parts. Another gets the
// whole task again, as another attempt, and all results are ingested.
func fault31Killed(f *fixture, reported []string) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	i := w1.claim()
	for _, part := range reported {
		require.NoError(f, w1.report(i, part, false))
	}
	w1.kill()
	require.EqualValues(f, 1, f.onlyTask().Attempts, "noticed within the session's TTL")
	require.Zero(f, f.count(status.Space, status.AnyServing(dig)))
	w2 := f.worker("worker-2", 1)
	again := w2.claimAfterBackoff()
	require.EqualValues(f, 1, again.Attempts)
	require.Greater(f, again.Token, i.Token)
	for range reported {
		m.ingestResult()
	}
	require.NoError(f, w2.report(again, "a", false))
	require.NoError(f, w2.report(again, "b", true))
	m.ingestResult()
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Revoked))
	require.Equal(f, 1, f.total(lease.Extended), "by the report with the current token")
}

// lostWorkerIsReplaced kills a worker while another one waits for a task, and checks that this
// one gets it within the session's TTL.
func lostWorkerIsReplaced(f *fixture) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	i := w1.claim()
	w2 := f.worker("worker-2", 1)
	claimed := make(chan task.Item, 1)
	go func() {
		again, err := w2.task.Claim(f.Context(), dig)
		require.NoError(f, err)
		claimed <- again
	}()
	f.pass(sessionTTL / 2)
	killed := time.Now()
	w1.stopHeartbeat()
	again := receive(f, claimed)
	require.Equal(f, i.ID, again.ID)
	require.EqualValues(f, 1, again.Attempts)
	require.LessOrEqual(f, time.Since(killed), sessionTTL+time.Second)
}

// claimInBackground claims a task in a goroutine, and sends it to the channel.
func (s *session) claimInBackground() chan task.Item {
	claimed := make(chan task.Item, 1)
	go func() {
		if i, err := s.task.Claim(s.f.Context(), dig); err == nil {
			claimed <- i
		}
	}()
	return claimed
}

// otherMachineIsPreferred kills one of two workers of a machine while both the other one
// and a worker on another machine wait for a task.
func otherMachineIsPreferred(f *fixture) {
	w1, m := f.workerOn("mill", "worker-1"), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	w1.claim()
	sameMachine := f.workerOn("mill", "worker-2").claimInBackground()
	f.pass(time.Second)
	other := f.workerOn("farm", "worker-3").claimInBackground()
	killed := time.Now()
	w1.stopHeartbeat()
	i := receive(f, other)
	require.EqualValues(f, 1, i.Attempts)
	require.Equal(f, []string{"mill"}, i.Hosts)
	require.LessOrEqual(f, time.Since(killed), sessionTTL+time.Second)
	require.Empty(f, sameMachine)
}

// onlyMachine checks that a task that was given back on the only machine goes to another worker
// on it at once.
func onlyMachine(f *fixture) {
	w1, m := f.workerOn("mill", "worker-1"), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	i := w1.claim()
	sameMachine := f.workerOn("mill", "worker-2").claimInBackground()
	f.pass(time.Second)
	require.NoError(f, w1.task.Release(f.Context(), i, "no shovel"))
	require.Equal(f, i.ID, receive(f, sameMachine).ID, "at once")
}

// otherMachineLeaves checks that a task that waits for another machine can be claimed on the
// first one after the other machine has left (ReviveStuck).
func otherMachineLeaves(f *fixture) {
	w1, m := f.workerOn("mill", "worker-1"), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	i := w1.claim()
	sameMachine, other := f.workerOn("mill", "worker-2").claimInBackground(), f.workerOn("farm", "worker-3")
	f.pass(time.Second)
	require.NoError(f, w1.task.Release(f.Context(), i, "no shovel"))
	require.NoError(f, m.task.ReviveStuck(f.Context(), dig))
	f.pass(time.Second)
	require.Empty(f, sameMachine, "the other machine could take it")
	other.closeInOrder()
	require.NoError(f, m.task.ReviveStuck(f.Context(), dig))
	require.Equal(f, i.ID, receive(f, sameMachine).ID)
}

// fault31KilledAfterFinal checks that a worker killed after its final report loses nothing: the task is resolved.
func fault31KilledAfterFinal(f *fixture) {
	w1, m := f.worker("worker-1", 1), f.manager("manager-1")
	f.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	require.NoError(f, w1.report(w1.claim(), "", true))
	w1.kill()
	require.Empty(f, f.state().tasks, "it is done")
	m.ingestResult()
	require.Equal(f, 1, f.total(lease.Revoked))
}

// fault32Poison checks that a task that kills each of its workers becomes a dead letter after
// maxAttempts+1 attempts, with a new token for each, and that its parts stay reserved until its
// failure is ingested.
func fault32Poison(f *fixture) {
	m := f.manager("manager-1")
	m.issue(toDig("site", "a", "b"), 0)
	tokens := []int64{f.onlyTask().Token}
	for n := range maxAttempts + 1 { // each worker dies of it
		w := f.worker(fmt.Sprint("worker-", n), 1)
		f.pass(backoff)
		i := w.claim()
		require.EqualValues(f, n, i.Attempts)
		require.Len(f, i.Claimants, n)
		w.kill()
		for _, t := range f.state().tasks {
			require.Greater(f, t.Token, tokens[len(tokens)-1])
			require.Equal(f, t.Token, f.onlyLease().Token)
			tokens = append(tokens, t.Token)
		}
	}
	require.Len(f, tokens, maxAttempts+1)

	s := f.state()
	require.Empty(f, s.tasks)
	require.Empty(f, s.leases)
	dead := f.onlyDead()
	require.EqualValues(f, maxAttempts+1, dead.Attempts)
	require.Len(f, dead.History, maxAttempts+1)
	require.Equal(f, "worker-0: its worker was lost", dead.History[0].String())
	require.Equal(f, 1, f.count(status.Log, status.MatchLog(dead.ID, "error")))
	require.Equal(f, []string{"a", "b"}, m.reserved()["site"], "until the failure is ingested")

	r := m.ingestResult()
	require.True(f, r.Final)
	require.Equal(f, "a,b", r.Part)
	var failure models.Failure
	require.NoError(f, json.Unmarshal([]byte(r.Body), &failure))
	require.Contains(f, failure.Problem, "its worker was lost")
	require.Equal(f, dead.ID, failure.Task.ID)
	require.Empty(f, m.reserved())
}

// timeOutTells checks that a worker whose task timed out gets a message to stop it.
func timeOutTells(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	i := w.claim()
	f.pass(taskTimeout)
	message, err := w.repo.Receive(f.Context())
	require.NoError(f, err)
	id, reason, ok := task.ParseStop(message)
	require.True(f, ok)
	require.Equal(f, i.ID, id)
	require.Equal(f, "timed out after 10m0s", reason)
	require.Contains(f, models.Errors(f.onlyTask().History), "worker-1: timed out after 10m0s")
}
