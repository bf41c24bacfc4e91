package worktest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
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
	{"CostsAddUpAndOutliveWhoToldThem", costsAddUp},
	{"ACostThatIsMalformedIsRefused", malformedCost},
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

func costsAddUp(h *house) {
	one := models.Cost{Action: dig, How: "spade", Tasks: 1, Wall: 1.5, CPU: .25, Windows: 7}
	w := h.worker("worker-1", 1)
	require.NoError(h, status.Spend(h.Context(), w.repo, one))
	require.NoError(h, status.Spend(h.Context(), h.worker("worker-2", 1).repo, one))
	require.NoError(h, status.Spend(h.Context(), w.repo, models.Cost{Action: fill, How: "spade", Tasks: 1, Windows: math.MaxInt64}))
	require.NoError(h, status.Spend(h.Context(), w.repo, models.Cost{Action: fill, How: "spade", Tasks: 1, Windows: 1}))
	w.leave()
	got, err := status.Costs(h.Context(), h.admin)
	require.NoError(h, err)
	require.ElementsMatch(h, []models.Cost{
		{Action: dig, How: "spade", Tasks: 2, Wall: 3, CPU: .5, Windows: 14}, {Action: fill, How: "spade", Tasks: 2, Windows: math.MaxInt64},
	}, got)
}

func malformedCost(h *house) {
	w := h.worker("worker-1", 1)
	none := tuple.New(dig, "spade", int64(1), int64(1), int64(1), int64(1))
	for i, wrong := range []any{"no id", "", int64(-1), int64(-1), "1", -1} {
		args := slices.Clone(none)
		args[i] = wrong
		_, err := w.repo.Call(h.Context(), space.OpID{}, "status.spend", args)
		require.ErrorIs(h, err, fault.ErrInvalid, args)
	}
	for n := range 65 {
		err := status.Spend(h.Context(), w.repo, models.Cost{Action: dig, How: fmt.Sprint("tool-", n), Tasks: 1})
		if n < 64 {
			require.NoError(h, err)
		} else {
			require.ErrorIs(h, err, fault.ErrOverloaded)
		}
	}
	require.NoError(h, status.Spend(h.Context(), w.repo, models.Cost{Action: dig, How: "tool-0", Tasks: 1}), "a known one has room")
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
