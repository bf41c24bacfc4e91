package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// reload drops the memory after a commit that failed, and loads the journal
// again. The caller holds committing.
func (e *Engine) reload(cause error) {
	e.log.Warn("the journal refused a commit; loading it again", "error", cause)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.life.failed.Store(true)
	waiting := e.allWaiters()
	if err := e.load(context.Background()); err != nil {
		e.broken = fmt.Errorf("engine: reload after %q: %w: %w", cause, err, fault.ErrClosed)
		for _, w := range waiting {
			e.settle(w, answer{err: e.broken})
		}
		signal(e.timers.wake)
		return
	}
	for _, w := range waiting {
		if err := e.usable(w.session); err != nil {
			e.settle(w, answer{err: err})
			continue
		}
		if e.rooms[w.request.Space] == nil && w.request.Verb != space.VerbCall {
			e.settle(w, answer{err: fmt.Errorf("space %q: %w", w.request.Space, fault.ErrNotFound)})
			continue
		}
		e.register(w)
	}
	for _, w := range waiting {
		if _, waits := w.session.waiters[w]; waits {
			e.retry(w)
		}
	}
	signal(e.timers.wake)
}

// allWaiters returns every blocked call, oldest first.
func (e *Engine) allWaiters() []*waiter {
	var all []*waiter
	for _, s := range e.sessions {
		all = append(all, slices.Collect(maps.Keys(s.waiters))...)
	}
	slices.SortFunc(all, func(a, b *waiter) int { return cmp.Compare(a.age, b.age) })
	return all
}

// load replaces the state by what the journal holds. Sessions that this process
// knows stay; others get their TTL as a grace in which to come back.
func (e *Engine) load(ctx context.Context) error {
	subscribers := e.subscribers()
	wake := e.timers.wake
	e.entries, e.rooms, e.windows = map[int64]*entry{}, map[string]*room{}, map[string]*window{}
	e.timers = newTimers(func(x *entry) bool { return e.entries[x.Ref] == x })
	if wake != nil {
		e.timers.wake = wake
	}
	e.fresh, e.relieved, e.pending = nil, nil, nil
	for _, s := range e.sessions {
		clear(s.ephemeral)
		clear(s.holds)
	}
	loaded := restored{e: e, sessions: map[string]*journal.Session{}}
	standing, err := e.journal.Load(ctx, loaded.fact)
	if err != nil {
		return err
	}
	e.position = standing.Position
	if standing.Clock > e.now() {
		e.base += standing.Clock - e.now()
	}
	e.life = &life{}
	loaded.attachSessions()
	loaded.place()
	e.resubscribe(subscribers)
	e.endAbsent()
	return nil
}

// restored collects facts until all are known.
type restored struct {
	e        *Engine
	sessions map[string]*journal.Session
	entries  []*entry
}

func (r *restored) fact(f journal.Fact) error {
	switch f := f.(type) {
	case *journal.Space:
		r.e.rooms[f.Name] = newRoom(f, r.e.seed)
	case *journal.Session:
		r.sessions[f.ID] = f
	case *journal.Entry:
		r.entries = append(r.entries, f)
	case *journal.Answer:
		r.e.remember(f)
	case journal.Token:
		r.e.token = max(r.e.token, int64(f))
	default:
		return fmt.Errorf("%w: the journal holds a fact of type %T", fault.ErrCorrupt, f)
	}
	return nil
}

// attachSessions brings the sessions that live into line with the facts.
func (r *restored) attachSessions() {
	for id, s := range r.e.sessions {
		if r.sessions[id] == nil {
			delete(r.e.sessions, id)
			s.end(space.Lost)
			continue
		}
		r.e.startClock(s)
	}
	for id, f := range r.sessions {
		if r.e.sessions[id] == nil {
			s := newSession(r.e, id, f.TTL)
			r.e.sessions[id] = s
			r.e.startClock(s)
		}
	}
}

// place puts the entries into their spaces.
func (r *restored) place() {
	for _, x := range r.entries {
		r.e.place = max(r.e.place, x.Ref, x.Place)
		r.e.swap(nil, x)
	}
}

// endAbsent ends the sessions that cannot come back, and what belongs to sessions
// that are gone.
func (e *Engine) endAbsent() {
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		if s := e.sessions[id]; !s.attached && s.ttl == 0 {
			e.endSession(s, space.Lost)
		}
	}
	for _, x := range e.orphans() {
		e.expire(func(tx *transaction) {
			if x.Owner != "" && e.sessions[x.Owner] == nil {
				tx.change(x, nil, space.Take)
			} else if e.entries[x.Ref] == x {
				tx.release(x, space.Lost)
			}
		})
	}
}

// orphans are the entries tied to or held by a session that does not live.
func (e *Engine) orphans() []*entry {
	var found []*entry
	for _, x := range e.entries {
		tied := x.Owner != "" && e.sessions[x.Owner] == nil
		held := x.Hold != nil && x.Hold.Session != "" && e.sessions[x.Hold.Session] == nil
		if tied || held {
			found = append(found, x)
		}
	}
	slices.SortFunc(found, func(a, b *entry) int { return cmp.Compare(a.Ref, b.Ref) })
	return found
}

// subscribers collects the subscriptions, which outlive a reload.
func (e *Engine) subscribers() []*subscriber {
	var all []*subscriber
	for _, s := range e.sessions {
		for _, sub := range s.subs {
			all = append(all, sub)
		}
	}
	return all
}

// resubscribe tells each subscriber that it may have missed something.
func (e *Engine) resubscribe(subs []*subscriber) {
	for _, sub := range subs {
		if r := e.rooms[sub.space]; r != nil && e.sessions[sub.session.id] == sub.session {
			sub.events, sub.missed = nil, sub.missed+len(sub.events)+1
			r.subscribers[sub.id] = sub
			signal(sub.ready)
		}
	}
}
