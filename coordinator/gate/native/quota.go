package native

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// The quotas of each peer, with peer.NewSpaces. One peer cannot use up what the engine
// allows: 10,000 sessions, 100,000 calls that wait, and 1,000 spaces.
const (
	peerConnections = 1_000
	peerSessions    = 1_000
	peerWaiters     = 10_000
)

// maxClientWaiters bounds the calls that wait of all clients other than managers and
// workers. It leaves a tenth of the engine's to those.
const maxClientWaiters = 90_000

// mayWait reports whether a call may block, for a tuple, for capacity, for a message or for
// events.
func mayWait(v space.Verb) bool {
	switch v {
	case space.VerbPut, space.VerbGet, space.VerbQuery, space.VerbCall, space.VerbReceive, space.VerbNext:
		return true
	}
	return false
}

// takeWaiter counts a call that may wait for its session's peer.
func (g *Gate) takeWaiter(s *session) error {
	if err := g.waiters.Take(s.peer); err != nil {
		return err
	}
	if isFleet(s.mode) {
		return nil
	}
	if n := g.clientWaiters.Add(1); n > g.maxClientWaiters {
		g.clientWaiters.Add(-1)
		g.waiters.Return(s.peer)
		return fmt.Errorf("%d calls of clients are already waiting; the rest of the limit is for managers and workers: %w", n-1, fault.ErrOverloaded)
	}
	return nil
}

// returnWaiter undoes a takeWaiter that succeeded.
func (g *Gate) returnWaiter(s *session) {
	g.waiters.Return(s.peer)
	if !isFleet(s.mode) {
		g.clientWaiters.Add(-1)
	}
}
