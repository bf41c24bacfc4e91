package peer

import (
	"context"
	"fmt"
	"sync"

	"leasehold/shared/space"
)

// maxSpaces is how many spaces a peer may create: a tenth of those that an engine allows.
const maxSpaces = 100

// Spaces counts the spaces that each peer has created, over all gates that share it and
// since it was made: older spaces count for no peer. Its methods may be called concurrently.
type Spaces struct {
	quota *Quota

	mu       sync.Mutex // guards creators; held while a peer that has a quota creates a space
	creators map[string]Peer
}

// NewSpaces returns a quota of 100 spaces for each peer.
func NewSpaces() *Spaces {
	return &Spaces{quota: NewQuota("spaces", maxSpaces), creators: map[string]Peer{}}
}

// Create carries out a space.VerbCreate over conn. A new space counts for the peer until it is deleted. Create
// fails with fault.ErrOverloaded if the peer has its quota. It lists the spaces first, to see whether the space
// is new and which counted ones were deleted. mu is held all the time, so that two calls cannot both find the
// space new.
func (c *Spaces) Create(ctx context.Context, p Peer, conn space.Conn, r space.Request) (space.Reply, error) {
	if p == (Peer{}) {
		return conn.Do(ctx, r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := conn.Do(ctx, space.Request{Verb: space.VerbList})
	if err != nil {
		return space.Reply{}, err
	}
	exists := map[string]bool{}
	for _, info := range all.Infos {
		exists[info.Name] = true
	}
	for name, creator := range c.creators {
		if !exists[name] { // it was deleted
			c.quota.Return(creator)
			delete(c.creators, name)
		}
	}
	if exists[r.Space] {
		return conn.Do(ctx, r)
	}
	if err := c.quota.Take(p); err != nil {
		return space.Reply{}, fmt.Errorf("create %q: %w", r.Space, err)
	}
	reply, err := conn.Do(ctx, r)
	if err != nil {
		c.quota.Return(p)
		return reply, err
	}
	c.creators[r.Space] = p
	return reply, nil
}
