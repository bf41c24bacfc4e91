package engine

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/trace"
)

// Session opens a session and returns the repository as it sees it. With a ttl
// the session is lost when it gives no sign of life (Tx.KeepAlive) for so long;
// with none it lives until it is closed or the engine restarts. A live session
// of that id is fault.ErrConflict, except that one which was restored from the
// journal can be opened once by whoever comes back to it; its ttl stays as it
// was.
func (e *Engine) Session(ctx context.Context, id string, ttl time.Duration) (space.Repository, error) {
	c, err := e.Connect(ctx, id, ttl)
	if err != nil {
		return nil, err
	}
	return space.Over(c), nil
}

// Connect is Session for whoever carries requests itself.
func (e *Engine) Connect(ctx context.Context, id string, ttl time.Duration) (space.Conn, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("open session %q: %w", id, over(ctx))
	}
	s, a := e.attach(id, ttl)
	if _, err := e.released(context.WithoutCancel(ctx), a); err != nil {
		e.detach(s)
		return nil, fmt.Errorf("open session %q: %w", id, err)
	}
	return s, nil
}

func (e *Engine) attach(id string, ttl time.Duration) (*session, answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil {
		return nil, answer{err: e.broken}
	}
	e.fireDue()
	s, err := e.open(id, ttl)
	return s, e.answer(space.Reply{}, err)
}

// detach leaves a session to whoever opens it next, or ends it if it would wait
// for ever.
func (e *Engine) detach(s *session) {
	if s == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.attached = false
	if e.broken == nil && s.ttl == 0 && e.sessions[s.id] == s {
		e.endSession(s, space.Closed)
	}
}

func (e *Engine) open(id string, ttl time.Duration) (*session, error) {
	switch {
	case id == "" || len(id) > space.MaxName:
		return nil, fmt.Errorf("%w: a session needs a name of at most %d bytes", fault.ErrInvalid, space.MaxName)
	case ttl < 0:
		return nil, fmt.Errorf("%w: a TTL of %s", fault.ErrInvalid, ttl)
	}
	if s := e.sessions[id]; s != nil {
		if s.attached {
			return nil, fmt.Errorf("%w: a session of that name is alive", fault.ErrConflict)
		}
		s.attached = true
		e.startClock(s)
		return s, nil
	}
	if len(e.sessions) >= MaxSessions {
		return nil, fmt.Errorf("%w: %d sessions", fault.ErrOverloaded, MaxSessions)
	}
	s := e.newSession(id, ttl)
	s.attached = true
	tx := e.begin(s)
	tx.mark(trace.Event{Operation: trace.Begin, Process: id, Result: trace.OK})
	tx.facts = append(tx.facts, &journal.Session{ID: id, TTL: ttl})
	e.finish(tx, space.OpID{}, space.Reply{})
	return s, nil
}

// newSession adds a session to those that live.
func (e *Engine) newSession(id string, ttl time.Duration) *session {
	s := &session{
		id: id, e: e, ttl: ttl, number: e.nextPlace(),
		ephemeral: map[int64]struct{}{}, holds: map[int64]struct{}{}, waiters: map[*waiter]struct{}{},
		mailed: make(chan struct{}, 1), subs: map[int64]*subscriber{}, ended: make(chan struct{}),
	}
	e.sessions[id] = s
	e.startClock(s)
	return s
}

// startClock sets a session's deadline anew, if it has a TTL.
func (e *Engine) startClock(s *session) {
	if s.ttl > 0 {
		s.deadline = e.now() + s.ttl
		e.timers.setSession(s.deadline, s)
	}
}

// close ends the session in order. Once the session has ended that is nothing;
// except that a session whose end did not reach the journal has come back to
// life, and is ended again.
func (s *session) close(ctx context.Context) (space.Reply, error) {
	return s.e.released(context.WithoutCancel(ctx), s.e.closeSession(s))
}

func (e *Engine) closeSession(s *session) answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil {
		return answer{}
	}
	e.fireDue()
	if now := e.sessions[s.id]; now == s || now != nil && !now.attached && s.cause == space.Closed {
		e.endSession(now, space.Closed)
	}
	return e.answer(space.Reply{}, nil)
}
