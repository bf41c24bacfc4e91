package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// SessionInfo describes a live session, for administrators.
type SessionInfo struct {
	ID      string
	Process space.Process // zero if the session waits for its client after a restart
	Opened  time.Time     // after a restart, when the session was restored
	// Seen is when the session gave its last sign of life; zero for a session without a TTL.
	Seen  time.Time
	TTL   time.Duration
	Holds int // tuples that it holds, or has taken and not acknowledged
	Waits int // its calls that wait
	// Waiting is true after a restart, until the client has come back.
	Waiting bool
}

// Sessions describes the sessions, by id, once it has ended those whose TTL has passed. Times
// are wall clock: the time now less how long ago they were in engine time. It locks state.mu.
func (e *Engine) Sessions() []SessionInfo {
	st := &e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	e.fireDue()
	elapsed, now := st.now(), time.Now()
	all := make([]SessionInfo, 0, len(st.sessions))
	for _, s := range st.sessions {
		info := SessionInfo{
			ID: s.id, Process: s.process, TTL: s.ttl, Holds: len(s.holds), Waits: len(s.waiters), Waiting: !s.attached,
			Opened: now.Add(s.opened - elapsed),
		}
		if s.ttl > 0 {
			info.Seen = now.Add(s.deadline - s.ttl - elapsed)
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b SessionInfo) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// EndSession ends a session as its client would: what it holds is handed back, and its calls end with
// fault.ErrClosed. It fails with fault.ErrForbidden for a session of this process, because the process needs it, with
// fault.ErrNotFound for an unknown one, and with fault.ErrClosed once the engine has stopped.
func (e *Engine) EndSession(ctx context.Context, id string) error {
	if _, err := e.awaitDurable(ctx, e.endNamed(id)); err != nil {
		return fmt.Errorf("session %q: %w", id, err)
	}
	return nil
}

// endNamed is EndSession without the wait until the end is durable. It locks state.mu.
func (e *Engine) endNamed(id string) answer {
	st := &e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.stopped != nil {
		return answer{err: st.stopped}
	}
	e.fireDue()
	s := st.sessions[id]
	switch {
	case s == nil:
		return e.answerNow(space.Reply{}, fault.ErrNotFound)
	case s.local:
		return e.answerNow(space.Reply{}, fmt.Errorf("%w: it is a part of the coordinator's process", fault.ErrForbidden))
	}
	e.endSession(s, space.Closed)
	return e.answerNow(space.Reply{}, nil)
}
