package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// owner opens an engine over a journal, with a session of that name in which the space s exists.
func owner(t *testing.T, j journal.Journal, name string) (*Engine, space.Repository) {
	t.Helper()
	e, err := Open(t.Context(), Config{Journal: j, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), name, time.Hour)
	require.NoError(t, err)
	require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
	return e, r
}

var item = tuple.New("item", int64(1))

// violations lets a second engine take over from a first, and returns what the first does that only an owner may: to
// answer with what it knew, and to acknowledge a put.
func violations(t *testing.T, first, second journal.Journal) (found []string) {
	t.Helper()
	_, a := owner(t, first, "a")
	require.NoError(t, a.Space("s").Put(t.Context(), item, 0))
	_, b := owner(t, second, "b")
	_, ok, err := b.Space("s").GetP(t.Context(), tuple.Match("item", tuple.AnyInt64))
	require.NoError(t, err)
	require.True(t, ok, "what was acknowledged is there after a take-over")

	if _, ok, err := a.Space("s").QueryP(t.Context(), tuple.Match("item", tuple.AnyInt64)); err == nil && ok {
		found = append(found, "it reads a tuple that is gone")
	}
	for range 3 {
		if err := a.Space("s").Put(t.Context(), tuple.New("late"), 0); err == nil {
			found = append(found, "it acknowledges a put")
			break
		}
	}
	return found
}

// unproved is the twin of an owned journal that confirms without looking.
type unproved struct{ *journal.Member }

func (unproved) Confirm(context.Context) error { return nil }

func TestADeposedEngineDoesNothingThatOnlyAnOwnerMayDo(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	require.Empty(t, violations(t, m.Member(), m.Member()))
}

// Without a claim both engines go on, although each commit compares the position.
func TestEnginesThatClaimNothingBothAcknowledge(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	require.Contains(t, violations(t, m, m), "it acknowledges a put")
}

func TestAnEngineThatProvesNothingReadsWhatIsGone(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	require.Equal(t, []string{"it reads a tuple that is gone"}, violations(t, unproved{m.Member()}, m.Member()))
}

func TestADeposedEngineStopsAndReleasesNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, r := owner(t, m.Member(), "a")
		ended := make(chan error, 1)
		go func() { ended <- e.Run(t.Context()) }()
		waits := make(chan error, 1)
		go func() { _, err := r.Space("s").Get(context.Background(), tuple.Match("never")); waits <- err }()
		synctest.Wait()
		s := e.state.sessions["a"]
		read := s.Start(space.Request{Verb: space.VerbCount, Space: "s", Template: tuple.Match("a")})
		require.False(t, read.Ready(), "it needs a proof, although all that it saw is durable")
		proved := s.Start(space.Request{Verb: space.VerbCount, Space: "s", Template: tuple.Match("a")})
		require.NoError(t, r.Space("s").Put(t.Context(), item, 0))
		require.True(t, proved.Ready(), "the commit of the put began after it")

		owner(t, m.Member(), "b")
		_, err := read.Finish(t.Context())
		require.NoError(t, err, "it was proved before the take-over, and no one has learned of that yet")
		require.ErrorIs(t, r.Space("s").Put(t.Context(), item, 0), fault.ErrUnavailable)
		_, err = proved.Finish(t.Context())
		require.ErrorIs(t, err, fault.ErrUnavailable, "its epoch has ended")
		require.ErrorIs(t, <-waits, fault.ErrUnavailable)
		require.ErrorIs(t, <-ended, journal.ErrDeposed)
		require.ErrorIs(t, r.Space("s").Put(t.Context(), item, 0), ErrDeposed)
		select {
		case <-s.Ended():
			t.Error("the session goes on at the other engine")
		default:
		}
	})
}

// The old engine's commit is applied, and its answer is on the way, when the next engine takes over. A read
// made then must not be released with that commit, which proves nothing about the time of the read.
func TestACommitUnderWayDoesNotProveWhatIsReadMeanwhile(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	first := m.Member()
	e, a := owner(t, first, "a")
	applied, goOn := make(chan struct{}), make(chan struct{})
	m.After = func(context.Context, []journal.Record) error { close(applied); <-goOn; return nil }
	put := make(chan error, 1)
	go func() { put <- a.Space("s").Put(context.Background(), item, 0) }()
	<-applied
	m.After = nil
	_, b := owner(t, m.Member(), "b")
	_, ok, err := b.Space("s").GetP(t.Context(), tuple.Match("item", tuple.AnyInt64))
	require.NoError(t, err)
	require.True(t, ok)

	read := e.state.sessions["a"].Start(space.Request{Verb: space.VerbQueryP, Space: "s", Template: tuple.Match("item", tuple.AnyInt64)})
	close(goOn)
	require.NoError(t, <-put, "it was committed by the owner of that time")
	require.False(t, read.Ready())
	_, err = read.Finish(t.Context())
	require.ErrorIs(t, err, fault.ErrUnavailable, "the other engine has taken the tuple")
}

func TestAnUnknownOutcomeDeposesAndIsNotLoadedAgain(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*journal.Memory, *journal.Member){
		"of a commit": func(m *journal.Memory, _ *journal.Member) {
			m.After = func(context.Context, []journal.Record) error { return errCommit }
		},
		"of a confirmation": func(_ *journal.Memory, o *journal.Member) {
			o.BeforeConfirm = func(context.Context) error { return errCommit }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &journal.Memory{}
			member := m.Member()
			e, r := owner(t, member, "a")
			m.BeforeLoad = func(context.Context) error { t.Error("the journal is loaded again"); return nil }
			fail(m, member)
			do := func() error { return r.Space("s").Put(t.Context(), item, 0) }
			if member.BeforeConfirm != nil {
				do = func() error { _, err := r.Space("s").Count(t.Context(), tuple.Match("item")); return err }
			}
			require.ErrorIs(t, do(), fault.ErrUnavailable)
			err := e.Run(t.Context())
			require.ErrorIs(t, err, journal.ErrDeposed)
			require.ErrorIs(t, err, errCommit, "it tells why")
		})
	}
}

func TestAFullJournalDeposesNobody(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	_, r := owner(t, m.Member(), "a")
	m.Before = func(context.Context, []journal.Record) error { m.Before = nil; return journal.ErrFull }
	require.ErrorIs(t, r.Space("s").Put(t.Context(), item, 0), fault.ErrOverloaded)
	require.NoError(t, r.Space("s").Put(t.Context(), item, 0))
	m.Before = func(context.Context, []journal.Record) error { m.Before = nil; return journal.ErrFull }
	require.Error(t, r.Create(t.Context(), "another", space.Options{}), "it cannot be undone in memory")
	require.NoError(t, r.Space("s").Put(t.Context(), item, 0), "the journal was loaded again by its owner")
}

func TestAnEngineThatIsDeposedWhileItLoadsAgainStops(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	e, r := owner(t, m.Member(), "a")
	m.Before = func(context.Context, []journal.Record) error {
		m.Before = nil
		_, err := m.Member().Claim(context.Background())
		return errors.Join(journal.ErrFull, err)
	}
	require.Error(t, r.Create(t.Context(), "another", space.Options{}))
	require.ErrorIs(t, e.Run(t.Context()), journal.ErrDeposed)
}

func TestOneConfirmationServesAllThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		member := m.Member()
		_, r := owner(t, member, "a")
		var calls atomic.Int64
		member.BeforeConfirm = func(context.Context) error { calls.Add(1); time.Sleep(time.Millisecond); return nil }
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				_, err := r.Space("s").Count(context.Background(), tuple.Match("a"))
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.LessOrEqual(t, calls.Load(), int64(2), "the second is for those that came during the first")
	})
}

// With puts under way no read needs a confirmation of its own, because the next commit proves it.
func TestACommitProvesTheReadsBeforeIt(t *testing.T) {
	t.Parallel()
	m := &journal.Memory{}
	member := m.Member()
	e, _ := owner(t, member, "a")
	member.BeforeConfirm = func(context.Context) error { return errors.New("it is not needed") }
	s := e.state.sessions["a"]
	read := s.Start(space.Request{Verb: space.VerbCount, Space: "s", Template: tuple.Match("a")})
	s.Start(space.Request{Verb: space.VerbPut, Space: "s", Tuple: item})
	_, err := read.Finish(t.Context())
	require.NoError(t, err)
}

func TestAnEngineThatCannotClaimDoesNotOpen(t *testing.T) {
	t.Parallel()
	member := (&journal.Memory{}).Member()
	member.BeforeClaim = func(context.Context) error { return errCommit }
	_, err := Open(t.Context(), Config{Journal: member})
	require.ErrorIs(t, err, errCommit)
}
