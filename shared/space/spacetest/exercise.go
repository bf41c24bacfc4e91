// Package spacetest is the one conformance suite for every space.Repository:
// the engine itself, the same behind an encoder, behind a connection, or over
// another journal. It tests the contracts of package space; each subtest's name states
// one of them.
//
// The suite runs in testing/synctest bubbles, so that hours pass in no time;
// goroutines that the factory starts must run within the bubble and end with the test.
// All tuples are (name string, n int64), and transactions are the suite's own Procedures.
package spacetest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Open opens a session at the engine under test; with a ttl above 0 the session
// is lost if it gives no sign of life for that long.
type Open func(ctx context.Context, id string, ttl time.Duration) (space.Repository, error)

// Factory starts an engine without spaces in which the given procedures are
// registered, and stops it with t.Cleanup. It is called within a bubble.
type Factory func(t *testing.T, p space.Procedures) Open

// behaviour is one contract with its test.
type behaviour struct {
	name string
	run  func(*fixture)
}

// Exercise runs the whole suite. Each behaviour has an engine of its own in a bubble of its own,
// so that all run in parallel and time passes in each for itself.
func Exercise(t *testing.T, start Factory) {
	for _, group := range []struct {
		name string
		all  []behaviour
	}{
		{"operations", operations}, {"kinds", kinds}, {"options", options}, {"index", indexing},
		{"waiters", waiters}, {"puts", blockedPuts}, {"ttl", ttls}, {"holds", holds}, {"attributes", attributeBehaviours}, {"expiries", expiries},
		{"procedures", procedures}, {"sessions", sessions}, {"operation ids", operationIDs},
		{"notify", notifications}, {"bounds", bounds},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, b := range group.all {
				t.Run(b.name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { b.run(newFixture(t, start)) })
				})
			}
		})
	}
}

// fixture is an engine with a session and a sequential space in it.
type fixture struct {
	*testing.T
	open Open
	repo space.Repository
	s    space.Space
}

// newFixture starts an engine, opens the session test-1, and creates the spaces s and log.
func newFixture(t *testing.T, start Factory) *fixture {
	w := &fixture{T: t, open: start(t, Procedures())}
	w.repo = w.session("test-1", 0)
	w.s = w.create("s", space.Options{})
	w.create("log", space.Options{})
	return w
}

// session opens a session.
func (w *fixture) session(id string, ttl time.Duration) space.Repository {
	r, err := w.open(w.Context(), id, ttl)
	require.NoError(w, err)
	return r
}

// create makes a space.
func (w *fixture) create(name string, o space.Options) space.Space {
	require.NoError(w, w.repo.Create(w.Context(), name, o))
	return w.repo.Space(name)
}

// item returns a tuple of the suite, anyItem the template of all with that name.
func item(name string, n int) tuple.Tuple { return tuple.New(name, int64(n)) }

func anyItem(name string) tuple.Template { return tuple.Match(name, tuple.AnyInt64) }

// anything matches every tuple of the suite.
var anything = tuple.Match(tuple.AnyString, tuple.AnyInt64)

// put puts an item of the name for each of the numbers.
func (w *fixture) put(s space.Space, name string, numbers ...int) {
	for _, n := range numbers {
		require.NoError(w, s.Put(w.Context(), item(name, n), 0))
	}
}

// getP takes an item, and returns its number; 0 if there is none.
func (w *fixture) getP(s space.Space, p tuple.Template) int {
	t, ok, err := s.GetP(w.Context(), p)
	require.NoError(w, err)
	require.Equal(w, ok, t != nil)
	return int(t.Int64(1))
}

// queryP finds an item, and returns its number; 0 if there is none.
func (w *fixture) queryP(s space.Space, p tuple.Template) int {
	t, ok, err := s.QueryP(w.Context(), p)
	require.NoError(w, err)
	require.Equal(w, ok, t != nil)
	return int(t.Int64(1))
}

// numbers returns the numbers of all visible items, in the space's order.
func (w *fixture) numbers(s space.Space) []int {
	all, err := s.QueryAll(w.Context(), anything)
	require.NoError(w, err)
	return numbersOf(all)
}

// numbersOf returns the numbers of items, in their order.
func numbersOf(all []tuple.Tuple) []int {
	var ns []int
	for _, t := range all {
		ns = append(ns, int(t.Int64(1)))
	}
	return ns
}

// count counts the visible items of a name.
func (w *fixture) count(s space.Space, name string) int {
	n, err := s.Count(w.Context(), anyItem(name))
	require.NoError(w, err)
	return n
}

// call calls a procedure that must succeed.
func (w *fixture) call(r space.Repository, procedure string, args ...any) tuple.Tuple {
	t, err := r.Call(w.Context(), space.OpID{}, procedure, args)
	require.NoError(w, err)
	return t
}

// pending is a call in a goroutine of its own.
type pending struct {
	w     *fixture
	done  chan struct{}
	tuple tuple.Tuple
	err   error
}

// begin starts f in a goroutine, and returns once f has ended or blocks, so that its call is in
// the engine before the next one.
func (w *fixture) begin(f func() (tuple.Tuple, error)) *pending {
	p := &pending{w: w, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.tuple, p.err = f()
	}()
	synctest.Wait()
	return p
}

// get starts a get.
func (w *fixture) get(s space.Space, p tuple.Template) *pending {
	return w.begin(func() (tuple.Tuple, error) { return s.Get(w.Context(), p) })
}

// waits requires that the call waits, once all goroutines of the bubble block.
func (p *pending) waits() {
	p.w.Helper()
	synctest.Wait()
	select {
	case <-p.done:
		require.Fail(p.w, "the call has ended", "%v, %v", p.tuple, p.err)
	default:
	}
}

// returns requires that the call has ended without an error, and returns the
// number of its tuple.
func (p *pending) returns() int {
	p.w.Helper()
	require.NoError(p.w, p.error())
	return int(p.tuple.Int64(1))
}

// error requires that the call has ended, and returns its error.
func (p *pending) error() error {
	p.w.Helper()
	synctest.Wait()
	select {
	case <-p.done:
		return p.err
	default:
		require.Fail(p.w, "the call still waits")
		return nil
	}
}
