package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/process/histogram"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// failing returns an engine whose next commit takes a second and fails.
func failing(t *testing.T) (*Engine, space.Repository, *journal.Memory) {
	t.Helper()
	e, r := opened(t, nil)
	m := e.journal.(*journal.Memory)
	m.Before = func(context.Context, []journal.Record) error {
		m.Before = nil
		time.Sleep(time.Second)
		return errCommit
	}
	return e, r, m
}

// A call could wait for ever, and a subscriber too, in a space that a failed commit has not made.
func TestCallsAndSubscriptionsInASpaceThatAFailedCommitHasNotMadeEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, r, _ := failing(t)
		created := make(chan error, 1)
		go func() { created <- r.Create(t.Context(), "lost", space.Options{Capacity: 1}) }()
		synctest.Wait()
		s := e.state.sessions["test-1"]
		inLost, err := s.subscribe(space.Request{Space: "lost"})
		require.NoError(t, err)
		inS, err := s.subscribe(space.Request{Space: "s"})
		require.NoError(t, err)
		got, put, elsewhere := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { _, err := r.Space("lost").Get(t.Context(), tuple.Match("never")); got <- err }()
		go func() { _, err := r.Space("s").Get(context.Background(), tuple.Match("a")); elsewhere <- err }()
		synctest.Wait()
		go func() { _ = r.Space("lost").PutP(t.Context(), tuple.New("full"), 0) }()
		synctest.Wait()
		go func() { put <- r.Space("lost").Put(t.Context(), tuple.New("b"), 0) }()
		synctest.Wait()
		require.Equal(t, 3, e.Stats().Waiters)
		require.ErrorIs(t, <-created, fault.ErrUnavailable)
		require.ErrorIs(t, <-got, fault.ErrNotFound)
		require.ErrorIs(t, <-put, fault.ErrNotFound)
		require.Equal(t, 1, e.Stats().Waiters, "the one in a space that is there")

		_, err = s.nextEvents(t.Context(), inLost.Subscription)
		require.ErrorIs(t, err, fault.ErrClosed)
		missed, err := s.nextEvents(t.Context(), inS.Subscription)
		require.NoError(t, err)
		require.Equal(t, 1, missed.Missed)
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0))
		require.NoError(t, <-elsewhere)
		events, err := s.nextEvents(t.Context(), inS.Subscription)
		require.NoError(t, err)
		require.Len(t, events.Events, 2, "the put, and the take of it")
	})
}

// A session whose opening was lost must not go on without a record of it.
func TestASessionWhoseOpeningWasLostEndsWithItsCallsAndSubscriptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, r, _ := failing(t)
		e.state.memory.Budget = memory.New(1 << 30)
		before := e.Stats().Memory
		s, a := e.attach(Opening{ID: "lost", TTL: time.Hour})
		require.NoError(t, a.err)
		sub, err := s.subscribe(space.Request{Space: "s"})
		require.NoError(t, err)
		_, w := e.start(s, space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match("a")})
		require.NotNil(t, w)
		_, err = e.awaitDurable(t.Context(), a)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.ErrorIs(t, w.answer.err, fault.ErrClosed)
		require.ErrorContains(t, w.answer.err, "lost")
		require.ErrorIs(t, s.Err(), fault.ErrClosed)
		_, err = s.nextEvents(t.Context(), sub.Subscription)
		require.ErrorIs(t, err, fault.ErrClosed)
		require.Nil(t, e.state.sessions["lost"])
		require.Empty(t, e.state.spaces["s"].subscribers)
		require.Zero(t, e.Stats().Waiters)
		require.Equal(t, before, e.Stats().Memory)
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0))
		require.Equal(t, 1, tuples(e), "no call of the lost session takes it")
	})
}

// A duration that began before the load would belong to another tuple.
func TestDurationsThatGoOnAreForgottenByAReload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := histogram.New(time.Second)
		m := &journal.Memory{}
		e, err := Open(t.Context(), Config{Journal: m, Measures: []Measure{{Space: "s", Name: "a", Durations: h}}})
		require.NoError(t, err)
		r, err := e.Session(t.Context(), "test-1", 0)
		require.NoError(t, err)
		require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
		take := func() {
			_, ok, err := r.Space("s").GetP(t.Context(), tuple.Match("a"))
			require.NoError(t, err)
			require.True(t, ok)
		}
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New(), 0)) // it has no name
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0))
		m.Interfere()
		require.ErrorIs(t, r.Space("s").Put(t.Context(), tuple.New("b"), 0), fault.ErrUnavailable)
		take()
		require.Zero(t, h.Snapshot().Count)
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0))
		take()
		require.EqualValues(t, 1, h.Snapshot().Count)
	})
}

// The journal may hold tuples of sessions that it does not hold, if a process ended in between.
func TestTuplesOfSessionsThatAreGoneAreReleasedByAStart(t *testing.T) {
	t.Parallel()
	tied := func(ref int64, owner string, hold *journal.Hold) *journal.Entry {
		return &journal.Entry{Ref: ref, Place: ref, Space: "s", Tuple: tuple.New("a", ref), Owner: owner, Hold: hold}
	}
	m := &journal.Memory{}
	require.NoError(t, m.Commit(t.Context(), 0, []journal.Record{{Clock: time.Hour, Facts: []journal.Fact{
		&journal.Space{Name: "s", Options: space.Options{Kind: space.Sequential, Capacity: 100, Overflow: space.Block}},
		&journal.Session{ID: "back", TTL: time.Hour}, &journal.Session{ID: "ended"},
		tied(1, "", nil),
		tied(2, "gone", nil), tied(3, "back", nil), tied(4, "ended", nil),
		tied(5, "", &journal.Hold{Session: "gone", Expiry: "expire"}), tied(6, "", &journal.Hold{Session: "back"}),
		tied(7, "", &journal.Hold{Session: "ended", Expiry: "expire"}), tied(8, "", &journal.Hold{}),
		tied(9, "", &journal.Hold{Session: "gone", Op: 1}), tied(10, "gone", &journal.Hold{Session: "back"}),
		tied(11, "", &journal.Hold{Session: "gone", Expiry: "expire"}),
	}}}))
	var causes []string
	e, err := Open(t.Context(), Config{Journal: m, Memory: memory.New(1 << 30), Procedures: space.Procedures{
		"expire": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			_, x, err := space.Expiring(tx, args)
			causes = append(causes, x.Holder+" "+string(x.Cause))
			if x.Ref == 5 { // it takes the last one too
				return nil, tx.Take(11)
			}
			return nil, err
		},
	}})
	require.NoError(t, err)
	got := map[int64]string{}
	for ref, x := range e.state.entries {
		got[ref] = "visible"
		if x.Hold != nil {
			got[ref] = "held by " + x.Hold.Session
		}
	}
	require.Equal(t, map[int64]string{1: "visible", 3: "visible", 5: "visible", 6: "held by back", 7: "visible", 8: "held by ", 9: "visible"}, got)
	require.Equal(t, []string{"ended closed", "gone lost"}, causes)
	require.Len(t, e.state.sessions, 1)
	require.GreaterOrEqual(t, e.state.now(), time.Hour)
	require.EqualValues(t, 14, e.state.nextNumber(), "behind those of the tuples and of the two sessions")
}
