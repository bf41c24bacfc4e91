package engine

import (
	"context"
	"errors"
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

var errCommit = errors.New("the commit failed")

func TestASessionThatNoClientGotEndsUnlessItHasATTL(t *testing.T) {
	t.Parallel()
	for ttl, stays := range map[time.Duration]bool{0: false, time.Hour: true} {
		m := &journal.Memory{}
		e, err := Open(t.Context(), Config{Journal: m}) // without a logger
		require.NoError(t, err)
		m.After = func(context.Context, []journal.Record) error { m.After = nil; return errCommit }
		_, err = e.Session(t.Context(), "client-1", ttl)
		require.ErrorIs(t, err, fault.ErrUnavailable, "the journal has the session, and its client does not know")
		e.state.mu.Lock()
		s := e.state.sessions["client-1"]
		e.state.mu.Unlock()
		require.Equal(t, stays, s != nil, "TTL %s", ttl)
		_, err = e.Session(t.Context(), "client-1", ttl)
		require.NoError(t, err, "its client opens it again")
	}
}

func TestWhatWasReportedAsFailedIsNotCommittedLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, err := Open(t.Context(), Config{Journal: m})
		require.NoError(t, err)
		r, err := e.Session(t.Context(), "test-1", time.Hour)
		require.NoError(t, err)
		require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
		m.Before = func(context.Context, []journal.Record) error {
			time.Sleep(time.Second) // the second put is executed meanwhile
			m.Before = nil
			return errCommit
		}
		errs := make(chan error, 2)
		for n := range 2 {
			go func() { errs <- r.Space("s").Put(t.Context(), tuple.New("failed", int64(n)), 0) }()
			synctest.Wait()
		}
		for range 2 {
			require.ErrorIs(t, <-errs, fault.ErrUnavailable)
		}
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("good", int64(1)), 0))
		for name, engine := range map[string]*Engine{"this engine": e, "the next engine": reopened(t, m)} {
			require.Len(t, engine.state.entries, 1, name)
		}
	})
}

// reopened returns another engine over a journal, as after a restart.
func reopened(t *testing.T, m *journal.Memory) *Engine {
	t.Helper()
	e, err := Open(t.Context(), Config{Journal: m})
	require.NoError(t, err)
	return e
}

func TestANegativeTTLIsRefusedAndNothingIsPut(t *testing.T) {
	t.Parallel()
	e, r := opened(t, space.Procedures{"put": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
		ref, err := tx.Put("s", args, space.PutOptions{TTL: -1})
		return tuple.New(ref), err
	}})
	_, err := r.Call(t.Context(), space.OpID{}, "put", tuple.New("a"))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorIs(t, r.Space("s").Put(t.Context(), tuple.New("a"), -time.Second), fault.ErrInvalid)
	require.Empty(t, e.state.entries)
	require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 1))
}

// However a wait ends, the engine must forget that its operation id is in flight, because the same operation again
// would wait for ever.
func TestNothingIsLeftOfAnOperationThatWaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, r := opened(t, space.Procedures{"get": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			template := tuple.Match(args[0])
			x, ok := tx.Find("s", template, nil)
			if !ok {
				return nil, tx.Wait(space.Awaited{Space: "s", Template: template})
			}
			return x.Tuple, tx.Take(x.Ref)
		}})
		op := space.OpID{Session: "test-1", Seq: 1}
		get := func(ctx context.Context, op space.OpID) <-chan error {
			done := make(chan error, 1)
			go func() { _, err := r.Call(ctx, op, "get", tuple.New("a")); done <- err }()
			synctest.Wait()
			return done
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := get(ctx, op)
		require.Len(t, e.state.inFlight, 1)
		cancel()
		require.ErrorIs(t, <-cancelled, context.Canceled)
		require.Empty(t, e.state.inFlight, "after a wait that was cancelled")
		served := get(t.Context(), op)
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0))
		require.NoError(t, <-served, "the same operation again is executed")
		require.Empty(t, e.state.inFlight, "after a wait that was served")
		closed := get(t.Context(), space.OpID{Session: "test-1", Seq: 2})
		require.NoError(t, r.Close(t.Context()))
		require.ErrorIs(t, <-closed, fault.ErrClosed)
		require.Empty(t, e.state.inFlight, "after a session that ended")
		require.Zero(t, e.state.waiting)
	})
}

// While the engine stops nothing is loaded again: the outcome of the last batch is unknown.
func TestTheErrorOfTheLastCommitIsThatOfTheStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, why := range []error{errCommit, journal.ErrFull, journal.ErrBroken} {
			loads := 0
			m := &journal.Memory{BeforeLoad: func(context.Context) error { loads++; return nil }}
			e, err := Open(t.Context(), Config{Journal: m})
			require.NoError(t, err)
			r, err := e.Session(t.Context(), "test-1", time.Hour)
			require.NoError(t, err)
			require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
			m.Before = func(context.Context, []journal.Record) error { return why }
			x := e.state.sessions["test-1"].Start(space.Request{Verb: space.VerbPutP, Space: "s", Tuple: tuple.New("a")})
			require.ErrorIs(t, e.shutDown(), why)
			require.Equal(t, 1, loads, "%v", why)
			_, err = x.Finish(t.Context())
			require.ErrorIs(t, err, fault.ErrUnavailable, "%v", why)
		}
	})
}

// A timer whose effect cannot be committed is due again at once: without a pause the loop would take
// all of a processor.
func TestAFailedCommitOfATimerIsTriedAgainAfterASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, r := opened(t, nil)
		m := e.journal.(*journal.Memory)
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), time.Minute))
		var tries atomic.Int64
		m.Before = func(context.Context, []journal.Record) error {
			if tries.Add(1) <= 3 {
				return errCommit
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, tries.Load())
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 4, tries.Load())
		require.Zero(t, tuples(e))
		cancel()
		require.NoError(t, <-ended)
	})
}

// A batch that did not fit, and one that was executed on top of it, are undone with their memory.
func TestAllMemoryOfBatchesThatDidNotFitIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, s := takerOf(t, 1)
		m := e.journal.(*journal.Memory)
		put := func() error { return space.Over(s).Space("s").Put(t.Context(), tuple.New("a", int64(0)), 0) }
		before := e.Stats().Memory
		m.Before = func(context.Context, []journal.Record) error {
			time.Sleep(time.Second)
			return journal.ErrFull
		}
		done := make(chan error, 3)
		for range 3 {
			go func() { done <- put() }()
			synctest.Wait()
		}
		require.Equal(t, 2, e.Stats().Pending)
		for range 3 {
			require.ErrorIs(t, <-done, journal.ErrFull)
		}
		require.Equal(t, before, e.Stats().Memory)
		require.Equal(t, 1, tuples(e))
	})
}
