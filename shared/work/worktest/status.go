package worktest

import (
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

var statusScenarios = []scenario{
	{"StatusIsNeverMissing", statusIsNeverMissing},
	{"ABeatThatChangesNothingWritesNothing", idleBeat},
	{"WhatIsNoLongerServedGoes", servedNoLonger},
	{"ClosingTakesTheStatusAtOnce", closingTakesStatus},
	{"ServesGoesBeforeTheHoldEnds", servesGoesFirst},
	{"ABeatThatIsMalformedIsRefused", malformedBeat},
}

func stateOf(id string) tuple.Template { return tuple.Match(id, tuple.AnyString, tuple.AnyString) }

func statusIsNeverMissing(h *house) {
	w := h.worker("worker-1", 1)
	sub, err := h.admin.Space(status.Space).Notify(h.Context(), stateOf("worker-1"))
	require.NoError(h, err)
	for _, s := range []string{"Working on: dig t1", "idle, last task: dig t1", "Working on: dig t2"} {
		h.pass(time.Minute)
		w.heart.Set(s)
		h.pass(0)
		t, ok, err := h.admin.Space(status.Space).QueryP(h.Context(), stateOf("worker-1"))
		require.NoError(h, err)
		require.True(h, ok)
		require.Equal(h, tuple.New("worker-1", s, time.Now().UTC().Format(time.RFC3339)), t)
	}
	events, missed, err := sub.Next(h.Context())
	require.NoError(h, err)
	require.Zero(h, missed)
	require.Len(h, events, 3)
	for _, e := range events {
		require.Equal(h, space.Replace, e.Change)
	}
}

func idleBeat(h *house) {
	h.worker("worker-1", 1)
	h.mu.Lock()
	traced, records := len(h.events), len(h.records)
	h.mu.Unlock()
	h.pass(time.Minute)
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Len(h, h.events, traced)
	require.Len(h, h.records, records)
}

func servedNoLonger(h *house) {
	w := h.actor("worker-1", map[string]int{dig: 2, fill: 1})
	require.Equal(h, 1, h.count(status.Space, status.AnyServing(dig)))
	w.silence()
	require.NoError(h, status.NewHeart(w.repo, beat, map[string]int{fill: 1}).Beat(h.Context()))
	require.Equal(h, 0, h.count(status.Space, status.AnyServing(dig)))
	require.Equal(h, 1, h.count(status.Space, status.AnyServing(fill)))
}

func closingTakesStatus(h *house) {
	h.worker("worker-1", 1).leave()
	require.Zero(h, h.count(status.Space, stateOf("worker-1")))
	require.Zero(h, h.count(status.Space, status.AnyServing(dig)))
}

func servesGoesFirst(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site"), 0)
	w.claim()
	w.die()
	h.mu.Lock()
	defer h.mu.Unlock()
	served, claimed := 0, 0
	for n, e := range h.events {
		switch {
		case e.Space == status.Space && e.Operation == string(space.Take) && served == 0:
			served = n
		case e.Space == lease.Space && e.Operation == string(space.Take):
			claimed = n
			require.Equal(h, "task.timeout", e.Procedure)
		}
	}
	require.Positive(h, served)
	require.Greater(h, claimed, served)
}

func malformedBeat(h *house) {
	w := h.worker("worker-1", 1)
	for _, args := range []tuple.Tuple{
		nil, tuple.New("idle"), tuple.New(int64(1), "now"), tuple.New("idle", "now", "dig"),
		tuple.New("idle", "now", tuple.New("dig", int64(-1))), tuple.New("idle", "now", tuple.New("a b", int64(1))),
		tuple.New("idle", "now", tuple.New("dig", int64(status.MaxSlots+1))), tuple.New("idle", "now", tuple.New("dig", 1)),
	} {
		_, err := w.repo.Call(h.Context(), space.OpID{}, "status.beat", args)
		require.ErrorIs(h, err, fault.ErrInvalid, args)
	}
	require.Equal(h, 1, h.count(status.Space, status.AnyServing(dig)))
	require.Equal(h, 1, h.count(status.Space, stateOf("worker-1")))
	require.Zero(h, h.count(task.Space, task.Any()))
}
