package foreign

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

// maxClaims bounds the tasks that foreign workers hold or wait for.
const maxClaims = 1_000

// claims are the sessions with which foreign workers hold tasks. Each holds or waits for at
// most one task. A session whose task timed out is closed, because package task would never
// offer the task to it again.
type claims struct {
	watchers sync.WaitGroup // of the sessions

	mu     sync.Mutex // guards what follows
	closed bool
	open   map[*claimant]struct{}
	free   []*claimant         // without a task
	held   map[int64]*claimant // by the token of their task
	opened int                 // in open, or about to be
}

// claimant is one session of claims.
type claimant struct {
	session engine.GateSession
	token   int64 // of its task; 0: none. The mu of claims guards it.
}

func newClaims() claims {
	return claims{open: map[*claimant]struct{}{}, held: map[int64]*claimant{}}
}

// close refuses further claims, and returns the open sessions, which the caller ends. A session still being
// opened is not among them; takeClaimant ends it.
func (c *claims) close() []*claimant {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	all := make([]*claimant, 0, len(c.open))
	for x := range c.open {
		all = append(all, x)
	}
	return all
}

// takeClaimant returns a session without a task, which is no longer free: release must follow. Too many are
// fault.ErrOverloaded. It holds the mu of claims, except while it opens a session, which may wait for a disk;
// opened counts that session before. A session that was opened after close is ended at once, because close did
// not return it.
func (h *Hub) takeClaimant(ctx context.Context) (*claimant, error) {
	c := &h.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		x := c.free[n-1]
		c.free = c.free[:n-1]
		return x, nil
	}
	if c.closed || c.opened >= maxClaims {
		return nil, fmt.Errorf("foreign workers hold or wait for %d tasks already: %w", c.opened, fault.ErrOverloaded)
	}
	c.opened++
	c.mu.Unlock()
	s, err := h.newSession(ctx)
	c.mu.Lock()
	if err != nil {
		c.opened--
		return nil, err
	}
	x := &claimant{session: s}
	c.open[x] = struct{}{}
	c.watchers.Go(func() { h.watchClaimant(x) })
	if c.closed { // Run does not know this session
		c.watchers.Go(func() { h.endSession(s) })
	}
	return x, nil
}

// watchClaimant ends a session once its task timed out, about which package task sends it a
// message. It returns when the session has ended, which Receive returns as an error, and has
// forgotten it then.
func (h *Hub) watchClaimant(x *claimant) {
	if _, err := space.Over(x.session).Receive(context.Background()); err == nil {
		h.endSession(x.session)
	}
	c := &h.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened--
	delete(c.open, x)
	if c.held[x.token] == x {
		delete(c.held, x.token)
	}
	c.free = slices.DeleteFunc(c.free, func(f *claimant) bool { return f == x })
}

// release makes a claimant free for another task, unless its session has ended: watchClaimant
// has forgotten it then.
func (c *claims) release(x *claimant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[x.token] == x {
		delete(c.held, x.token)
	}
	x.token = 0
	if _, isOpen := c.open[x]; isOpen {
		c.free = append(c.free, x)
	}
}

// hold records that a claimant holds the task of a token, so that holder finds it.
func (c *claims) hold(x *claimant, token int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x.token = token
	c.held[token] = x
}

// holder returns the claimant that holds the task of a token; nil if there is none.
func (c *claims) holder(token int64) *claimant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held[token]
}

// isClosed reports whether close was called.
func (c *claims) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// claim carries out a get in the space "task". The answer has no tuple if there is no task and the verb does not
// wait. If watchClaimant ends the session of a claim, because the task before it timed out at that moment,
// another session claims.
func (h *Hub) claim(ctx context.Context, o Operation) (Answer, error) {
	action, err := claimedAction(o.Pattern)
	if err != nil {
		return Answer{}, err
	}
	for {
		x, err := h.takeClaimant(ctx)
		if err != nil {
			return Answer{}, err
		}
		t, ok, err := overPatterns(x.session).Claim(ctx, action, o.Verb == space.VerbGet)
		if err == nil && ok {
			token := tokenOf(t)
			h.claims.hold(x, token)
			return Answer{Tuples: []tuple.Tuple{t}, taken: takenByClaim{h, x, token}}, nil
		}
		h.claims.release(x)
		timedOut := x.session.Err() != nil && !h.claims.isClosed() // watchClaimant has ended the session
		if err == nil || !timedOut {
			return Answer{}, err
		}
	}
}

// takenByClaim is the task that a claim holds. If the claim is delivered, its hold does
// not end: the worker now does the task.
type takenByClaim struct {
	hub      *Hub
	claimant *claimant
	token    int64
}

// undo hands the task back. If that fails, the session is not free again: the task times out, and
// then watchClaimant ends the session.
func (t takenByClaim) undo(ctx context.Context) error {
	err := overPatterns(t.claimant.session).HandBack(ctx, t.token)
	if err == nil {
		t.hub.claims.release(t.claimant)
	}
	return err
}

// report puts a result. If a foreign worker holds the task of its token, the session of that worker reports it,
// because only the holder of a task can resolve it; the final result makes that session free. A result with
// another token is put by session s, and changes no lease.
func (h *Hub) report(ctx context.Context, s engine.GateSession, result tuple.Tuple) error {
	r := task.DecodeResult(result)
	holder := h.claims.holder(r.Token)
	if holder == nil {
		_, err := interop.Client{Repo: space.Over(s)}.Report(ctx, result)
		return err
	}
	current, err := overPatterns(holder.session).Report(ctx, result)
	if err == nil && current && r.Final {
		h.claims.release(holder)
	}
	return err
}
