package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"leasehold/coordinator/peer"
	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/wire"
)

// session is the gate's side of a client: it has one connection at a time, and none
// while the client reconnects.
type session struct {
	g        *Gate
	id       string
	remote   string    // IP address of the connection that opened it
	peer     peer.Peer // that opened it
	identity access.Identity
	mode     string
	key      []byte
	ttl      time.Duration
	backend  engine.GateSession // nil until opened is closed
	opened   chan struct{}      // closed when the engine has opened the session, or refused to

	large chan struct{} // one value for each large answer in preparation or transit

	mu         sync.Mutex  // guards what follows
	connection *connection // the latest
	calls      map[uint64]*call
	bytes      int            // of the calls' requests, or of their answers if those are kept
	kept       memory.Account // answers that are kept
}

var (
	errShutdown = fmt.Errorf("the coordinator is shutting down: %w", fault.ErrUnavailable)
	errPanic    = errors.New("internal error")
)

// newSession returns a session before it is opened.
func (g *Gate) newSession(h wire.Hello, conn *connection) *session {
	return &session{g: g, id: h.Session, remote: conn.remote, peer: conn.peer, identity: conn.identity, mode: h.Mode, key: h.Key, ttl: h.TTL, opened: make(chan struct{}), connection: conn,
		large: make(chan struct{}, maxLarge), calls: map[uint64]*call{}, kept: memory.Account{Budget: g.Memory}}
}

// open opens the session at the engine, or continues one that the engine restored after a restart. A session
// counts for its peer and in memory until awaitReconnect ends it. If a quota, the memory budget or the engine
// refuses, nothing is counted and the gate forgets the session. Then opened is closed in any case, so that
// connections that wait for it try again.
func (s *session) open(ctx context.Context, h wire.Hello) error {
	defer close(s.opened)
	err := s.g.peerSessions.Take(s.peer)
	if err == nil {
		if err = s.g.Memory.Reserve(sessionCost, s.class()); err != nil {
			s.g.peerSessions.Return(s.peer)
		}
	}
	if err == nil {
		s.backend, err = s.g.Engine.OpenGateSession(ctx, engine.Opening{
			ID: h.Session, TTL: h.TTL, Resume: h.Resume, Key: s.ownKey(), Fleet: isFleet(h.Mode), Process: s.process(h),
		})
		if err == nil {
			return nil
		}
		s.g.Memory.Add(-sessionCost)
		s.g.peerSessions.Return(s.peer)
	}
	s.g.opening.Lock()
	defer s.g.opening.Unlock()
	delete(s.g.sessions, s.id)
	return err
}

// ownKey returns the key with which the engine restores the session after a restart of the coordinator. With
// authentication it has the identity too, so that a stolen key is of no use to another one.
func (s *session) ownKey() []byte {
	if s.identity.ID == access.Everybody.ID {
		return s.key
	}
	return slices.Concat([]byte(s.identity.ID), []byte{0}, s.key)
}

// process returns the program behind the session. A client that reports no host is named by
// its address.
func (s *session) process(h wire.Hello) space.Process {
	return space.Process{Mode: h.Mode, Host: cmp.Or(h.Host, s.remote), PID: h.PID, Version: h.Version, Name: h.Name}
}

// isOpened reports whether the engine has opened the session, or refused to. backend may be used
// only then.
func (s *session) isOpened() bool {
	select {
	case <-s.opened:
		return true
	default:
		return false
	}
}

// class returns the class of memory that the session may use; the fleet's class has the reserve too.
func (s *session) class() memory.Class {
	if isFleet(s.mode) {
		return memory.Draining
	}
	return memory.Growth
}

// SessionsOf returns the ids of the sessions that an identity has opened.
func (g *Gate) SessionsOf(identity string) (ids []string) {
	g.opening.Lock()
	defer g.opening.Unlock()
	for id, s := range g.sessions {
		if s.identity.ID == identity {
			ids = append(ids, id)
		}
	}
	return ids
}

// Identities returns the ids of the identities with sessions, one for each session.
func (g *Gate) Identities() (ids []string) {
	g.opening.Lock()
	defer g.opening.Unlock()
	for _, s := range g.sessions {
		ids = append(ids, s.identity.ID)
	}
	return ids
}

// forgetSession drops an ended session; nil or a forgotten one has no effect. The caller holds opening.
func (g *Gate) forgetSession(s *session) {
	if s != nil && g.sessions[s.id] == s {
		delete(g.sessions, s.id)
		g.peerSessions.Return(s.peer)
	}
}

// serve reads and carries out the client's requests over one connection until that ends. It
// returns when the connection's writer has ended too, and after calls that wait for an answer
// were detached from it. Deferred calls run in that order: close the connection, wait for the
// writer, detach the calls, close ended, for which a later connection waits.
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
	stop := context.AfterFunc(ctx, func() { s.shutDown(conn) })
	defer stop()
	defer s.detach(conn)
	defer writing.Wait()
	err := errPanic // unless readRequests returns
	defer func() { s.closeConnection(conn, err) }()
	err = s.readRequests(ctx, conn)
}

// shutDown closes a connection because the gate closes. If the session has ended, the writer
// sends that and closes the connection, so that the client does not try to come back.
func (s *session) shutDown(conn *connection) {
	select {
	case <-s.backend.Ended():
	default:
		conn.link.Close(errShutdown)
	}
}

// closeConnection closes a connection because of err. The client is sent err first if it violated the protocol.
// Otherwise the log has the reason that the link keeps from its first Close, because the client, the writer or
// the shutdown may have closed it before.
func (s *session) closeConnection(conn *connection, err error) {
	if errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrTooLarge) {
		s.g.Log.Warn("gate: malformed message", "session", s.id, "error", err)
		conn.link.Finish(failure(noCall, err), err)
		return
	}
	conn.link.Close(err)
	s.g.Log.Debug("gate: connection ended", "session", s.id, "error", conn.link.Err())
}

// detach marks the calls of a connection that has ended as without a connection. If the client
// repeats one over the next connection, admitCall moves it there. Procedures are cancelled
// instead, because one that waits would claim a task for a client that may be dead, and the
// repeated one waits again.
func (s *session) detach(conn *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.connection != conn {
			continue
		}
		c.connection = nil
		if c.request.Verb == space.VerbCall {
			s.removeCall(c) // so that admitCall takes the repeated one for a new call
			c.cancel()
		}
	}
}

// awaitReconnect waits, after conn has ended, until another connection takes its place, the
// session ends or the gate closes. A session without a TTL is ended after Grace, because nothing
// else would end it. Once the session has ended, its kept answers and its place in the quota are
// free.
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
	s.mu.Lock()
	s.kept.Close()
	s.mu.Unlock()
	s.g.Memory.Add(-sessionCost)
	s.g.opening.Lock()
	defer s.g.opening.Unlock()
	s.g.forgetSession(s)
}
