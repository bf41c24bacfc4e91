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
//     stay blocked.
//
// Random spaces choose with the process's random source, so a run over one is
// not reproducible; everything else is a function of the order of operations
// and of time.
package engine

import (
	"context"
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
	// the event is durable.
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

	committing chan struct{} // holds one token while somebody commits
	ended      chan struct{} // closed when the engine has stopped

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
	inflight map[space.OpID]*waiter
	fresh    []int64 // refs of tuples that waiters have yet to be offered
	relieved []*room // rooms that lost a tuple
	serving  bool
	broken   error // why the engine can no longer be used

	life     *life
	pending  []outcome // executed, not committed
	position journal.Position
	events   uint64 // traced
}

// Open returns an engine that stands where its journal does. It starts nothing:
// Run must run while it is used.
func Open(ctx context.Context, c Config) (*Engine, error) {
	e := &Engine{
		journal: c.Journal, procedures: c.Procedures, trace: c.Trace, log: c.Log,
		seed:       maphash.MakeSeed(),
		committing: make(chan struct{}, 1), ended: make(chan struct{}),
		origin: time.Now(), sessions: sessions{}, inflight: map[space.OpID]*waiter{},
	}
	if e.log == nil {
		e.log = slog.Default()
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

// Session opens a session and returns the repository as it sees it. With a ttl
// the session is lost when it gives no sign of life (Tx.KeepAlive) for so long.
// A live session of that id is fault.ErrConflict.
func (e *Engine) Session(ctx context.Context, id string, ttl time.Duration) (space.Repository, error) {
	c, err := e.Connect(ctx, id, ttl)
	if err != nil {
		return nil, err
	}
	return space.Over(c), nil
}

// Connect is Session for whoever carries requests itself.
func (e *Engine) Connect(ctx context.Context, id string, ttl time.Duration) (space.Conn, error) {
	e.mu.Lock()
	s, err := e.attach(id, ttl)
	a := e.answer(space.Reply{}, err)
	e.mu.Unlock()
	if _, err := e.released(ctx, a); err != nil {
		return nil, fmt.Errorf("open session %q: %w", id, err)
	}
	return s, nil
}

func (e *Engine) attach(id string, ttl time.Duration) (*session, error) {
	if e.broken != nil {
		return nil, e.broken
	}
	e.fireDue()
	if id == "" {
		return nil, fmt.Errorf("%w: a session needs a name", fault.ErrInvalid)
	}
	if s := e.sessions[id]; s != nil {
		if s.attached {
			return nil, fmt.Errorf("%w: a session of that name is alive", fault.ErrConflict)
		}
		s.attached = true
		return s, nil
	}
	if len(e.sessions) == MaxSessions {
		return nil, fmt.Errorf("%w: %d sessions", fault.ErrOverloaded, MaxSessions)
	}
	s := newSession(e, id, ttl)
	s.attached = true
	e.sessions[id] = s
	e.startClock(s)
	tx := e.begin(s)
	tx.facts = append(tx.facts, &journal.Session{ID: id, TTL: ttl})
	e.finish(tx, space.OpID{}, nil)
	return s, nil
}

// startClock sets a session's deadline, if it has a TTL.
func (e *Engine) startClock(s *session) {
	if s.ttl > 0 {
		s.deadline = e.now() + s.ttl
		e.timers.addSession(s.deadline, s)
	}
}

// Run fires timers until ctx ends; then it makes durable what is pending, and
// ends every session and every call with fault.ErrClosed. It returns nil then,
// or the error that made the engine unusable. It must run once.
func (e *Engine) Run(ctx context.Context) error {
	defer close(e.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return e.stop()
		case <-e.wakeup():
		case <-timer.C:
		}
		e.mu.Lock()
		broken := e.broken
		if broken == nil {
			e.fireDue()
		}
		timer.Reset(e.untilNext())
		e.mu.Unlock()
		if broken != nil {
			return e.stop()
		}
		e.flush()
	}
}

func (e *Engine) wakeup() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.timers.wake
}

// stop closes the engine to everybody.
func (e *Engine) stop() error {
	e.flush()
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.broken
	e.broken = fmt.Errorf("the engine has stopped: %w", fault.ErrClosed)
	for _, s := range e.sessions {
		s.end(space.Closed)
		for _, w := range s.waiting() {
			e.settle(w, answer{err: e.broken})
		}
	}
	return err
}

// untilNext returns how long until the next timer.
func (e *Engine) untilNext() time.Duration {
	at, ok := e.timers.next()
	if !ok {
		return time.Hour
	}
	return max(0, at-e.now())
}
