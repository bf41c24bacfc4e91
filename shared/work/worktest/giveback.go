package worktest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
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

// untouched claims what is next, and checks that it is i with nothing counted.
func (a *actor) untouched(i task.Item) {
	a.h.Helper()
	again := a.claim()
	require.Equal(a.h, i.ID, again.ID, "its old place")
	require.Zero(a.h, again.Attempts)
	require.Empty(a.h, again.Claimants)
	require.Empty(a.h, again.History)
	require.Greater(a.h, again.Token, i.Token)
}

func handBackCountsNothing(h *house) {
	w, m := h.worker("worker-1", 3), h.manager("manager-1")
	m.issue(toDig("site-1"), 0)
	m.issue(toDig("site-2"), 0)
	i := w.claim()
	require.NoError(h, w.task.HandBack(h.Context(), i))
	require.Equal(h, "handed back by worker-1", h.waiting(i.ID).State)
	require.Empty(h, h.waiting(i.ID).CurrentClaimant)
	require.Zero(h, h.waiting(i.ID).ClaimedAt)
	w.untouched(i)
}

func closingCountsNothing(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	w2 := h.worker("worker-2", 1)
	m.issue(toDig("site-1"), 0)
	m.issue(toDig("site-2"), 0)
	i := w.claim()
	w.leave()
	w2.untouched(i)
}

// waiting is the task of that id.
func (h *house) waiting(id string) entry {
	h.Helper()
	for _, t := range h.state().tasks {
		if t.ID == id {
			return t
		}
	}
	require.Fail(h, "no task "+id)
	return entry{}
}

func fault33GoesToAnother(h *house) {
	w1, m := h.worker("worker-1", 1), h.manager("manager-1")
	w2 := h.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	i := w1.claim()
	require.NoError(h, w1.task.Release(h.Context(), i, "no shovel"))
	h.pass(time.Hour / 4)
	_, ok := w1.claims()
	require.False(h, ok, "another could take it")
	again := w2.claim()
	require.Equal(h, i.ID, again.ID)
	require.Equal(h, []string{"worker-1"}, again.Claimants)
	require.Equal(h, []string{"worker-1: no shovel"}, again.History)
	require.EqualValues(h, 1, again.Attempts)
	require.NoError(h, w2.report(again, "", true))
	m.ingest()
	require.Equal(h, 1, h.total(lease.Revoked))
}

func fault33OnlyWorker(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site"), 0)
	for attempt := range maxAttempts {
		start := time.Now()
		i := w.claim()
		require.EqualValues(h, attempt, i.Attempts)
		require.Empty(h, i.Claimants, "cleared after the back-off")
		require.NoError(h, w.task.Release(h.Context(), i, "no shovel"))
		require.Contains(h, h.onlyTask().State, "every worker gave it back")
		_, ok := w.claims()
		require.False(h, ok, "no spin")
		h.pass(backoff)
		require.WithinDuration(h, start.Add(backoff), time.Now(), time.Second)
	}
	require.Zero(h, h.state().dead)
	require.NoError(h, w.report(w.claim(), "", true))
}

func fault33OtherLeaves(h *house) {
	w1, m := h.worker("worker-1", 1), h.manager("manager-1")
	w2 := h.worker("worker-2", 1)
	m.issue(toDig("site"), 0)
	i := w1.claim()
	require.NoError(h, w1.task.Release(h.Context(), i, "no shovel"))
	h.pass(backoff)
	require.NoError(h, m.task.Unstick(h.Context(), dig))
	require.False(h, h.onlyTask().held, "worker-2 could take it: it is left alone")
	w2.leave()
	_, ok := w1.claims()
	require.False(h, ok)
	require.NoError(h, m.task.Unstick(h.Context(), dig))
	require.Contains(h, h.onlyTask().State, "every worker gave it back")
	again := w1.claimAfterBackoff()
	require.EqualValues(h, 1, again.Attempts, "only attempts lead to the dead letters")
}

func longReason(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	big := toDig("site")
	big.Data = []byte(`"` + strings.Repeat("<", 80_000) + `"`) // 480 kB as JSON has it
	m.issue(big, 0)
	for range maxAttempts + 1 {
		i := w.claim()
		reason := "line\nline\x00" + strings.Repeat("é<", 100_000)
		require.NoError(h, w.task.Release(h.Context(), i, reason))
		h.pass(backoff)
	}
	require.Equal(h, 1, h.state().dead)
	letters, err := h.admin.Space(task.Dead).QueryAll(h.Context(), task.AnyDead(dig))
	require.NoError(h, err)
	require.Less(h, len(letters[0].Str(4)), 1000)
	require.NotContains(h, letters[0].Str(4), "\n")

	m.ingest() // its failure
	big.Data = []byte(`"` + strings.Repeat("<", 90_000) + `"`)
	_, err = m.work.Issue(h.Context(), m.look(), big, 0)
	require.ErrorIs(h, err, fault.ErrTooLarge)
}

func gaveBackIsOver(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site"), 0)
	i := w.claim()
	require.NoError(h, w.task.HandBack(h.Context(), i))
	for name, verb := range map[string]func() error{
		"extend":    func() error { return w.task.Extend(h.Context(), i) },
		"release":   func() error { return w.task.Release(h.Context(), i, "") },
		"hand back": func() error { return w.task.HandBack(h.Context(), i) },
		"resolve":   func() error { return w.report(i, "", true) },
	} {
		require.ErrorIs(h, verb(), fault.ErrStaleToken, name)
	}
	m.ingest() // the late final
	require.Zero(h, h.total(lease.Revoked), "the lease is the next one's")
	require.NoError(h, w.report(w.claim(), "", true))
	m.ingest()
	require.Equal(h, 1, h.total(lease.Revoked))
	_, err := w.repo.Call(h.Context(), space.OpID{}, "task.extend", nil)
	require.ErrorIs(h, err, fault.ErrInvalid)
}
