// Package foreigntest is what the tests of the gates for foreign programs share: an engine
// with the protocols and a hub, and conversations of clients that are replayed.
package foreigntest

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// Backoff is the back-off of tasks in a fixture.
const Backoff = 20 * time.Millisecond

// Wait bounds how long a test waits for something that must happen.
const Wait = 20 * time.Second

// Fixture is an engine with the protocols, and a hub.
type Fixture struct {
	testing.TB
	Engine *engine.Engine
	Hub    *foreign.Hub
	Repo   space.Repository // a session of this process
	Memory *memory.Budget

	StopHub func() // ends Hub.Run, and waits for it
}

// New runs an engine in memory and a hub until the test ends. The memory budget is in
// bytes; 0 means none.
func New(t testing.TB, budget int64) *Fixture {
	t.Helper()
	return NewOn(t, budget, &journal.Memory{})
}

// NewOn is New with the spaces of a journal.
func NewOn(t testing.TB, budget int64, j journal.Journal) *Fixture {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	policy := task.Policy{MaxAttempts: 100, Backoff: Backoff}
	b := memory.New(budget)
	e, err := engine.Open(t.Context(), engine.Config{
		Journal: j, Log: quiet, Memory: b,
		Procedures: space.Join(status.Procedures(), lease.Procedures(), policy.Procedures(), policy.AdminProcedures(), interop.Procedures(space.QueryOnly(task.Spaces(), lease.Spaces()))),
	})
	require.NoError(t, err)
	Start(t, e.Run)
	f := &Fixture{TB: t, Engine: e, Memory: b}
	f.Repo, err = e.Session(t.Context(), "test", 0)
	require.NoError(t, err)
	for _, spaces := range [][]space.Definition{task.Spaces(), lease.Spaces(), status.Spaces()} {
		for _, d := range spaces {
			require.NoError(t, f.Repo.Create(t.Context(), d.Name, d.Options))
		}
	}
	f.Hub = foreign.NewHub(foreign.Config{Engine: e, Memory: b, Log: quiet})
	f.StopHub = Start(t, f.Hub.Run)
	return f
}

// Start runs f until the test ends, or stop is called, and requires that f returns no error
// then.
func Start(t testing.TB, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); require.NoError(t, <-done) }) }
	t.Cleanup(stop)
	return stop
}

// Listen serves a port of this machine until the test ends, and returns its address.
func (f *Fixture) Listen(serve func(context.Context, net.Listener) error) (address string) {
	f.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f, err)
	Start(f, func(ctx context.Context) error { return serve(ctx, l) })
	return l.Addr().String()
}

// Create makes a space.
func (f *Fixture) Create(name string) space.Space {
	f.Helper()
	require.NoError(f, f.Repo.Create(f.Context(), name, space.Options{}))
	return f.Repo.Space(name)
}

// Put puts tuples into a space.
func (f *Fixture) Put(name string, tuples ...tuple.Tuple) {
	f.Helper()
	for _, t := range tuples {
		require.NoError(f, f.Repo.Space(name).Put(f.Context(), t, 0))
	}
}

// AwaitWaiters waits until n calls wait in the engine.
func (f *Fixture) AwaitWaiters(n int) {
	f.Helper()
	require.Eventually(f, func() bool { return f.Engine.Stats().Waiters == n }, Wait, time.Millisecond)
}

// AwaitCount waits until a space has n tuples that match a template, and none is held.
func (f *Fixture) AwaitCount(name string, p tuple.Template, n int) {
	f.Helper()
	require.Eventually(f, func() bool {
		count, err := f.Repo.Space(name).Count(f.Context(), p)
		return err == nil && count == n && f.Engine.Stats().Held == 0
	}, Wait, time.Millisecond)
}
