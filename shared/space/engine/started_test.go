package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// A gate starts these in the goroutine that reads a connection, which must not wait.
func TestOnlyRequestsThatNeverWaitForTheDiskAreStarted(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	e.readers = space.Readers{"reader": latest}
	s := e.state.sessions["test-1"]
	for verb := space.Verb(0); verb <= space.VerbQueryUpTo+1; verb++ {
		want := false
		switch verb {
		case space.VerbPut, space.VerbPutP, space.VerbGet, space.VerbGetP, space.VerbQuery, space.VerbQueryP, space.VerbCount, space.VerbAck, space.VerbBack, space.VerbCall:
			want = true
		}
		require.Equal(t, want, s.CanStart(space.Request{Verb: verb}), "%s", verb)
	}
	require.True(t, s.CanStart(space.Request{Verb: space.VerbCall, Procedure: "procedure"}))
	require.False(t, s.CanStart(space.Request{Verb: space.VerbCall, Procedure: "reader"}), "it reads the disk")
}

func TestAStartedRequestTellsWhetherItWaitsAndWhatItHas(t *testing.T) {
	t.Parallel()
	e, r := opened(t, nil)
	s := e.state.sessions["test-1"]
	get := space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match(tuple.AnyString)}
	put := space.Request{Verb: space.VerbPut, Space: "s", Tuple: tuple.New("text")}

	malformed := s.Start(space.Request{Verb: space.VerbPut, Space: "s", Tuple: tuple.New(uint8(1))})
	require.False(t, malformed.Waits())
	require.True(t, malformed.Ready())
	_, err := malformed.Finish(t.Context())
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "put s: ")

	waits := s.Start(get)
	require.True(t, waits.Waits())
	require.False(t, waits.Ready())
	done := s.Start(put)
	require.False(t, done.Waits())
	require.True(t, done.Ready(), "a journal in memory needs no disk")
	require.Equal(t, tuple.Tuple(nil).Size(), done.Size(), "it has no tuple")
	reply, err := waits.Finish(t.Context())
	require.NoError(t, err)
	require.Equal(t, tuple.New("text"), reply.Tuple)

	require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("text"), 0))
	m := e.journal.(*journal.Memory)
	for _, slow := range []func(){func() { m.Before = noError }, func() { m.Before, m.After = nil, noError }} {
		slow()
		query := get
		query.Verb = space.VerbQuery
		require.True(t, s.Start(query).Ready(), "what it saw is durable")
		x := s.Start(get)
		require.False(t, x.Ready(), "it waits for the disk")
		require.Equal(t, tuple.New("text").Size(), x.Size())
		require.ErrorIs(t, x.answer.voidError(), fault.ErrUnavailable)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Start(query).Finish(over)
		require.ErrorIs(t, err, context.Canceled)
		_, err = x.Finish(over)
		require.NoError(t, err, "the tuple is the caller's")
		require.True(t, x.Ready())
		require.NoError(t, x.answer.voidError())
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("text"), 0))
	}
	cancelled, cancel := context.WithTimeout(t.Context(), time.Hour)
	get.Template = tuple.Match("never")
	waits = s.Start(get)
	cancel()
	_, err = waits.Finish(cancelled)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, e.Stats().Waiters)
}

func noError(context.Context, []journal.Record) error { return nil }

// One whose operation id is of another session, or missing where it is needed, would end or repeat
// what another request did.
func TestAnOperationIdIsOfItsSessionAndThereIfItIsNeeded(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	s := e.state.sessions["test-1"]
	none, mine, other := space.OpID{}, space.OpID{Session: "test-1", Seq: 1}, space.OpID{Session: "test-2", Seq: 1}
	for _, c := range []struct {
		verb space.Verb
		ack  bool
		op   space.OpID
		good bool
	}{
		{space.VerbGet, false, none, true}, {space.VerbGet, false, mine, true}, {space.VerbGet, false, other, false},
		{space.VerbGet, true, none, false}, {space.VerbGet, true, mine, true}, {space.VerbGet, true, other, false},
		{space.VerbGetUpTo, true, none, false}, {space.VerbQuery, true, none, true}, {space.VerbPut, true, none, true},
		{space.VerbAck, false, none, false}, {space.VerbAck, false, mine, true}, {space.VerbAck, true, other, false},
		{space.VerbBack, false, none, false}, {space.VerbBack, true, none, false}, {space.VerbBack, false, mine, true},
	} {
		err := s.validate(space.Request{Verb: c.verb, Ack: c.ack, Op: c.op, Limit: 1})
		if c.good {
			require.NoError(t, err, "%+v", c)
		} else {
			require.ErrorIs(t, err, fault.ErrInvalid, "%+v", c)
		}
	}
}

// The tuple was taken for the caller. If it got the context's error, the tuple would be lost.
func TestARequestThatIsServedWhenItsContextEndsHasItsAnswer(t *testing.T) {
	t.Parallel()
	e, r := opened(t, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // both are there, so that either may be seen first
		x := e.state.sessions["test-1"].Start(space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match("a")})
		require.True(t, x.Waits())
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0))
		reply, err := x.Finish(over)
		require.NoError(t, err)
		require.Equal(t, tuple.New("a"), reply.Tuple)
	}
	require.Zero(t, tuples(e))
	require.Zero(t, e.Stats().Waiters)
}

func TestARequestThatNeedsDoIsNotStarted(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	for _, verb := range []space.Verb{space.VerbNotify, space.VerbNext, space.VerbUnnotify, space.VerbReceive, space.VerbEnd} {
		_, err := e.state.sessions["test-1"].Start(space.Request{Verb: verb, Space: "s"}).Finish(t.Context())
		require.ErrorIs(t, err, fault.ErrInvalid, "%s", verb)
	}
	require.Empty(t, e.state.spaces["s"].subscribers)
	require.Len(t, e.state.sessions, 1)
}
