package worktest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
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

// statusIsNeverMissing checks that a new state replaces the old one in place, so that no reader
// sees a session without a state.
func statusIsNeverMissing(f *fixture) {
	w := f.worker("worker-1", 1)
	sub, err := f.admin.Space(status.Space).Notify(f.Context(), status.StateOf("worker-1"))
	require.NoError(f, err)
	for _, s := range []string{"Working on: dig t1", "idle, last task: dig t1", "Working on: dig t2"} {
		f.pass(time.Minute)
		w.heartbeat.SetState(s)
		f.pass(0)
		t, ok, err := f.admin.Space(status.Space).QueryP(f.Context(), status.StateOf("worker-1"))
		require.NoError(f, err)
		require.True(f, ok)
		require.Equal(f, tuple.New("worker-1", s, time.Now().UTC().Format(time.RFC3339)), t)
	}
	events, missed, err := sub.Next(f.Context())
	require.NoError(f, err)
	require.Zero(f, missed)
	require.Len(f, events, 3)
	for _, e := range events {
		require.Equal(f, space.Replace, e.Change)
	}
}

// idleBeat checks that heartbeats without a change write nothing, neither to the journal nor to
// the trace.
func idleBeat(f *fixture) {
	f.worker("worker-1", 1)
	f.mu.Lock()
	traced, records := len(f.events), len(f.records)
	f.mu.Unlock()
	f.pass(time.Minute)
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Len(f, f.events, traced)
	require.Len(f, f.records, records)
}

// servedNoLonger checks that a heartbeat removes the actions that the session does not serve any
// more.
func servedNoLonger(f *fixture) {
	w := f.session("worker-1", map[string]int{dig: 2, fill: 1})
	require.Equal(f, 1, f.count(status.Space, status.AnyServing(dig)))
	w.stopHeartbeat()
	require.NoError(f, status.NewHeartbeat(w.repo, beat, map[string]int{fill: 1}).Beat(f.Context()))
	require.Equal(f, 0, f.count(status.Space, status.AnyServing(dig)))
	require.Equal(f, 1, f.count(status.Space, status.AnyServing(fill)))
}

// closingTakesStatus checks that closing a session removes its state and its actions at once.
func closingTakesStatus(f *fixture) {
	f.worker("worker-1", 1).closeInOrder()
	require.Zero(f, f.count(status.Space, status.StateOf("worker-1")))
	require.Zero(f, f.count(status.Space, status.AnyServing(dig)))
}

// servesGoesFirst checks that the served actions of a lost session are removed before its tasks
// come back.
func servesGoesFirst(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site"), 0)
	w.claim()
	w.kill()
	f.mu.Lock()
	defer f.mu.Unlock()
	served, claimed := 0, 0
	for n, e := range f.events {
		switch {
		case e.Space == status.Space && e.Operation == string(space.Take) && served == 0:
			served = n
		case e.Space == lease.Space && e.Operation == string(space.Take):
			claimed = n
			require.Equal(f, "task.timeout", e.Procedure)
		}
	}
	require.Positive(f, served)
	require.Greater(f, claimed, served)
}

// costsAddUp checks that costs of an action and way are added without overflow (a sum stays at
// the largest number), and outlive the sessions that told them.
func costsAddUp(f *fixture) {
	one := models.Cost{Action: dig, How: "spade", Tasks: 1, Wall: 1.5, CPU: .25, Windows: 7}
	w := f.worker("worker-1", 1)
	require.NoError(f, status.Spend(f.Context(), w.repo, one))
	require.NoError(f, status.Spend(f.Context(), f.worker("worker-2", 1).repo, one))
	require.NoError(f, status.Spend(f.Context(), w.repo, models.Cost{Action: dig, How: "shovel", Tasks: 1, Windows: math.MaxInt64}))
	require.NoError(f, status.Spend(f.Context(), w.repo, models.Cost{Action: dig, How: "shovel", Tasks: 1, Windows: 1}))
	w.closeInOrder()
	got, err := status.Costs(f.Context(), f.admin)
	require.NoError(f, err)
	require.ElementsMatch(f, []models.Cost{
		{Action: dig, How: "spade", Tasks: 2, Wall: 3, CPU: .5, Windows: 14}, {Action: dig, How: "shovel", Tasks: 2, Windows: math.MaxInt64},
	}, got)
}

// malformedCost checks which costs fail with fault.ErrInvalid, that a 65th way fails with fault.ErrOverloaded, and
// that costs of a known way can still be added then.
func malformedCost(f *fixture) {
	w := f.worker("worker-1", 1)
	none := tuple.New(dig, "spade", int64(1), int64(1), int64(1), int64(1))
	for i, wrong := range []any{"no id", "", int64(-1), int64(-1), "1", -1} {
		args := slices.Clone(none)
		args[i] = wrong
		_, err := w.repo.Call(f.Context(), space.OpID{}, "status.spend", args)
		require.ErrorIs(f, err, fault.ErrInvalid, args)
	}
	for n := range 65 {
		err := status.Spend(f.Context(), w.repo, models.Cost{Action: dig, How: fmt.Sprint("tool-", n), Tasks: 1})
		if n < 64 {
			require.NoError(f, err)
		} else {
			require.ErrorIs(f, err, fault.ErrOverloaded)
		}
	}
	require.NoError(f, status.Spend(f.Context(), w.repo, models.Cost{Action: dig, How: "tool-0", Tasks: 1}), "a known one is added to")
}

// malformedBeat checks that a malformed heartbeat fails with fault.ErrInvalid and changes nothing.
func malformedBeat(f *fixture) {
	w := f.worker("worker-1", 1)
	for _, args := range []tuple.Tuple{
		nil, tuple.New("idle"), tuple.New(int64(1), "now"), tuple.New("idle", "now", "dig"),
		tuple.New("idle", "now", tuple.New("dig", int64(-1))), tuple.New("idle", "now", tuple.New("a b", int64(1))),
		tuple.New("idle", "now", tuple.New("dig", int64(status.MaxSlots+1))), tuple.New("idle", "now", tuple.New("dig", 1)),
	} {
		_, err := w.repo.Call(f.Context(), space.OpID{}, "status.beat", args)
		require.ErrorIs(f, err, fault.ErrInvalid, args)
	}
	require.Equal(f, 1, f.count(status.Space, status.AnyServing(dig)))
	require.Equal(f, 1, f.count(status.Space, status.StateOf("worker-1")))
	require.Zero(f, f.count(task.Space, task.Any()))
}
