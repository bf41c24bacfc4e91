package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/trace"
)

// session is the engine's side of a connected manager, worker or client. It
// implements space.Conn and GateSession. state.mu guards its fields.
type session struct {
	id       string
	number   int64 // of its timer
	e        *Engine
	ttl      time.Duration // without a sign of life; 0: no limit
	deadline time.Duration // engine time
	attached bool          // a handle of this process uses it
	fleet    bool          // see Opening.Fleet
	local    bool          // of this process, which needs it
	process  space.Process // zero after a restart, until its client has come back
	opened   time.Duration // engine time; after a restart, when it was restored
	key      []byte        // SHA-256 of the secret that opens it again after a restart; nil: none is needed

	ephemeral     map[int64]struct{} // refs of the tuples tied to it
	holds         map[int64]struct{} // refs of the tuples it holds
	taken         map[uint64][]int64 // refs by the get that took them, until it is acknowledged; some may be gone
	waiters       map[*waiter]struct{}
	inbox         []answer // messages; void if the transaction that sent them is
	inboxReady    chan struct{}
	subscriptions map[int64]*subscriber

	reported atomic.Bool // whether a refused change of a protocol's space was logged

	ended chan struct{} // closed at the end, after cause is set
	cause space.Cause
}

// GateSession is a session whose requests come over something that may break, such
// as a gate's connections.
type GateSession interface {
	space.Conn
	// CanStart reports whether Start executes a request; others need Do.
	CanStart(r space.Request) bool
	// Start executes a request, or registers it as one that waits, without waiting itself. The
	// answer comes from Started.Finish, which must follow. It does not check a context.
	Start(r space.Request) Started
	// Ended is closed when the session has ended, or the engine has stopped.
	Ended() <-chan struct{}
	// Err returns why the session has ended; nil if it lives.
	Err() error
	// Lose ends the session as if it had given no sign of life. It is for
	// sessions without a TTL, which nothing else would end.
	Lose()
}

// Session opens a session and returns the repository as it sees it. With a ttl the session is lost if it gives no
// sign of life (Tx.KeepAlive) for that long; without one it lives until it is closed or, without a key of its client, the engine restarts. It fails
// with fault.ErrConflict if a session of that id is alive; but a session restored from the journal can be opened
// once, by the client that comes back to it, and keeps its ttl. Other errors: fault.ErrInvalid for a bad id or ttl,
// fault.ErrOverloaded for too many sessions or lack of memory, fault.ErrClosed once the engine has stopped.
func (e *Engine) Session(ctx context.Context, id string, ttl time.Duration) (space.Repository, error) {
	c, err := e.Connect(ctx, id, ttl)
	if err != nil {
		return nil, err
	}
	return space.Over(c), nil
}

// Connect is Session for callers that send requests themselves. It fails as Session does.
func (e *Engine) Connect(ctx context.Context, id string, ttl time.Duration) (space.Conn, error) {
	mode := id[:max(0, strings.LastIndexByte(id, '-'))] // ids are <mode>-<8 hex>
	return e.OpenGateSession(ctx, Opening{ID: id, TTL: ttl, Fleet: true, local: true, Process: space.ThisProcess(mode)})
}

// Opening is the session that a client asks for.
type Opening struct {
	ID  string
	TTL time.Duration // see Engine.Session
	// Resume opens only a live session, restored from the journal; if there is none, the session was lost and opening
	// fails with fault.ErrClosed.
	Resume bool
	// Key is the client's secret. A session that was restored from the journal is opened only with the key with which
	// it was opened, or without one if it had none; another key fails with fault.ErrConflict.
	Key []byte
	// Fleet means that the session may use the reserve of sessions, waiters and memory. It
	// is for managers, workers and the coordinator itself, so that other clients cannot
	// stop them.
	Fleet   bool
	Process space.Process // behind the session

	local bool // opened by Connect
}

// hashedKey returns the hash kept of the key, because a copy of the journal must not open sessions.
func (o Opening) hashedKey() []byte {
	if len(o.Key) == 0 {
		return nil
	}
	h := sha256.Sum256(o.Key)
	return h[:]
}

// OpenGateSession is Connect for a gate. It waits until the session is durable, even if ctx ends meanwhile. If that
// fails, the session is left to the next client that opens it. It fails as Session does, and with fault.ErrClosed if
// the session to resume is gone.
func (e *Engine) OpenGateSession(ctx context.Context, o Opening) (GateSession, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("open session %q: %w", o.ID, space.ContextError(ctx))
	}
	s, a := e.attach(o)
	if _, err := e.awaitDurable(context.WithoutCancel(ctx), a); err != nil {
		e.detach(s)
		return nil, fmt.Errorf("open session %q: %w", o.ID, err)
	}
	return s, nil
}

// attach returns the session of that id: the one that was restored from the journal and waits for its client, or else
// a new one. The session is nil if the answer is an error. The answer is to be awaited, because the session counts
// only once it is durable.
func (e *Engine) attach(o Opening) (*session, answer) {
	st := &e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.stopped != nil {
		return nil, answer{err: st.stopped}
	}
	e.fireDue()
	s, key := st.sessions[o.ID], o.hashedKey()
	if s == nil && o.Resume {
		return nil, answer{err: fmt.Errorf("it was lost or has ended: %w", fault.ErrClosed)}
	}
	if err := st.admitOpening(o, s, key); err != nil {
		return nil, e.answerNow(space.Reply{}, err)
	}
	if s != nil {
		s.attached, s.fleet, s.local, s.process = true, o.Fleet, o.local, o.Process
		if s.ttl == 0 { // its grace ends
			s.deadline = 0
			st.timers.unset(s.number)
		}
		st.startTTL(s)
		return s, e.answerNow(space.Reply{}, nil)
	}
	s = e.newSession(o.ID, o.TTL)
	s.attached, s.fleet, s.local, s.process, s.key = true, o.Fleet, o.local, o.Process, key
	tx := e.beginTransaction(s)
	tx.traceEvent(trace.Event{Operation: trace.Begin, Process: o.ID, Result: trace.OK})
	tx.facts = append(tx.facts, &journal.Session{ID: o.ID, TTL: o.TTL, Key: key})
	e.finishTransaction(tx, space.OpID{}, space.Reply{})
	return s, e.answerNow(space.Reply{}, nil)
}

// admitOpening returns why attach refuses an opening; nil if it may go on: fault.ErrInvalid,
// fault.ErrConflict or fault.ErrOverloaded. s is the session of that id, and nil if a new one is to
// be made, whose memory is reserved then. key is the hash of the client's key: a session that waits
// is given to no other client, and is compared in constant time, so that a client cannot learn the
// hash by measuring. The sessions of the fleet have places and memory that others may not use. The
// caller holds state.mu.
func (st *state) admitOpening(o Opening, s *session, key []byte) error {
	limit, class := maxSessions-fleetSessions, memory.Growth
	if o.Fleet {
		limit, class = maxSessions, memory.Draining
	}
	switch {
	case o.ID == "" || len(o.ID) > space.MaxName:
		return fmt.Errorf("%w: a session needs a name of at most %d bytes", fault.ErrInvalid, space.MaxName)
	case o.TTL < 0:
		return fmt.Errorf("%w: a TTL of %s, want 0 or more", fault.ErrInvalid, o.TTL)
	case s != nil && s.attached:
		return fmt.Errorf("%w: a session of that name is alive", fault.ErrConflict)
	case s != nil && subtle.ConstantTimeCompare(s.key, key) != 1:
		return fmt.Errorf("%w: a session of that name waits for another client", fault.ErrConflict)
	case s == nil && len(st.sessions) >= limit:
		return fmt.Errorf("%w: there are already %d sessions, the maximum", fault.ErrOverloaded, len(st.sessions))
	case s == nil:
		return st.memory.Reserve(sessionCost, class)
	}
	return nil
}

// detach leaves a session, which may be nil, to the next client that opens it. It ends a session
// without a TTL, which would wait for a client without limit.
func (e *Engine) detach(s *session) {
	if s == nil {
		return
	}
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	s.attached = false
	if e.state.stopped == nil && s.ttl == 0 && e.state.sessions[s.id] == s {
		e.endSession(s, space.Closed)
	}
}

// newSession adds a session to the live ones, and starts its TTL. The caller holds state.mu,
// counts the session's memory (sessionCost), and records the session in the journal.
func (e *Engine) newSession(id string, ttl time.Duration) *session {
	st := &e.state
	s := &session{
		id: id, e: e, ttl: ttl, number: st.nextNumber(), opened: st.now(),
		ephemeral: map[int64]struct{}{}, holds: map[int64]struct{}{}, taken: map[uint64][]int64{}, waiters: map[*waiter]struct{}{},
		inboxReady: make(chan struct{}, 1), subscriptions: map[int64]*subscriber{}, ended: make(chan struct{}),
	}
	st.sessions[id] = s
	st.startTTL(s)
	return s
}

// startTTL starts a session's TTL again, and its timer, if it has one. The caller holds
// state.mu.
func (st *state) startTTL(s *session) {
	if s.ttl > 0 {
		s.deadline = st.now() + s.ttl
		st.timers.setSession(s.deadline, s)
	}
}

// close ends the session in order. If it has ended already, close does nothing, with one exception: if its end did
// not reach the journal, a reload has restored the session, and close ends it again.
func (s *session) close(ctx context.Context) (space.Reply, error) {
	return s.e.awaitDurable(context.WithoutCancel(ctx), s.e.endAttached(s, space.Closed))
}

// endAttached ends the session that s was opened as, if it lives, or the restored one of the
// same id that close describes. It does nothing if the engine has stopped.
func (e *Engine) endAttached(s *session, cause space.Cause) answer {
	st := &e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.stopped != nil {
		return answer{}
	}
	e.fireDue()
	now := st.sessions[s.id]
	isRestored := now != nil && !now.attached && s.cause == space.Closed // its end did not reach the journal
	if now == s || isRestored {
		e.endSession(now, cause)
	}
	return e.answerNow(space.Reply{}, nil)
}

// Session implements space.Conn.
func (s *session) Session() string { return s.id }

// Ended implements GateSession.
func (s *session) Ended() <-chan struct{} { return s.ended }

// Err implements GateSession. It fires timers first, because the TTL of the session may have
// passed. It returns nil while the session lives.
func (s *session) Err() error {
	s.e.state.mu.Lock()
	defer s.e.state.mu.Unlock()
	return s.e.fireDueFor(s)
}

// Lose implements GateSession. An error of the commit is logged by the engine.
func (s *session) Lose() {
	_, _ = s.e.awaitDurable(context.Background(), s.e.endAttached(s, space.Lost))
}

// end marks the session as ended, with the cause for endError, empties its inbox and ends its
// subscriptions. It may be repeated. The caller holds state.mu.
func (s *session) end(cause space.Cause) {
	select {
	case <-s.ended:
		return
	default:
	}
	s.cause = cause
	for len(s.inbox) > 0 {
		s.removeOldest()
	}
	for _, sub := range s.subscriptions {
		s.e.state.endSubscription(sub)
	}
	close(s.ended)
}

// endError returns why the session has ended, which it must have. errors.Is finds fault.ErrClosed in each; the text
// tells a lost session from one that was closed.
func (s *session) endError() error {
	switch {
	case s.cause == space.Lost && s.ttl == 0:
		return fmt.Errorf("session %s was lost with its connection: %w", s.id, fault.ErrClosed)
	case s.cause == space.Lost:
		return fmt.Errorf("session %s was lost: no sign of life for %s: %w", s.id, s.ttl, fault.ErrClosed)
	default:
		return fmt.Errorf("session %s: %w", s.id, fault.ErrClosed)
	}
}

// waitersByAge returns the session's blocked calls, oldest first.
func (s *session) waitersByAge() []*waiter {
	return slices.SortedFunc(maps.Keys(s.waiters), func(a, b *waiter) int { return cmp.Compare(a.age, b.age) })
}

// await waits for a signal, or for the end of ctx or of the session. It returns nil for the signal only. The caller
// does not hold state.mu.
func (s *session) await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-s.ended:
		return s.endError()
	case <-ctx.Done():
		return space.ContextError(ctx)
	}
}

// sessions are the live ones, by id.
type sessions map[string]*session

// link records at the sessions concerned, if they live, that an entry is tied to one, is held by
// one, or was taken by a get of one.
func (all sessions) link(x *entry) {
	if s := all[x.Owner]; s != nil {
		s.ephemeral[x.Ref] = struct{}{}
	}
	if x.Hold == nil {
		return
	}
	if s := all[x.Hold.Session]; s != nil {
		s.holds[x.Ref] = struct{}{}
		if isTaken(x) {
			s.taken[x.Hold.Op] = append(s.taken[x.Hold.Op], x.Ref)
		}
	}
}

// unlink is the inverse of link, except that it leaves the ref in taken, which may have
// refs of entries that are gone.
func (all sessions) unlink(x *entry) {
	if s := all[x.Owner]; s != nil {
		delete(s.ephemeral, x.Ref)
	}
	if x.Hold == nil {
		return
	}
	if s := all[x.Hold.Session]; s != nil {
		delete(s.holds, x.Ref)
	}
}
