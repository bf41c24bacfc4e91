package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"leasehold/shared/failpoint"
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
	e.life.end(fmt.Errorf("the journal failed, the outcome is unknown: %w", fault.ErrUnavailable))
	if e.broken != nil {
		return
	}
	waiting := e.allWaiters()
	if err := e.load(context.Background()); err != nil {
		e.breakDown(fmt.Errorf("engine: reload after %q: %w: %w", cause, err, fault.ErrClosed), waiting)
		return
	}
	for _, w := range waiting {
		e.resume(w)
	}
	e.serve()
	signal(e.wake)
}

// resume tries a waiter again over what was loaded, and registers it there.
func (e *Engine) resume(w *waiter) {
	if _, waits := w.session.waiters[w]; !waits {
		return
	}
	if err := e.usable(w.session); err != nil {
		e.settle(w, answer{err: err})
		return
	}
	if w.request.Verb != space.VerbCall && e.rooms[w.request.Space] == nil {
		e.settle(w, answer{err: fmt.Errorf("space %q: %w", w.request.Space, fault.ErrNotFound)})
		return
	}
	e.register(w)
	e.retry(w)
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
	e.entries, e.rooms, e.windows = map[int64]*entry{}, map[string]*room{}, map[string]*window{}
	e.timers, e.held = newTimers(e.wake), 0
	e.fresh, e.relieved, e.pending = nil, nil, batch{}
	for _, s := range e.sessions {
		clear(s.ephemeral)
		clear(s.holds)
		clear(s.taken)
	}
	loaded := restored{e: e, sessions: map[string]*journal.Session{}}
	failpoint.Reached("recovery.before", "")
	standing, err := e.journal.Load(ctx, loaded.fact)
	if err != nil {
		return err
	}
	failpoint.Reached("recovery.loaded", "")
	e.position = standing.Position
	e.place = max(e.place, standing.Ref)
	if standing.Clock > e.now() {
		e.base += standing.Clock - e.now()
	}
	e.life = &life{}
	loaded.attachSessions()
	if err := loaded.place(); err != nil {
		return err
	}
	e.traceState()
	e.resubscribe(subscribers)
	e.endAbsent()
	failpoint.Reached("recovery.after", "")
	return nil
}

// restored collects facts until all are known.
type restored struct {
	e        *Engine
	sessions map[string]*journal.Session
	entries  []*entry
}

func (r *restored) fact(f journal.Fact) error {
	failpoint.Reached("recovery.fact", "")
	switch f := f.(type) {
	case *journal.Space:
		r.e.rooms[f.Name] = newRoom(f, r.e.seed)
	case *journal.Session:
		r.sessions[f.ID] = f
	case *journal.Entry:
		r.entries = append(r.entries, f)
	case *journal.Answer:
		r.e.windowOf(f.Op.Session).add(f)
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
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.sessions)) {
		if s := r.e.sessions[id]; s != nil {
			r.e.startClock(s)
		} else {
			r.e.newSession(id, r.sessions[id].TTL)
		}
	}
}

// place puts the entries into their spaces.
func (r *restored) place() error {
	for _, x := range r.entries {
		if r.e.rooms[x.Space] == nil {
			return fmt.Errorf("%w: tuple %d is in a space %q that does not exist", fault.ErrCorrupt, x.Ref, x.Space)
		}
		r.e.swap(nil, x)
	}
	return nil
}

// endAbsent ends the sessions that cannot come back, and what belongs to sessions
// that are gone. A session without a TTL ended with the process that hosted it,
// through no fault of its own: what it held is handed back.
func (e *Engine) endAbsent() {
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		if s := e.sessions[id]; !s.attached && s.ttl == 0 {
			e.endSession(s, space.Closed)
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(e.entries)) {
		x := e.entries[ref]
		if x == nil {
			continue
		}
		if x.Owner != "" && e.sessions[x.Owner] == nil {
			e.expire(func(tx *transaction) { tx.abandon(ref, x.Owner, space.Lost) })
		} else if x.Hold != nil && x.Hold.Session != "" && e.sessions[x.Hold.Session] == nil {
			e.expire(func(tx *transaction) { tx.abandon(ref, x.Hold.Session, space.Lost) })
		}
	}
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
		if e.sessions[sub.session.id] != sub.session {
			continue // it has ended, and its subscriptions with it
		}
		r := e.rooms[sub.space]
		if r == nil {
			e.unsubscribe(sub)
			continue
		}
		r.subscribers[sub.id] = sub
		sub.drop()
	}
}
