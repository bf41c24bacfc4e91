package native

import (
	"context"
	"fmt"
	"sync"

	"leasehold/coordinator/peer"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// The quotas of each peer. One peer cannot use up what the engine
// allows: 10,000 sessions, 100,000 calls that wait, and 1,000 spaces.
const (
	peerConnections = 1_000
	peerSessions    = 1_000
	peerWaiters     = 10_000
	peerSpaces      = 100
)

// maxClientWaiters bounds the calls that wait of all clients other than managers and
// workers. It leaves a tenth of the engine's to those.
const maxClientWaiters = 90_000

// mayWait reports whether a call may block.
func mayWait(v space.Verb) bool {
	switch v {
	case space.VerbPut, space.VerbGet, space.VerbQuery, space.VerbCall, space.VerbReceive, space.VerbNext:
		return true
	}
	return false
}

// takeWaiter counts a call that may wait for its session's peer. The error is
// fault.ErrOverloaded if it is one too many; else returnWaiter must follow.
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
		return fmt.Errorf("%d calls of clients wait already, the rest is for managers and workers: %w", n-1, fault.ErrOverloaded)
	}
	return nil
}

func (g *Gate) returnWaiter(s *session) {
	g.waiters.Return(s.peer)
	if !isFleet(s.mode) {
		g.clientWaiters.Add(-1)
	}
}

// creators knows which peer created which space, since the gate was opened: spaces that are
// older count for no peer.
type creators struct {
	quota *peer.Quota

	mu sync.Mutex // guards of; held while a peer that has a quota creates a space
	of map[string]peer.Peer
}

// create carries out a VerbCreate. A space that is new counts for the session's peer until
// it is deleted.
func (c *creators) create(ctx context.Context, s *session, r space.Request) (space.Reply, error) {
	if s.peer == (peer.Peer{}) {
		return s.backend.Do(ctx, r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := s.backend.Do(ctx, space.Request{Verb: space.VerbList})
	if err != nil {
		return space.Reply{}, err
	}
	exists := map[string]bool{}
	for _, info := range all.Infos {
		exists[info.Name] = true
	}
	for name, creator := range c.of {
		if !exists[name] { // it was deleted
			c.quota.Return(creator)
			delete(c.of, name)
		}
	}
	if exists[r.Space] {
		return s.backend.Do(ctx, r)
	}
	if err := c.quota.Take(s.peer); err != nil {
		return space.Reply{}, fmt.Errorf("create %q: %w", r.Space, err)
	}
	reply, err := s.backend.Do(ctx, r)
	if err != nil {
		c.quota.Return(s.peer)
		return reply, err
	}
	c.of[r.Space] = s.peer
	return reply, nil
}
