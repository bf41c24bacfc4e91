package engine

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// GateSession is a session whose requests come over something that may break, such
// as a gate's connections.
type GateSession interface {
	space.Conn
	// Ended is closed when the session has ended, or the engine has stopped.
	Ended() <-chan struct{}
	// Err says why the session has ended; nil if it lives.
	Err() error
	// Lose ends the session as if it had given no sign of life. It is for
	// sessions without a TTL, which nothing else would end.
	Lose()
}

// OpenGateSession is Connect for a gate. With resume it opens only a session that lives
// and is nobody's, because it was restored from the journal; if there is none,
// the session was lost, which is fault.ErrClosed.
func (e *Engine) OpenGateSession(ctx context.Context, id string, ttl time.Duration, resume bool) (GateSession, error) {
	if resume && !e.lives(id) {
		return nil, fmt.Errorf("session %s was lost or has ended: %w", id, fault.ErrClosed)
	}
	c, err := e.Connect(ctx, id, ttl)
	if err != nil {
		return nil, err
	}
	return c.(*session), nil
}

func (e *Engine) lives(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fireDue()
	return e.sessions[id] != nil
}

// Ended implements GateSession.
func (s *session) Ended() <-chan struct{} { return s.ended }

// Err implements GateSession.
func (s *session) Err() error {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if s.e.broken == nil {
		s.e.fireDue()
	}
	return s.e.usable(s)
}

// Lose implements GateSession.
func (s *session) Lose() {
	_, _ = s.e.released(context.Background(), s.e.lose(s)) // what fails is logged by commit
}

func (e *Engine) lose(s *session) answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil || e.sessions[s.id] != s {
		return answer{}
	}
	e.endSession(s, space.Lost)
	return e.answer(space.Reply{}, nil)
}
