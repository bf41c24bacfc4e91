package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// opened returns an engine that does not run, with one space and a session.
func opened(t *testing.T, p space.Procedures) (*Engine, space.Repository) {
	e, err := Open(t.Context(), Config{Journal: &journal.Memory{}, Procedures: p})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), "test-1", 0)
	require.NoError(t, err)
	require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
	return e, r
}

func TestWaitersAreBounded(t *testing.T) {
	t.Parallel()
	e, r := opened(t, nil)
	e.state.waiting = maxWaiters
	_, err := r.Space("s").Get(t.Context(), tuple.Match("a"))
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.Empty(t, e.state.spaces["s"].takers.buckets)
}

// Clients leave a tenth of the sessions, waiting calls and spaces to managers, workers and
// the coordinator itself.
func TestATenthOfSessionsWaitersAndSpacesIsForTheFleet(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	open := func(id string, fleet bool) (space.Conn, error) {
		return e.OpenGateSession(t.Context(), Opening{ID: id, TTL: time.Hour, Fleet: fleet})
	}
	client, err := open("client", false)
	require.NoError(t, err)
	for n := 2; n < maxSessions-fleetSessions; n++ {
		_, err := open(fmt.Sprint("client-", n), false)
		require.NoError(t, err)
	}
	_, err = open("surplus", false)
	require.ErrorIs(t, err, fault.ErrOverloaded)
	worker, err := open("worker", true)
	require.NoError(t, err)
	for n := 1; n < fleetSessions; n++ {
		_, err := open(fmt.Sprint("worker-", n), true)
		require.NoError(t, err)
	}
	_, err = open("surplus", true)
	require.ErrorIs(t, err, fault.ErrOverloaded)

	create := func(c space.Conn, n int) error {
		return space.Over(c).Create(t.Context(), fmt.Sprint("space-", n), space.Options{})
	}
	for n := 1; n < ClientSpaces; n++ {
		require.NoError(t, create(client, n))
	}
	require.ErrorIs(t, create(client, maxSpaces), fault.ErrOverloaded)
	for n := ClientSpaces; n < maxSpaces; n++ {
		require.NoError(t, create(worker, n))
	}
	require.ErrorIs(t, create(worker, maxSpaces), fault.ErrOverloaded)

	get := space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match("a")}
	e.state.waiting = maxWaiters - fleetWaiters
	_, err = client.Do(t.Context(), get)
	require.ErrorIs(t, err, fault.ErrOverloaded)
	_, w := e.start(worker.(*session), get)
	require.NotNil(t, w, "it waits")
	e.state.waiting = maxWaiters
	_, err = worker.Do(t.Context(), get)
	require.ErrorIs(t, err, fault.ErrOverloaded)
}

// heapInUse returns the bytes of the heap that are in use.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// It starts requests without goroutines, because a million of these would be measured too. Requests beyond maxWaiters
// are refused and take no memory; cancelled waiters take no tuple.
func TestOfAMillionWaitersAskedForABoundedNumberWaitsAndMemoryIsFlat(t *testing.T) {
	e, _ := opened(t, nil)
	s := e.state.sessions["test-1"]
	get := space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match("a", tuple.AnyInt64)}
	empty := heapInUse()
	var waiting []*waiter
	for range maxWaiters {
		_, w := e.start(s, get)
		require.NotNil(t, w)
		waiting = append(waiting, w)
	}
	full := heapInUse()
	t.Logf("%d bytes for each waiter", (full-empty)/maxWaiters)
	require.Less(t, (full-empty)/maxWaiters, int64(1000))
	for range 1_000_000 - maxWaiters {
		a, w := e.start(s, get)
		if w != nil || !errors.Is(a.err, fault.ErrOverloaded) {
			t.Fatal(a.err)
		}
	}
	require.Less(t, heapInUse()-full, int64(1<<20))
	require.Equal(t, Stats{Sessions: 1, Waiters: maxWaiters, Refused: 1_000_000 - maxWaiters},
		Stats{Sessions: e.Stats().Sessions, Waiters: e.Stats().Waiters, Refused: e.Stats().Refused})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, w := range waiting {
		_, err := e.awaitWaiter(over, w)
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, space.Over(s).Space("s").Put(t.Context(), tuple.New("a", int64(1)), 0))
	require.Equal(t, 1, e.state.spaces["s"].size, "none that was cancelled takes")
	require.Empty(t, e.state.spaces["s"].takers.buckets)
	require.Zero(t, e.state.waiting)
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	for n := range maxSessions {
		e.state.sessions[fmt.Sprint(n)] = &session{}
	}
	_, err := e.Session(t.Context(), "one too many", 0)
	require.ErrorIs(t, err, fault.ErrOverloaded)
}

// Each round uses new names for everything that the engine keeps under a name: session, tuple,
// template and operation, also in calls that fail. After them all maps must be as before.
func TestNothingIsLeftOfWhatCameAndWent(t *testing.T) {
	t.Parallel()
	e, r := opened(t, space.Procedures{"hold": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
		x, _ := tx.Find("s", tuple.Match(args[0], tuple.AnyInt64), nil)
		if err := tx.Hold(x.Ref, space.HoldOptions{TTL: time.Hour}); err != nil || args.Bool(1) {
			return nil, fmt.Errorf("no: %v", err)
		}
		return nil, tx.Done(x.Ref)
	}})
	ctx := context.Background()
	for n := range 1000 {
		name := fmt.Sprint("name-", n)
		s, err := e.Session(ctx, name, time.Hour)
		require.NoError(t, err)
		require.NoError(t, s.Space("s").Put(ctx, tuple.New(name, int64(n)), time.Hour))
		for _, fail := range []bool{true, true, false} {
			_, err = s.Call(ctx, space.OpID{Session: name, Seq: 1}, "hold", tuple.New(name, fail))
			require.Equal(t, fail, err != nil)
		}
		_, ok, err := s.Space("s").GetP(ctx, tuple.Match(tuple.Formal{Type: tuple.OpaqueType(name)}))
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, s.Space("s").Put(ctx, tuple.New(tuple.Opaque{Name: name}), 0))
		_, ok, err = s.Space("s").GetP(ctx, tuple.Match(tuple.Formal{Type: tuple.OpaqueType(name)}))
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, s.Close(ctx))
	}
	s := e.state.spaces["s"]
	require.Empty(t, e.state.entries)
	require.Zero(t, e.state.timers.queue.len())
	require.Empty(t, e.state.timers.byID)
	require.Empty(t, e.state.answers)
	require.Empty(t, e.state.inFlight)
	require.Len(t, e.state.sessions, 1)
	require.Zero(t, e.state.waiting)
	require.Zero(t, s.size)
	require.LessOrEqual(t, len(s.visible.buckets), emptyBuckets+1)
	require.LessOrEqual(t, len(s.held.buckets), emptyBuckets+1)
	require.Empty(t, s.takers.buckets)
	require.NoError(t, r.Close(ctx))
}

// someActual returns a template of six fields; those in mask are the actual n.
func someActual(mask, n int) tuple.Template {
	p := tuple.New(n, n, n, n, n, n).Exactly()
	for i := range p {
		if mask&(1<<i) == 0 {
			p[i] = tuple.Formal{Type: tuple.Int}
		}
	}
	return p
}

func TestShapesAreBounded(t *testing.T) {
	t.Parallel()
	e, r := opened(t, nil)
	s, ctx := r.Space("s"), context.Background()
	for n := range 2 * indexFrom {
		require.NoError(t, s.Put(ctx, tuple.New(n, n, n, n, n, n), 0))
	}
	for turn := range 20 {
		for mask := range 64 {
			found, err := s.QueryAll(ctx, someActual(mask, turn))
			require.NoError(t, err)
			if mask == 0 {
				require.Len(t, found, 2*indexFrom)
			} else {
				require.Equal(t, []tuple.Tuple{tuple.New(turn, turn, turn, turn, turn, turn)}, found)
			}
		}
	}
	for _, b := range e.state.spaces["s"].visible.buckets {
		require.Len(t, b.shapes, maxShapes)
	}
}

func TestShapesThatTakeTurnsCostNoMoreIndexingThanComparing(t *testing.T) {
	t.Parallel()
	e, r := opened(t, nil)
	const n = 1000
	for i := range n {
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New(i, i, i, i, i, i), 0))
	}
	x := &e.state.spaces["s"].visible
	built := map[*shape]bool{}
	looks := 0
	for turn := range 200 {
		for _, mask := range []int{1, 2, 4, 8, 16, 32, 3, 5, 9, 17, 33, 6, 10, 18, 34, 12, 20, 36} {
			x.each(someActual(mask, turn), func(*entry) bool { return true })
			looks++
		}
		for _, b := range x.buckets {
			for _, s := range b.shapes {
				built[s] = true
			}
		}
	}
	require.Less(t, len(built), maxShapes+looks/buildCost, "not one for each lookup")
	for _, b := range x.buckets { // a shape that comes into use late becomes fast too
		for range 2 * buildCost * n {
			x.each(someActual(63, 1), func(*entry) bool { return true })
		}
		require.Equal(t, tuple.Shape(63), b.closest(63).mask)
	}
}
