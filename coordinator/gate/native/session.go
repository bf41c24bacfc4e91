package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"leasehold/coordinator/peer"
	"leasehold/shared/fault"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/wire"
)

// session is the gate's side of a client: it has one connection at a time, and none
// while the client reconnects.
type session struct {
	g       *Gate
	id      string
	peer    peer.Peer // that opened it
	mode    string
	key     []byte
	ttl     time.Duration
	backend engine.GateSession

	large chan struct{} // one value for each large answer that is made or sent

	mu         sync.Mutex  // guards what follows
	connection *connection // the latest
	calls      map[uint64]*call
	bytes      int // of the calls' requests, or of their answers if those are kept
}

var (
	errShutdown = fmt.Errorf("the coordinator is shutting down: %w", fault.ErrUnavailable)
	errPanic    = errors.New("internal error")
)

// openSession opens a session at the engine, or continues one that the engine restored
// after a restart. The caller holds opening.
func (g *Gate) openSession(ctx context.Context, h wire.Hello, p peer.Peer) (*session, error) {
	if err := g.peerSessions.Take(p); err != nil {
		return nil, err
	}
	backend, err := g.Engine.OpenGateSession(ctx, h.Session, h.TTL, h.Resume)
	if err != nil {
		g.peerSessions.Return(p)
		return nil, err
	}
	s := &session{g: g, id: h.Session, peer: p, mode: h.Mode, key: h.Key, ttl: h.TTL, backend: backend,
		large: make(chan struct{}, maxLarge), calls: map[uint64]*call{}}
	g.sessions[s.id] = s
	return s, nil
}

// forgetSession drops a session that has ended; nil or one that is forgotten already has no
// effect. The caller holds opening.
func (g *Gate) forgetSession(s *session) {
	if s != nil && g.sessions[s.id] == s {
		delete(g.sessions, s.id)
		g.peerSessions.Return(s.peer)
	}
}

// serve reads and carries out the client's requests over one connection until that
// ends. It returns when the connection's writer has ended too.
func (s *session) serve(ctx context.Context, conn *connection, nc net.Conn) {
	defer close(conn.ended)
	if err := s.g.welcome(nc, s, conn); err != nil {
		conn.link.Close(err)
		return
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		conn.link.Write(s.backend.Ended(), func() wire.Frame {
			return wire.Frame{Kind: wire.Ended, Body: wire.AppendError(nil, s.backend.Err())}
		})
	})
	stop := context.AfterFunc(ctx, func() { conn.link.Close(errShutdown) })
	defer stop()
	defer s.detach(conn)
	defer writing.Wait()
	err := errPanic // unless readRequests returns
	defer func() { s.closeConnection(conn, err) }()
	err = s.readRequests(ctx, conn)
}

// closeConnection closes a connection because of err, which the client is sent if it
// violated the protocol.
func (s *session) closeConnection(conn *connection, err error) {
	if errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrTooLarge) {
		s.g.Log.Warn("gate: malformed message", "session", s.id, "error", err)
		conn.link.Finish(failure(0, err), err)
		return
	}
	conn.link.Close(err)
	s.g.Log.Debug("gate: connection ended", "session", s.id, "error", conn.link.Err())
}

// detach leaves the calls of a connection that has ended to the next one.
func (s *session) detach(conn *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.connection == conn {
			c.connection = nil
		}
	}
}

// awaitReconnect waits, after conn has ended, until another connection takes its place
// or the session ends. A session without a TTL is ended after Grace, because nothing
// else would end it.
func (s *session) awaitReconnect(ctx context.Context, conn *connection) {
	var grace <-chan time.Time
	if s.ttl == 0 {
		t := time.NewTimer(s.g.Grace)
		defer t.Stop()
		grace = t.C
	}
	select {
	case <-conn.replaced:
		return
	case <-ctx.Done():
		return
	case <-s.backend.Ended():
	case <-grace:
		s.backend.Lose()
	}
	s.g.opening.Lock()
	defer s.g.opening.Unlock()
	s.g.forgetSession(s)
}
