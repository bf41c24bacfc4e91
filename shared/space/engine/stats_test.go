package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

func TestACommitIsCountedUnderTheLowestBoundThatItDoesNotExceed(t *testing.T) {
	t.Parallel()
	for i, bound := range CommitBounds {
		var c counters
		c.countCommit(3, bound)
		c.countCommit(4, bound+1)
		require.EqualValues(t, 2, c.commits.Load())
		require.EqualValues(t, 7, c.records.Load())
		require.EqualValues(t, 2*bound+1, c.commitTime.Load())
		for n := range c.commitTimes {
			want := 0
			if n == i || n == i+1 {
				want = 1
			}
			require.EqualValues(t, want, c.commitTimes[n].Load(), "%s, bound %d", bound, n)
		}
	}
}

func TestStatsAndHealthTellWhatTheEngineDoesAndWhetherItCan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &fullJournal{}
		e, err := Open(t.Context(), Config{Journal: j, Memory: memory.New(1 << 20)})
		require.NoError(t, err)
		r, err := e.Session(t.Context(), "test-1", 0)
		require.NoError(t, err)
		require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
		before := e.Stats()
		require.Equal(t, Stats{Sessions: 1, Operations: 2, Commits: 2, Records: 2, CommitTime: before.CommitTime, CommitTimes: before.CommitTimes,
			Memory: before.Memory, MemoryLimit: 1 << 20}, before)
		require.EqualValues(t, 2, before.CommitTimes[0], "they took no time")
		j.Before = func(context.Context, []journal.Record) error { time.Sleep(3 * time.Millisecond); return nil }
		go func() { _ = r.Space("s").Put(t.Context(), tuple.New("a"), 0) }()
		synctest.Wait()
		go func() { _ = r.Space("s").Put(t.Context(), tuple.New("b"), 0) }()
		go func() { _ = r.Space("s").Put(t.Context(), tuple.New("c"), 0) }()
		synctest.Wait()
		require.Equal(t, 2, e.Stats().Pending)
		time.Sleep(time.Second)
		after := e.Stats()
		require.Zero(t, after.Pending)
		require.EqualValues(t, 4, after.Commits)
		require.EqualValues(t, 5, after.Records)
		require.Equal(t, 6*time.Millisecond, after.CommitTime)
		require.EqualValues(t, 2, after.CommitTimes[4])
		require.False(t, after.Full)
		require.NoError(t, e.Health())

		_, _, err = r.Space("nowhere").GetP(t.Context(), tuple.Match("a"))
		require.ErrorIs(t, err, fault.ErrNotFound)
		require.Zero(t, e.Stats().Refused, "it counts what is refused for lack of something")
		j.full = true
		require.ErrorIs(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0), fault.ErrOverloaded)
		require.EqualValues(t, 1, e.Stats().Refused)
		require.True(t, e.Stats().Full)
		require.ErrorIs(t, e.Health(), journal.ErrFull)
		j.full = false
		e.state.memory.Add(1 << 20)
		require.True(t, e.Stats().Full)
		require.ErrorIs(t, e.Health(), memory.ErrFull)
	})
}

// Administrators use these while the coordinator shuts down.
func TestAnEngineThatHasStoppedRefusesEachCall(t *testing.T) {
	t.Parallel()
	e, r := opened(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Run(ctx))
	_, err := e.DeleteSpace(t.Context(), "s", true)
	require.ErrorIs(t, err, fault.ErrClosed)
	require.ErrorIs(t, e.EndSession(t.Context(), "test-1"), fault.ErrClosed)
	_, err = e.Session(t.Context(), "test-2", 0)
	require.ErrorIs(t, err, fault.ErrClosed)
	require.ErrorIs(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0), fault.ErrClosed)
	require.ErrorIs(t, ended(e.state.sessions["test-1"], space.VerbAck, 1), fault.ErrClosed)
	_, err = r.Space("s").Notify(t.Context(), nil)
	require.ErrorIs(t, err, fault.ErrClosed)
	require.NoError(t, r.Close(t.Context()))
	require.ErrorIs(t, e.Health(), fault.ErrClosed)
	require.ErrorIs(t, e.Run(t.Context()), fault.ErrClosed)
}

// A batch that was large once would keep its memory for ever.
func TestTheMemoryOfALargeBatchOrTransactionIsNotKept(t *testing.T) {
	t.Parallel()
	for n, kept := range map[int]bool{1: true, maxKept: true, maxKept + 1: false} {
		for _, b := range []batch{
			{effects: make([]effects, 1, n)}, {steps: make([]step, 1, n)}, {answered: make([]space.OpID, 1, n)},
		} {
			b.size, b.irreversible = 7, true
			again := b.emptied()
			require.Equal(t, kept, cap(again.effects)+cap(again.steps)+cap(again.answered) == n, "%d", n)
			require.Zero(t, len(again.effects)+len(again.steps)+len(again.answered))
			require.Zero(t, again.size)
			require.False(t, again.irreversible)
		}
		e, _ := opened(t, nil)
		e.state.tx.steps = make([]step, 1, n)
		e.state.tx.steps[0].change = space.Put
		used := e.state.tx.steps
		require.Equal(t, kept, cap(e.beginTransaction(nil).steps) == n, "%d", n)
		require.Zero(t, used[0], "entries that are gone would stay in memory")
	}
}
