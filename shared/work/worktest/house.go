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

	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/trace"
	"leasehold/shared/tuple"
	"leasehold/shared/visit"
	"leasehold/shared/work"
)

// What every house is configured with: the defaults of DESIGN section 8.
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

// inspect is the procedure by which a house looks at what nobody else can see.
const inspect = "worktest.inspect"

// patience is how long, in fake time, a scenario may take: hearts beat for ever, so
// that a bubble with a scenario that waits in vain would never end.
const patience = 100 * time.Hour

// reporter is what fails: a test, or one of many runs of a property.
type reporter interface {
	require.TestingT
	Helper()
}

// house is one engine with the spaces and procedures of all protocols, in a bubble
// of fake time.
type house struct {
	reporter
	t       testing.TB
	journal *journal.Memory
	on      journal.Journal // what the engine runs on: journal, if not another one
	engine  *engine.Engine
	connect Connect
	policy  work.Policy
	admin   space.Repository
	ctx     context.Context
	closers []func() // run by close, last first

	beat, sessionTTL time.Duration // of actors

	mu      sync.Mutex // guards what follows
	look    func(space.Tx)
	records []journal.Record
	events  []trace.Event
	logged  bytes.Buffer // by the engine: what went wrong in an expiry
}

// Write takes a line of the engine's log.
func (h *house) Write(line []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.logged.Write(line)
}

// open runs an engine in memory until close.
func open(t testing.TB, r reporter, connect Connect, p work.Policy) *house {
	return openOn(t, r, connect, p, nil)
}

// openOn runs an engine on a journal until close; nil is a new one in memory.
func openOn(t testing.TB, r reporter, connect Connect, p work.Policy, on journal.Journal) *house {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	h := &house{reporter: r, t: t, connect: connect, policy: p, ctx: ctx, beat: beat, sessionTTL: sessionTTL}
	h.journal = &journal.Memory{Before: h.record}
	h.closers = []func(){stop}
	if h.on = h.journal; on != nil {
		h.on = recorded{on, h}
		h.closers = append(h.closers, func() { require.NoError(r, on.Close()) })
	}
	h.start()
	for _, d := range slices.Concat(status.Spaces(), lease.Spaces(), task.Spaces(), visit.Spaces()) {
		require.NoError(r, h.admin.Create(ctx, d.Name, d.Options))
	}
	return h
}

// recorded is a journal whose records the house sees.
type recorded struct {
	journal.Journal
	house *house
}

func (r recorded) Commit(ctx context.Context, expected journal.Position, records []journal.Record) error {
	return errors.Join(r.house.record(ctx, records), r.Journal.Commit(ctx, expected, records))
}

// start runs an engine over the house's journal.
func (h *house) start() {
	e, err := engine.Open(h.ctx, engine.Config{Journal: h.on, Procedures: h.procedures(), Trace: h.trace, Log: slog.New(slog.NewTextHandler(h, nil))})
	require.NoError(h, err)
	h.engine = e
	run, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(run) }()
	h.closers = append(h.closers, func() { end(); require.NoError(h, <-done) })
	h.admin, err = e.Session(h.ctx, "admin", 0)
	require.NoError(h, err)
}

// close ends everything that runs.
func (h *house) close() {
	for _, c := range slices.Backward(h.closers) {
		c()
	}
}

// Context ends when the scenario has taken too long.
func (h *house) Context() context.Context { return h.ctx }

// receive returns what comes from c.
func receive[T any](h *house, c <-chan T) (v T) {
	h.Helper()
	select {
	case v = <-c:
	case <-h.ctx.Done():
		require.Fail(h, "nothing came")
	}
	return v
}

func (h *house) procedures() space.Procedures {
	return space.Join(status.Procedures(), lease.Procedures(), h.policy.Task.Procedures(), h.policy.Procedures(),
		visit.Policy{Timeout: visitTTL}.Procedures(),
		space.Procedures{inspect: func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) { h.look(tx); return nil, nil }})
}

func (h *house) record(_ context.Context, records []journal.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, records...)
	return nil
}

func (h *house) trace(e trace.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// inspect calls f with what a procedure sees.
func (h *house) inspect(f func(space.Tx)) {
	h.Helper()
	h.look = f
	_, err := h.admin.Call(context.Background(), space.OpID{}, inspect, nil)
	require.NoError(h, err)
}

// pass lets time pass, and all that is due happen.
func (h *house) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// put puts a tuple as a stranger does: without a procedure.
func (h *house) put(name string, t tuple.Tuple) {
	h.Helper()
	require.NoError(h, h.admin.Space(name).Put(h.Context(), t, 0))
}

// count counts the matches that anybody can see.
func (h *house) count(name string, p tuple.Template) int {
	h.Helper()
	n, err := h.admin.Space(name).Count(h.Context(), p)
	require.NoError(h, err)
	return n
}

// total is how many leases were granted, extended, revoked or expired, or results
// came late.
func (h *house) total(what string) int {
	h.Helper()
	totals, err := lease.Totals(h.Context(), h.admin)
	require.NoError(h, err)
	return int(totals[what])
}
