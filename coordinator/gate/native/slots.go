package native

import (
	"container/list"
	"fmt"
	"net"
	"sync"

	"leasehold/coordinator/peer"
	"leasehold/shared/fault"
)

// reservedShare is the part of all connections, and of all calls that wait, that only the
// fleet may use. A coordinator without authentication believes the mode that a client declares.
const reservedShare = 10 // a tenth

// isFleet reports whether a mode is one of those for which slots are reserved.
func isFleet(mode string) bool {
	return mode == "manager" || mode == "worker" || mode == "coordinator"
}

// slots counts the connections of a gate.
//
// Invariants: at most max connections are open, and of those at most max minus its
// reservedShare are of clients other than managers and workers. Connections before the
// handshake take the rest; when none is left, the oldest of them is closed for a new
// one, because a connection that sends nothing must not keep a worker out.
type slots struct {
	max   int
	peers *peer.Quota

	mu      sync.Mutex // guards what follows
	open    int
	clients int       // of these, admitted ones that are not of the fleet
	pending list.List // of *slot, before the handshake, the oldest first
}

// slot is one open connection. The mu of slots guards its fields.
type slot struct {
	conn     net.Conn
	peer     peer.Peer
	pending  *list.Element // nil after the handshake
	isClient bool          // admitted, and not of the fleet
	evicted  bool          // closed for another connection; not counted any more
}

// accept counts a new connection. Otherwise the oldest connection before the handshake is closed if there are too
// many.
func (s *slots) accept(nc net.Conn, p peer.Peer) (*slot, error) {
	if err := s.peers.Take(p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.max {
		oldest := s.pending.Front()
		if oldest == nil {
			s.peers.Return(p)
			return nil, fmt.Errorf("%d connections: %w", s.max, fault.ErrOverloaded)
		}
		x := s.pending.Remove(oldest).(*slot)
		x.evicted = true
		_ = x.conn.Close() // its goroutine notices
		s.open--
	}
	s.open++
	x := &slot{conn: nc, peer: p}
	x.pending = s.pending.PushBack(x)
	return x, nil
}

// admit counts a connection as one of a mode, once its client has introduced itself.
func (s *slots) admit(x *slot, mode string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.evicted {
		return fmt.Errorf("%d connections: %w", s.max, fault.ErrOverloaded)
	}
	if !isFleet(mode) {
		if limit := s.max - s.max/reservedShare; s.clients >= limit {
			return fmt.Errorf("%d connections of clients, the rest is for managers and workers: %w", limit, fault.ErrOverloaded)
		}
		s.clients++
		x.isClient = true
	}
	s.pending.Remove(x.pending)
	x.pending = nil
	return nil
}

// remove counts a connection no more. One that was evicted was subtracted then, except for its
// peer.
func (s *slots) remove(x *slot) {
	s.peers.Return(x.peer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.evicted {
		return
	}
	s.open--
	if x.isClient {
		s.clients--
	}
	if x.pending != nil {
		s.pending.Remove(x.pending)
	}
}
