package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// session is the engine's side of a connected manager, worker or client. It
// implements space.Conn. The engine's mutex guards its fields.
type session struct {
	id       string
	number   int64 // of its timer
	e        *Engine
	ttl      time.Duration // without a sign of life; 0: for ever
	deadline time.Duration // engine time
	attached bool          // a handle of this process uses it

	ephemeral map[int64]struct{} // refs of the tuples tied to it
	holds     map[int64]struct{} // refs of the tuples it holds
	taken     map[uint64][]int64 // refs by the get that took them, until it is acknowledged; some may be gone
	waiters   map[*waiter]struct{}
	mail      []letter
	mailed    chan struct{}
	subs      map[int64]*subscriber

	once  sync.Once
	ended chan struct{} // closed at the end, after cause is set
	cause space.Cause
}

// Session implements space.Conn.
func (s *session) Session() string { return s.id }

// end marks the session as ended and drops its subscriptions.
func (s *session) end(cause space.Cause) {
	s.once.Do(func() {
		s.cause = cause
		for _, sub := range s.subs {
			s.e.unsubscribe(sub)
		}
		close(s.ended)
	})
}

// err says why the session has ended.
func (s *session) err() error {
	switch {
	case s.cause == space.Lost && s.ttl == 0:
		return fmt.Errorf("session %s was lost with its connection: %w", s.id, fault.ErrClosed)
	case s.cause == space.Lost:
		return fmt.Errorf("session %s was lost: no sign of life for %s: %w", s.id, s.ttl, fault.ErrClosed)
	default:
		return fmt.Errorf("session %s: %w", s.id, fault.ErrClosed)
	}
}

// waiting returns the session's blocked calls, oldest first.
func (s *session) waiting() []*waiter {
	return slices.SortedFunc(maps.Keys(s.waiters), func(a, b *waiter) int { return cmp.Compare(a.age, b.age) })
}

// sessions are the live ones, by id.
type sessions map[string]*session

// own notes which session an entry is tied to, and which holds it.
func (t sessions) own(x *entry) {
	if s := t[x.Owner]; s != nil {
		s.ephemeral[x.Ref] = struct{}{}
	}
	if x.Hold == nil {
		return
	}
	if s := t[x.Hold.Session]; s != nil {
		s.holds[x.Ref] = struct{}{}
		if taken(x) {
			s.note(x)
		}
	}
}

func (t sessions) disown(x *entry) {
	if s := t[x.Owner]; s != nil {
		delete(s.ephemeral, x.Ref)
	}
	if x.Hold == nil {
		return
	}
	if s := t[x.Hold.Session]; s != nil {
		delete(s.holds, x.Ref)
	}
}

// signal wakes whoever waits on a channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// await waits for a signal, the end of ctx, or that of the session.
func (s *session) await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-s.ended:
		return s.err()
	case <-ctx.Done():
		return over(ctx)
	}
}
