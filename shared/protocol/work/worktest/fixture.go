package worktest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

// The configuration of every fixture: the defaults of a coordinator.
const (
	beat        = 2 * time.Second
	sessionTTL  = 6 * time.Second
	backoff     = 30 * time.Second
	leaseTTL    = time.Hour
	queueTTL    = 30 * time.Minute
	ingestTTL   = 5 * time.Minute
	visitTTL    = 30 * time.Minute
	taskTimeout = 10 * time.Minute
	maxAttempts = 3
)

var policy = work.Policy{
	Task:     task.Policy{MaxAttempts: maxAttempts, Backoff: backoff},
	LeaseTTL: leaseTTL, QueueTTL: queueTTL, Ingest: ingestTTL,
}

// inspect is the procedure with which a fixture reads the spaces in one transaction,
// held tuples included.
const inspect = "worktest.inspect"

// timeLimit is how long, in fake time, a scenario may take. Without it a scenario that
// waits in vain would never end, because heartbeats keep its bubble alive.
const timeLimit = 100 * time.Hour

// reporter takes failures: a test, or one of many runs of a property.
type reporter interface {
	require.TestingT
	Helper()
}

// fixture is one engine with the spaces and procedures of all protocols, in a bubble
// of fake time.
type fixture struct {
	reporter
	t       testing.TB
	journal *journal.Memory
	on      journal.Journal // that the engine runs on: journal, or another one
	engine  *engine.Engine
	connect Connect
	policy  work.Policy
	admin   space.Repository
	ctx     context.Context
	closers []func() // run by close, last first

	beat, sessionTTL time.Duration // of sessions

	mu      sync.Mutex // guards what follows
	read    func(space.Tx)
	records []journal.Record
	events  []trace.Event
	logged  bytes.Buffer // errors of expiry procedures, by the engine
}

// Write appends a line of the engine's log to logged. It never fails.
func (f *fixture) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.logged.Write(line)
}

// open runs an engine in memory until close.
func open(t testing.TB, r reporter, connect Connect, p work.Policy) *fixture {
	return openOn(t, r, connect, p, nil)
}

// openOn runs an engine on a journal until close; nil is a new one in memory. r fails the test,
// in a scenario the test itself. It creates the spaces of all protocols.
func openOn(t testing.TB, r reporter, connect Connect, p work.Policy, on journal.Journal) *fixture {
	ctx, stop := context.WithTimeout(context.Background(), timeLimit)
	f := &fixture{reporter: r, t: t, connect: connect, policy: p, ctx: ctx, beat: beat, sessionTTL: sessionTTL}
	f.journal = &journal.Memory{Before: f.record}
	f.closers = []func(){stop}
	f.on = f.journal
	if on != nil {
		f.on = recorded{on, f}
		f.closers = append(f.closers, func() { require.NoError(r, on.Close()) })
	}
	f.start()
	for _, d := range slices.Concat(status.Spaces(), lease.Spaces(), task.Spaces(), visit.Spaces()) {
		require.NoError(r, f.admin.Create(ctx, d.Name, d.Options))
	}
	return f
}

// recorded is a journal whose records the fixture keeps.
type recorded struct {
	journal.Journal
	fixture *fixture
}

func (r recorded) Commit(ctx context.Context, expected journal.Position, records []journal.Record) error {
	return errors.Join(r.fixture.record(ctx, records), r.Journal.Commit(ctx, expected, records))
}

// start runs an engine over the fixture's journal; it is called again after a restart. close ends
// it, and fails the test if it ended with an error.
func (f *fixture) start() {
	e, err := engine.Open(f.ctx, engine.Config{Journal: f.on, Procedures: f.procedures(), Takes: task.Takes(), QueryOnly: space.QueryOnly(status.Spaces(), lease.Spaces(), task.Spaces(), visit.Spaces()), Trace: f.trace, Log: slog.New(slog.NewTextHandler(f, nil))})
	require.NoError(f, err)
	f.engine = e
	run, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(run) }()
	f.closers = append(f.closers, func() { end(); require.NoError(f, <-done) })
	f.admin, err = e.Session(f.ctx, "admin", 0)
	require.NoError(f, err)
}

// close stops the engine and all sessions.
func (f *fixture) close() {
	for _, c := range slices.Backward(f.closers) {
		c()
	}
}

// Context ends after timeLimit.
func (f *fixture) Context() context.Context { return f.ctx }

// receive returns the next value of c, and fails after timeLimit.
func receive[T any](f *fixture, c <-chan T) (v T) {
	f.Helper()
	select {
	case v = <-c:
	case <-f.ctx.Done():
		require.Fail(f, "nothing came")
	}
	return v
}

// procedures returns the procedures of all protocols, with inspect, which reads a state in one transaction. A
// procedure that writes and then fails makes the test fail.
func (f *fixture) procedures() space.Procedures {
	protocols := space.Join(status.Procedures(), lease.Procedures(), f.policy.Task.Procedures(), f.policy.Task.AdminProcedures(), f.policy.Procedures(),
		visit.Policy{Timeout: visitTTL}.Procedures())
	return space.Join(spacetest.FailWrites(protocols, func(format string, args ...any) { f.t.Errorf(format, args...) }),
		space.Procedures{inspect: func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) { f.read(tx); return nil, nil }})
}

// record keeps the records that the engine writes, so that tests can check which facts are in
// one. It never fails.
func (f *fixture) record(_ context.Context, records []journal.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records = append(f.records, records...)
	return nil
}

// trace keeps the events of the engine.
func (f *fixture) trace(e trace.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
}

// inspect calls read in a procedure.
func (f *fixture) inspect(read func(space.Tx)) {
	f.Helper()
	f.read = read
	_, err := f.admin.Call(context.Background(), space.OpID{}, inspect, nil)
	require.NoError(f, err)
}

// pass lets time pass, and everything due be done.
func (f *fixture) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// put puts a tuple as a foreign client does, without a procedure.
func (f *fixture) put(name string, t tuple.Tuple) {
	f.Helper()
	require.NoError(f, f.admin.Space(name).Put(f.Context(), t, 0))
}

// count counts the matches that are not held.
func (f *fixture) count(name string, p tuple.Template) int {
	f.Helper()
	n, err := f.admin.Space(name).Count(f.Context(), p)
	require.NoError(f, err)
	return n
}

// total returns one of lease.Totals.
func (f *fixture) total(what string) int {
	f.Helper()
	totals, err := lease.Totals(f.Context(), f.admin)
	require.NoError(f, err)
	return int(totals[what])
}
