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
	"leasehold/shared/tuple"
)

// maxMail bounds the messages that wait for a session; the oldest go.
const maxMail = 64

// session is the engine's side of a connected manager, worker or client. It
// implements space.Conn. The engine's mutex guards its fields.
type session struct {
	id       string
	e        *Engine
	ttl      time.Duration // without a sign of life; 0: for ever
	deadline time.Duration // engine time
	attached bool          // a handle of this process uses it

	ephemeral map[int64]struct{} // refs of the tuples tied to it
	holds     map[int64]struct{} // refs of the tuples it holds
	waiters   map[*waiter]struct{}
	mail      []tuple.Tuple
	mailed    chan struct{}
	subs      map[int64]*subscriber

	once  sync.Once
	ended chan struct{} // closed at the end, after cause is set
	cause space.Cause
}

func newSession(e *Engine, id string, ttl time.Duration) *session {
	return &session{
		id: id, e: e, ttl: ttl,
		ephemeral: map[int64]struct{}{}, holds: map[int64]struct{}{}, waiters: map[*waiter]struct{}{},
		mailed: make(chan struct{}, 1), subs: map[int64]*subscriber{}, ended: make(chan struct{}),
	}
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
	switch s.cause {
	case space.Lost:
		return fmt.Errorf("session %s was lost: no sign of life for %s: %w", s.id, s.ttl, fault.ErrClosed)
	default:
		return fmt.Errorf("session %s: %w", s.id, fault.ErrClosed)
	}
}

// owned returns the ephemeral tuples of the session, oldest first.
func (s *session) owned(e *Engine) []*entry { return e.resolve(s.ephemeral) }

// holding returns the tuples that the session holds, oldest first.
func (s *session) holding(e *Engine) []*entry { return e.resolve(s.holds) }

// waiting returns the session's blocked calls, oldest first.
func (s *session) waiting() []*waiter {
	return slices.SortedFunc(maps.Keys(s.waiters), func(a, b *waiter) int { return cmp.Compare(a.age, b.age) })
}

func (e *Engine) resolve(refs map[int64]struct{}) []*entry {
	var entries []*entry
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		if x := e.entries[ref]; x != nil {
			entries = append(entries, x)
		}
	}
	return entries
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

// deliver puts a message into a session's mailbox.
func (e *Engine) deliver(m message) {
	s := e.sessions[m.to]
	if s == nil {
		return
	}
	if len(s.mail) == maxMail {
		s.mail = slices.Delete(s.mail, 0, 1)
	}
	s.mail = append(s.mail, m.text)
	signal(s.mailed)
}

// signal wakes whoever waits on a channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// receive waits for the next message.
func (s *session) receive(ctx context.Context) (space.Reply, error) {
	for {
		s.e.mu.Lock()
		if len(s.mail) > 0 {
			text := s.mail[0]
			s.mail = slices.Delete(s.mail, 0, 1)
			if len(s.mail) > 0 {
				signal(s.mailed)
			}
			a := s.e.answer(space.Reply{Found: true, Tuple: text}, nil)
			s.e.mu.Unlock()
			return s.e.released(ctx, a)
		}
		s.e.mu.Unlock()
		if err := s.await(ctx, s.mailed); err != nil {
			return space.Reply{}, err
		}
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
		return context.Cause(ctx)
	}
}
