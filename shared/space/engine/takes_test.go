package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// scripted is the procedure that answers gets from the space s. Each call puts a tuple into made, and
// returns the next of the answers: a tuple, an error, or nothing.
type scripted struct {
	answers []any
	calls   int
	waits   bool // whether the latest get may wait
}

func (p *scripted) take(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	_, waits, err := space.ParseTake(args)
	if err != nil {
		return nil, err
	}
	answer := p.answers[p.calls]
	p.calls, p.waits = p.calls+1, waits
	if _, err := tx.Put("made", tuple.New(int64(p.calls)), space.PutOptions{}); err != nil {
		return nil, err
	}
	switch answer := answer.(type) {
	case error:
		return nil, answer
	case tuple.Tuple:
		return answer, nil
	}
	return nil, nil
}

// takingBy returns an engine with a session and the spaces s and made. The procedure answers gets from s,
// which has a tuple.
func takingBy(t *testing.T, procedure space.Procedure) (*Engine, *session) {
	t.Helper()
	e, err := Open(t.Context(), Config{Journal: &journal.Memory{}, Procedures: space.Procedures{"take": procedure}, Takes: map[string]string{"s": "take"}})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), "test-1", 0)
	require.NoError(t, err)
	for _, name := range []string{"s", "made"} {
		require.NoError(t, r.Create(t.Context(), name, space.Options{}))
	}
	require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("in s"), 0))
	return e, e.state.sessions["test-1"]
}

func TestAProcedureAnswersTheGetsFromItsSpace(t *testing.T) {
	t.Parallel()
	one, several, nothing := tuple.New("one"), tuple.New("one", int64(2)), tuple.Tuple{}
	for name, c := range map[string]struct {
		verb    space.Verb
		answers []any
		want    tuple.Tuple
		err     error
		made    int
	}{
		"a getP":                        {space.VerbGetP, []any{several}, several, nil, 1},
		"a tuple of one field":          {space.VerbGetP, []any{one}, one, nil, 1},
		"nothing":                       {space.VerbGetP, []any{nil, one}, nil, nil, 1},
		"a tuple without fields":        {space.VerbGetP, []any{nothing, one}, nil, nil, 1},
		"an error":                      {space.VerbGetP, []any{fault.ErrConflict}, nil, fault.ErrConflict, 0},
		"a get":                         {space.VerbGet, []any{one}, one, nil, 1},
		"a get that first changes only": {space.VerbGet, []any{nil, nil, one}, one, nil, 3},
		"a get that fails later":        {space.VerbGet, []any{nil, fault.ErrConflict}, nil, fault.ErrConflict, 1},
		"a getAll":                      {space.VerbGetAll, nil, nil, fault.ErrInvalid, 0},
		"a getUpTo":                     {space.VerbGetUpTo, nil, nil, fault.ErrInvalid, 0},
		"a query":                       {space.VerbQuery, nil, tuple.New("in s"), nil, 0},
		"a queryP":                      {space.VerbQueryP, nil, tuple.New("in s"), nil, 0},
	} {
		p := &scripted{answers: c.answers}
		e, s := takingBy(t, p.take)
		reply, err := s.Do(t.Context(), space.Request{Verb: c.verb, Space: "s", Template: tuple.Match(tuple.AnyString), Limit: 1})
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, len(c.want) > 0, reply.Found, name)
		require.Equal(t, len(c.want), len(reply.Tuple), name)
		require.True(t, c.want.Equal(reply.Tuple), name)
		require.Equal(t, c.made, e.state.spaces["made"].size, name)
		require.Equal(t, p.calls > 0 && c.verb == space.VerbGet, p.waits, name)
		require.Equal(t, 1, e.state.spaces["s"].size, name)
	}
	p := &scripted{}
	_, s := takingBy(t, p.take)
	_, err := s.Do(t.Context(), space.Request{Verb: space.VerbGetP, Space: "made", Template: tuple.Match(tuple.AnyString)})
	require.NoError(t, err)
	require.Zero(t, p.calls, "of another space")
}

// If the procedure of a get is called again, its last answer counts, and a repetition gets that one.
func TestARepeatedGetHasTheAnswerThatTheProcedureGaveLast(t *testing.T) {
	t.Parallel()
	for verb, want := range map[space.Verb]tuple.Tuple{space.VerbGet: tuple.New("one"), space.VerbGetP: nil} {
		p := &scripted{answers: []any{nil, tuple.New("one"), tuple.New("two")}}
		_, s := takingBy(t, p.take)
		r := space.Request{Verb: verb, Space: "s", Template: tuple.Match(tuple.AnyString), Op: space.OpID{Session: s.id, Seq: 1}}
		var calls int
		for range 2 {
			reply, err := s.Do(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, want, reply.Tuple, verb)
			require.Equal(t, want != nil, reply.Found, verb)
			if calls == 0 {
				calls = p.calls
			}
			require.Equal(t, calls, p.calls, "%s: a repetition is not executed", verb)
		}
	}
}

func TestAGetWaitsUntilItsProcedureHasAnAnswer(t *testing.T) {
	t.Parallel()
	calls := 0
	e, s := takingBy(t, func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
		calls++
		x, ok := tx.Find("made", tuple.Match(tuple.AnyInt64), nil)
		switch {
		case !ok:
			return nil, tx.Wait(space.Awaited{Space: "made", Template: tuple.Match(tuple.AnyInt64)})
		case x.Tuple.Int64(0) < 2: // it changes something and finds nothing
			return nil, tx.Take(x.Ref)
		}
		return x.Tuple, tx.Take(x.Ref)
	})
	waits := s.Start(space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match(tuple.AnyString)})
	require.True(t, waits.Waits())
	require.Equal(t, 1, calls)
	put := func(n int64) {
		_, err := s.Do(t.Context(), space.Request{Verb: space.VerbPutP, Space: "made", Tuple: tuple.New(n)})
		require.NoError(t, err)
		require.Zero(t, e.state.spaces["made"].size)
	}
	put(1)
	require.Equal(t, 1, e.Stats().Waiters, "it goes on waiting")
	require.Equal(t, 3, calls, "it is called again after it found nothing")
	put(2)
	reply, err := waits.Finish(t.Context())
	require.NoError(t, err)
	require.Equal(t, space.Reply{Found: true, Tuple: tuple.New(int64(2))}, reply)
	require.Zero(t, e.Stats().Waiters)
}
