// Package engine is the tuple space itself: one in-memory state machine over a
// journal. It finds tuples through indexes, keeps waiters, holds and timers, and
// runs procedures as transactions.
//
// The path of a request is request.go (Do, start, execute) and then commit.go
// (finishTransaction, awaitDurable, commit). waiters.go continues requests that
// had to wait, and expire.go starts transactions because of time.
//
// Invariants:
//   - state.mu guards the state; every operation is one critical section, in which
//     it either finds what it looks for or is registered as a waiter. No code blocks
//     or does I/O under the mutex, except reloading after a failure.
//   - All changes to tuples go through replace, whose inverse is replace with its
//     arguments exchanged; a failed transaction is undone step by step.
//   - Operations act on the latest state. Their answers, queries included, are
//     released only when the journal has reached the position that they saw. One
//     commit serves all callers that wait for it; the first of them carries it out.
//   - If a commit fails or its outcome is unknown, the engine drops its memory and
//     loads the journal again; answers that were not released yet become
//     fault.ErrUnavailable, to be repeated with their operation id. Blocked calls
//     stay blocked. A changing operation is waited for even if its caller gives up,
//     because otherwise a tuple that it took would be lost on the way.
//   - While the journal is full, transactions that only put fail with fault.ErrOverloaded and all others go on. A
//     commit that fails with journal.ErrFull is undone in memory.
//   - While the memory budget is used up, the same transactions are refused, and so are new waiters and sessions from
//     outside the fleet (Opening.Fleet).
//   - After journal.ErrBroken the engine neither writes nor loads: it has stopped,
//     and Run returns the error.
//   - With a journal that may get another owner (journal.Owned), an answer also waits for a proof that the engine
//     owned the journal after the answer was made: a commit that began later, or Confirm if there is nothing to commit.
//     One proof serves all that wait. An engine that was deposed, or may have been, stops, and releases no answer.
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
	"leasehold/shared/space/memory"
	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

// Bounds of one engine.
const (
	maxWaiters  = 100_000 // blocked calls
	maxSessions = 10_000
	maxSpaces   = 1_000

	// fleetWaiters, fleetSessions and fleetSpaces are the part of these bounds that only the
	// fleet may use.
	fleetWaiters  = maxWaiters / 10
	fleetSessions = maxSessions / 10
	fleetSpaces   = maxSpaces / 10
)

// ClientSpaces is how many spaces there may be for a client outside the fleet to create one more.
const ClientSpaces = maxSpaces - fleetSpaces

// Config is what an engine is made of.
type Config struct {
	Journal    journal.Journal
	Procedures space.Procedures
	Readers    space.Readers // named like procedures
	// Takes are procedures, by space, that are called for a get from the space: with the encoded template and whether
	// the get may wait (space.TakeArgs). What they return is the reply; if they return nothing, a get that may wait
	// calls the procedure again. A getAll from such a space fails with fault.ErrInvalid.
	Takes map[string]string
	// QueryOnly are the spaces that only procedures change. A session that puts into one or takes from
	// one by itself gets fault.ErrForbidden, whatever gate it came through.
	QueryOnly map[string]bool
	// PutChecks are checks, by space, of the tuples that sessions put into it.
	PutChecks map[string]space.PutCheck
	// Reserving are the spaces that keep a tenth of their capacity for puts with space.PutOptions.Reserve.
	Reserving map[string]bool
	// ShareBy are the fields, by space, by which tuples have shares of the memory (space.Definition.ShareBy).
	ShareBy map[string]int
	// Trace, if set, is called with every event, one at a time, in order, once
	// the event is durable. It must not call the engine.
	Trace func(trace.Event)
	// Settings are written to the trace after each load of the journal: pairs of a name and a value.
	Settings tuple.Tuple
	// SessionLost, if not nil, gets the id and process of each lost session. The engine calls it while it is locked,
	// so it must neither block nor call the engine.
	SessionLost func(id string, p space.Process)
	// Noted, if not nil, gets the notes of each transaction that succeeds (space.Tx.Note). The engine calls it while it
	// is locked, so it must neither block nor call the engine. It must not keep the slice.
	Noted func(notes []any)
	Log   *slog.Logger // nil: slog.Default
	// Now returns the time with a monotonic reading; nil is time.Now.
	Now func() time.Time
	// Memory counts what the engine keeps, and refuses what only adds to it; nil: no limit.
	Memory *memory.Budget
	// Measures are the durations that the engine measures.
	Measures []Measure
	// MaxTTL bounds the TTL of sessions that are restored from the journal; 0: no limit.
	MaxTTL time.Duration
	// Grace is how long a restored session without a TTL waits for its client, if that opened it with
	// a key; 0: it ends at once.
	Grace time.Duration
}

// Engine hosts spaces. Its methods may be called concurrently.
type Engine struct {
	journal     journal.Journal
	owned       journal.Owned // the journal, if it may get another owner; nil: it cannot
	procedures  space.Procedures
	readers     space.Readers
	takes       map[string]string
	queryOnly   map[string]bool
	putChecks   map[string]space.PutCheck
	reserving   map[string]bool
	shareBy     map[string]int
	maxTTL      time.Duration               // of sessions that are restored; 0: no limit
	grace       time.Duration               // of those without a TTL
	trace       func(trace.Event)           // nil: no trace
	settings    tuple.Tuple                 // for the trace
	sessionLost func(string, space.Process) // or nil
	noted       func([]any)                 // or nil
	log         *slog.Logger
	seed        maphash.Seed
	journalFull func() bool   // whether the journal refuses transactions that only put
	wake        chan struct{} // capacity 1; tells Run to look at the timers and at pending
	counters    counters
	turns       turns

	state     state
	committer committer // its turn is taken before state.mu, never after
}

// state is everything that operations read and change.
type state struct {
	// mu guards all fields. A function that uses them expects its caller to hold mu, unless it
	// locks mu itself.
	mu sync.Mutex

	clock   func() time.Time
	started time.Time     // when this process opened the engine; has a monotonic reading
	base    time.Duration // engine time at started, less all pauses since then
	seen    time.Duration // since started, when now was called last
	paused  time.Duration // not logged yet

	// memory is the estimated size of entries, indexes, sessions and waiters, and
	// of transactions that are not committed. What load makes again is in contents.
	memory   memory.Account
	contents memory.Account
	kept     memory.Account // answers, which load makes again too

	entries  map[int64]*entry // by ref
	spaces   map[string]*spaceState
	sessions sessions
	ending   *session                 // whose holds end now; nil: none
	answers  map[string]*answerWindow // by session
	timers   timers
	measures map[string][]*measure // by space
	held     int                   // entries with a Hold
	events   int64                 // the part of memory that events of subscriptions take

	lastNumber int64 // see nextNumber
	lastToken  int64
	lastAge    int64 // of waiters

	waiting     int                    // blocked calls
	inFlight    map[space.OpID]*waiter // those with an operation id
	newTuples   []int64                // refs of tuples that are still to be offered to waiters
	freedSpaces []*spaceState          // spaces with capacity for a waiting put, or with a new head

	epoch   *epoch
	stopped error       // why the engine can no longer be used; nil while it can
	tx      transaction // the only one: see beginTransaction
	pending batch       // executed, not committed
	spare   batch       // an empty one with memory to be pending next
	toTrace bool        // the whole state is to be traced (TraceState)
}

// committer is what commits need. A caller that has put its value into turn may commit;
// only it may use the other fields, until it takes the value out.
type committer struct {
	turn     chan struct{} // capacity 1
	position journal.Position
	traced   uint64 // events
}

// Open returns an engine with the state of its journal, which it claims first if several can own it (journal.Owned). It starts no
// goroutine: Run must run while the engine is used. It holds state.mu while it loads, because the functions that apply facts require it.
func Open(ctx context.Context, c Config) (*Engine, error) {
	e := &Engine{
		journal: c.Journal, procedures: c.Procedures, readers: c.Readers, takes: c.Takes, queryOnly: c.QueryOnly, putChecks: c.PutChecks, reserving: c.Reserving, shareBy: c.ShareBy, maxTTL: c.MaxTTL, grace: c.Grace, trace: c.Trace, settings: c.Settings, sessionLost: c.SessionLost, noted: c.Noted, log: c.Log,
		seed: maphash.MakeSeed(), journalFull: func() bool { return false }, wake: make(chan struct{}, 1),
		state:     state{clock: time.Now, sessions: sessions{}, inFlight: map[space.OpID]*waiter{}, measures: measuresBySpace(c.Measures)},
		committer: committer{turn: make(chan struct{}, 1)},
	}
	if e.log == nil {
		e.log = slog.Default()
	}
	if c.Now != nil {
		e.state.clock = c.Now
	}
	e.state.started = e.state.clock()
	if j, ok := c.Journal.(journal.FullReporter); ok {
		e.journalFull = j.Full
	}
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	e.state.memory.Budget, e.state.contents.Budget = c.Memory, c.Memory
	e.state.kept = memory.Account{Budget: c.Memory, Residue: true}
	if e.owned, _ = c.Journal.(journal.Owned); e.owned != nil {
		epoch, err := e.owned.Claim(ctx)
		if err != nil {
			return nil, fmt.Errorf("engine.Open: %w", err)
		}
		e.log.Info("this engine owns the journal", "epoch", epoch)
	}
	if err := e.load(ctx); err != nil {
		return nil, fmt.Errorf("engine.Open: %w", err)
	}
	return e, nil
}

const (
	// wakeInterval is how often Run reads the clock at least.
	wakeInterval = time.Second
	// maxAsleep is the longest time between two readings of the clock in which the
	// process counts as awake: more than wakeInterval, because a busy machine may be late,
	// and so little that a session (6 s) whose client sends heartbeats (2 s) outlives it.
	maxAsleep = 5 * time.Second / 2
)

// now is the elapsed engine time. It continues from the journal's clock, so that
// a restart only lengthens deadlines. So does a pause of the process (SIGSTOP, a
// suspended machine): engine time stands still between two readings that are further
// apart than maxAsleep, because during a pause the engine read no sign of life.
func (st *state) now() time.Duration {
	elapsed := st.clock().Sub(st.started)
	if pause := elapsed - st.seen; pause > maxAsleep {
		st.base -= pause
		st.paused += pause
	}
	st.seen = elapsed
	return st.base + elapsed
}

// nextNumber returns a number that no entry, session or subscription of this
// engine has had. It names them, and orders entries by age.
func (st *state) nextNumber() int64 {
	st.lastNumber++
	return st.lastNumber
}

// Run fires timers until ctx ends; then it ends every session's calls with fault.ErrClosed, and commits the pending
// batch. The sessions themselves stay in the journal, and can come back after a restart. It returns nil then, or the
// error that made the engine unusable, or why the last commit failed. It must run once.
func (e *Engine) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return e.shutDown()
		case <-e.wake:
		case <-timer.C:
		}
		next, stopped := e.fireTimers()
		if stopped {
			return e.shutDown()
		}
		e.logPause()
		timer.Reset(next)
		if e.flush() == nil {
			continue
		}
		// The commit error was logged, and may have stopped the engine: then the loop ends, because
		// stopForGood has signalled wake. Otherwise wait before the next attempt, because a timer
		// whose effect was undone is due again at once.
		if _, stopped := e.fireTimers(); !stopped {
			pause, cancel := context.WithTimeout(ctx, time.Second)
			<-pause.Done()
			cancel()
		}
	}
}

// fireTimers fires the timers that are due. It returns after how long to call it again, at most
// wakeInterval, so that now notices a pause of the process; and whether the engine has stopped.
func (e *Engine) fireTimers() (next time.Duration, stopped bool) {
	st := &e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.stopped != nil {
		return 0, true
	}
	e.fireDue()
	now := st.now() // even without timers, because it has to be called at each wakeInterval
	next = wakeInterval
	if at, ok := st.timers.next(); ok {
		next = min(max(0, at-now), wakeInterval)
	}
	st.timers.until = now + next
	return next, false
}

// logPause logs a pause of the process once, if now has noticed one. It logs without state.mu,
// because writing a log may take long.
func (e *Engine) logPause() {
	e.state.mu.Lock()
	pause := e.state.paused
	e.state.paused = 0
	e.state.mu.Unlock()
	if pause > 0 {
		e.log.Warn("engine: this process did not run for a time; all deadlines of the spaces are later by it", "pause", pause.Round(time.Millisecond))
	}
}

// shutDown ends every session and blocked call with fault.ErrClosed, and commits the pending
// batch. It returns why the engine had stopped before, if it had, and the error of the commit. The sessions of an
// engine that was deposed go on elsewhere, and it has ended their calls.
func (e *Engine) shutDown() error {
	st := &e.state
	st.mu.Lock()
	err := st.stopped
	if errors.Is(err, ErrDeposed) {
		st.mu.Unlock()
		return err
	}
	st.stopped = fmt.Errorf("the engine has stopped: %w", fault.ErrClosed)
	for _, s := range st.sessions {
		s.end(space.Closed)
		for _, w := range s.waitersByAge() {
			e.finishWait(w, answer{err: st.stopped})
		}
	}
	st.mu.Unlock()
	return errors.Join(err, e.flush())
}

// signal wakes the goroutine that waits on c, a channel of capacity 1. It does not block: a
// signal that was not received yet serves for both.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
