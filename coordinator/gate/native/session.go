package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/wire"
)

// session is the gate's side of a client: it has one connection at a time, and
// for a while none.
type session struct {
	g    *Gate
	id   string
	mode string
	key  []byte
	ttl  time.Duration
	conn engine.GateSession

	large chan struct{} // one token for each call with a large answer

	mu    sync.Mutex // guards what follows
	visit *visit     // the latest
	calls map[uint64]*call
	bytes int // of their requests, or of the answers that are kept
}

var errShutdown = fmt.Errorf("the gate closes: %w", fault.ErrUnavailable)

// openSession opens a session at the engine, or comes back to one that a restart
// left there.
func (g *Gate) openSession(ctx context.Context, h wire.Hello) (*session, error) {
	c, err := g.Engine.OpenGateSession(ctx, h.Session, h.TTL, h.Resume)
	if err != nil {
		return nil, err
	}
	s := &session{g: g, id: h.Session, mode: h.Mode, key: h.Key, ttl: h.TTL, conn: c,
		large: make(chan struct{}, maxLarge), calls: map[uint64]*call{}}
	g.sessions[s.id] = s
	return s, nil
}

// over says that the session has ended.
func (s *session) over() bool { return s.conn.Err() != nil }

// converse carries what the client says over one connection until that ends, and
// waits for the connection's writer.
func (s *session) converse(ctx context.Context, v *visit, c net.Conn) {
	defer close(v.left)
	if err := s.g.welcome(c, s, v); err != nil {
		v.link.Close(err)
		return
	}
	var writing sync.WaitGroup
	writing.Go(func() { v.link.Write(s.conn.Ended(), s.lastWord) })
	stop := context.AfterFunc(ctx, func() { v.link.Close(errShutdown) })
	defer stop()
	defer s.depart(v)
	defer writing.Wait()
	err := errPanic
	defer func() { s.end(v, err) }()
	err = s.listen(ctx, v)
}

var errPanic = errors.New("internal error")

// end closes a connection; who broke the protocol is told why.
func (s *session) end(v *visit, err error) {
	if errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrTooLarge) {
		s.g.Log.Warn("gate: a malformed message", "session", s.id, "error", err)
		v.link.Finish(wire.Frame{Kind: wire.Failure, Body: wire.AppendError(nil, err)}, err)
		return
	}
	v.link.Close(err)
	s.g.Log.Debug("gate: a connection ended", "session", s.id, "error", v.link.Err())
}

// lastWord tells the client that its session is over.
func (s *session) lastWord() (wire.Frame, bool) {
	return wire.Frame{Kind: wire.Ended, Body: wire.AppendError(nil, s.conn.Err())}, true
}

// depart leaves the calls of a connection to the next one.
func (s *session) depart(v *visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.visit == v {
			c.visit = nil
		}
	}
}

// linger waits until somebody comes back to the session, or it ends; one that
// nothing else would end is ended here.
func (s *session) linger(ctx context.Context, v *visit) {
	var grace <-chan time.Time
	if s.ttl == 0 {
		t := time.NewTimer(s.g.Grace)
		defer t.Stop()
		grace = t.C
	}
	select {
	case <-v.replaced:
		return
	case <-ctx.Done():
		return
	case <-s.conn.Ended():
	case <-grace:
		s.conn.Lose()
	}
	s.g.opening.Lock()
	defer s.g.opening.Unlock()
	if s.g.sessions[s.id] == s {
		delete(s.g.sessions, s.id)
	}
}
