package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// takerOf opens a session at an engine with a budget and a space s with n tuples.
func takerOf(t *testing.T, n int) (*Engine, *session) {
	t.Helper()
	e, err := Open(t.Context(), Config{Journal: &journal.Memory{}, Memory: memory.New(1 << 30)})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), "test-1", time.Hour)
	require.NoError(t, err)
	require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
	for i := range n {
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a", int64(i)), 0))
	}
	return e, e.state.sessions["test-1"]
}

// ended ends gets.
func ended(s *session, v space.Verb, numbers ...uint64) error {
	_, err := s.Do(context.Background(), space.Request{Verb: v, Op: space.OpID{Session: s.id, Seq: numbers[0]}, Acknowledged: numbers[1:]})
	return err
}

// got takes a tuple with a get of that number.
func got(t *testing.T, s *session, number uint64) tuple.Tuple {
	t.Helper()
	reply, err := s.Do(t.Context(), space.Request{Verb: space.VerbGetP, Space: "s", Template: tuple.Match("a", tuple.AnyInt64), Ack: true, Op: space.OpID{Session: s.id, Seq: number}})
	require.NoError(t, err)
	return reply.Tuple
}

// A worker takes and acknowledges for weeks in one session.
func TestNothingIsLeftOfAGetThatWasAcknowledgedOrTakenBack(t *testing.T) {
	t.Parallel()
	e, s := takerOf(t, 4)
	got(t, s, 1) // the first index
	require.NoError(t, ended(s, space.VerbBack, 1))
	before := e.Stats()
	for n, verb := range []space.Verb{space.VerbBack, space.VerbAck, space.VerbAck} {
		number := uint64(n + 2)
		require.NotNil(t, got(t, s, number))
		require.Equal(t, 1, e.Stats().Held)
		require.Len(t, s.holds, 1)
		require.Equal(t, map[uint64][]int64{number: s.taken[number]}, s.taken)
		require.NoError(t, ended(s, verb, number))
		require.Empty(t, s.taken)
		require.Empty(t, s.holds)
		require.Zero(t, e.Stats().Held)
	}
	after := e.Stats()
	x := entryCost + tupleCost(tuple.New("a", int64(1))) + indexedBytes
	require.Equal(t, before.Memory-2*x+3*answerCost, after.Memory, "two tuples are gone, and three answers without tuples are kept")
	require.Equal(t, 2, tuples(e))

	operations := e.Stats().Operations
	for _, verb := range []space.Verb{space.VerbAck, space.VerbBack} {
		require.NoError(t, ended(s, verb, 3, 77), "there is nothing to end")
	}
	require.Equal(t, operations, e.Stats().Operations)
	require.Zero(t, e.Stats().Pending)
}

// The refs of a get may be of tuples that a failed commit brought back, or that another get took.
func TestTheEndOfAGetLeavesTuplesThatItHasNotTaken(t *testing.T) {
	t.Parallel()
	for _, verb := range []space.Verb{space.VerbAck, space.VerbBack} {
		e, s := takerOf(t, 3)
		require.Equal(t, tuple.New("a", int64(0)), got(t, s, 1))
		require.Equal(t, tuple.New("a", int64(1)), got(t, s, 2))
		first, second := s.taken[1][0], s.taken[2][0]
		var third int64
		for ref := range e.state.entries {
			third = max(third, ref)
		}
		s.taken[1] = []int64{999, second, third, first, first}
		require.NoError(t, ended(s, verb, 1))
		require.True(t, isTaken(e.state.entries[second]))
		require.Nil(t, e.state.entries[third].Hold)
		require.Equal(t, verb == space.VerbBack, e.state.entries[first] != nil)
		require.Equal(t, map[uint64][]int64{2: {second}}, s.taken)
	}
}

func TestOnlyTakingBackEndsAGetThatWaits(t *testing.T) {
	t.Parallel()
	e, s := takerOf(t, 0)
	op := space.OpID{Session: s.id, Seq: 1}
	_, w := e.start(s, space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match("a", tuple.AnyInt64), Ack: true, Op: op})
	require.NoError(t, ended(s, space.VerbAck, 1))
	require.Equal(t, 1, e.Stats().Waiters)
	require.NoError(t, ended(s, space.VerbBack, 2, 1), "it is not the first of several")
	require.Equal(t, 1, e.Stats().Waiters)
	require.NoError(t, ended(s, space.VerbBack, 1))
	require.ErrorIs(t, w.answer.err, context.Canceled)
	require.Zero(t, e.Stats().Waiters)

	_, err := s.close(t.Context())
	require.NoError(t, err)
	for _, verb := range []space.Verb{space.VerbAck, space.VerbBack} {
		require.ErrorIs(t, ended(s, verb, 1), fault.ErrClosed)
	}
}
