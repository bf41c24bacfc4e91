// Package engine is the tuple space itself: one in-memory state machine over a
// journal. It finds tuples through indexes, keeps waiters, holds and timers, and
// runs procedures as transactions.
//
// Invariants:
//   - One mutex guards the state; every operation is one critical section, in
//     which it either finds what it wants or is registered as a waiter. Nothing
//     blocks or does I/O under the mutex, except reloading after a failure.
//   - All changes to tuples go through swap, whose inverse is itself; a failed
//     transaction is undone step by step.
//   - Operations act on the latest state. Their answers, queries included, are
//     released only when the journal has reached the position that they saw. One
//     commit serves all that wait for it, and the first of them carries it out.
//   - A commit that fails, or whose outcome is unknown, makes the engine drop its
//     memory and load the journal again; what was not answered yet is
//     fault.ErrUnavailable, to be repeated with its operation id. Blocked calls
//     stay blocked. What was executed is waited for even if its caller gives up,
//     so that nothing that was taken is lost on the way.
//   - While the journal is full, what only puts is fault.ErrOverloaded, and all
//     else goes on. A commit that is journal.ErrFull is undone in memory.
//   - After journal.ErrBroken nothing is written and nothing loaded: the engine
//     has stopped, and Run returns the error.
//
// Random spaces choose with the process's random source, so a run over one is
// not reproducible; everything else is a function of the order of operations
// and of time.
package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/trace"
)

// Bounds of one engine.
const (
	MaxWaiters  = 100_000 // blocked calls
	MaxSessions = 10_000
	MaxSpaces   = 1_000
)

// Config says what an engine is made of.
type Config struct {
	Journal    journal.Journal
	Procedures space.Procedures
	// Trace, if set, is called with every event, one at a time, in order, once
	// the event is durable. It must not call the engine.
	Trace func(trace.Event)
	Log   *slog.Logger // nil: slog.Default
}

// Engine hosts spaces. Its methods may be called concurrently.
type Engine struct {
	journal    journal.Journal
	procedures space.Procedures
	trace      func(trace.Event)
	log        *slog.Logger
	seed       maphash.Seed
	full       func() bool // whether the journal refuses what grows
	tallies    tallies

	wake       chan struct{}    // tells Run to look again
	committing chan struct{}    // holds one token while somebody commits
	position   journal.Position // guarded by committing
	events     uint64           // traced; guarded by committing

	mu       sync.Mutex // guards all that follows
	origin   time.Time  // monotonic: engine time is base since origin
	base     time.Duration
	entries  map[int64]*entry
	rooms    map[string]*room
	sessions sessions
	windows  map[string]*window
	timers   timers
	place    int64
	token    int64
	ages     int64 // of waiters
	waiting  int
	held     int // entries with a Hold
	inflight map[space.OpID]*waiter
	fresh    []int64 // refs of tuples that waiters have yet to be offered
	relieved []*room // rooms in which others may come first now
	broken   error   // why the engine can no longer be used

	life    *life
	tx      transaction
	pending batch // executed, not committed
	spare   batch // an empty one to be pending next
}

// Open returns an engine that stands where its journal does. It starts nothing:
// Run must run while it is used.
func Open(ctx context.Context, c Config) (*Engine, error) {
	e := &Engine{
		journal: c.Journal, procedures: c.Procedures, trace: c.Trace, log: c.Log,
		seed:       maphash.MakeSeed(),
		committing: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		full:   func() bool { return false },
		origin: time.Now(), sessions: sessions{}, inflight: map[space.OpID]*waiter{},
	}
	if e.log == nil {
		e.log = slog.Default()
	}
	if j, ok := c.Journal.(journal.Roomy); ok {
		e.full = j.Full
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.load(ctx); err != nil {
		return nil, fmt.Errorf("engine.Open: %w", err)
	}
	return e, nil
}

// now is the elapsed engine time. It goes on where the journal's clock stood, so
// that a restart only lengthens deadlines.
func (e *Engine) now() time.Duration { return e.base + time.Since(e.origin) }

// Run fires timers until ctx ends; then it ends every session's calls with
// fault.ErrClosed, and makes durable what is pending. The sessions themselves
// stay in the journal, and can come back after a restart. It returns nil then,
// or the error that made the engine unusable. It must run once.
func (e *Engine) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return e.stop()
		case <-e.wake:
		case <-timer.C:
		}
		next, broken := e.tick()
		if broken {
			return e.stop()
		}
		timer.Reset(next)
		if e.flush() != nil { // it was logged, and the engine stands again unless it is broken
			e.rest(ctx)
		}
	}
}

// rest keeps Run from firing again at once what a failing journal undoes.
func (e *Engine) rest(ctx context.Context) {
	if _, broken := e.tick(); broken {
		return
	}
	pause, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	<-pause.Done()
}

// tick fires what is due, and returns how long until the next timer.
func (e *Engine) tick() (next time.Duration, broken bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil {
		return 0, true
	}
	e.fireDue()
	at, ok := e.timers.next()
	if !ok {
		return time.Hour, false
	}
	return max(0, at-e.now()), false
}

// stop closes the engine to everybody.
func (e *Engine) stop() error {
	e.mu.Lock()
	err := e.broken
	e.broken = fmt.Errorf("the engine has stopped: %w", fault.ErrClosed)
	for _, s := range e.sessions {
		s.end(space.Closed)
		for _, w := range s.waiting() {
			e.settle(w, answer{err: e.broken})
		}
	}
	e.mu.Unlock()
	return errors.Join(err, e.flush())
}
