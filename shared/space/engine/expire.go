package engine

import (
	"maps"
	"slices"

	"leasehold/shared/failpoint"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/trace"
)

// fireDue runs what is due, each in a record of its own. Deadlines are
// half-open: what has the deadline t is over at t.
func (e *Engine) fireDue() {
	for len(e.timers.heap) > 0 { // else there is no need to look at the clock
		t, ok := e.timers.due(e.now())
		if !ok {
			return
		}
		switch {
		case t.session != nil:
			e.sessionDue(t.session)
		case t.entry.Hold != nil:
			e.expire(func(tx *transaction) { tx.release(t.entry, space.Due) })
		default:
			e.expire(func(tx *transaction) { tx.lapse(t.entry) })
		}
	}
}

// sessionDue looks whether a session has given a sign of life since its timer
// was set.
func (e *Engine) sessionDue(s *session) {
	if s.deadline > e.now() {
		e.timers.setSession(s.deadline, s)
		return
	}
	e.endSession(s, space.Lost)
}

// expire runs f as a transaction of nobody's.
func (e *Engine) expire(f func(*transaction)) {
	tx := e.begin(nil)
	f(tx)
	e.finish(tx, space.OpID{}, space.Reply{})
	e.serve()
}

// lapse ends the TTL of an entry.
func (tx *transaction) lapse(x *entry) {
	tx.markExpiry(x, x.Expiry, space.Due)
	tx.expiry(x, x.Expiry, space.Expired{Ref: x.Ref, Cause: space.Due})
	if now := tx.e.entries[x.Ref]; now != nil && now.Hold == nil && now.Deadline == x.Deadline {
		tx.change(now, nil, space.Take)
	}
}

// release ends the hold of an entry.
func (tx *transaction) release(x *entry, cause space.Cause) {
	tx.markExpiry(x, x.Hold.Expiry, cause)
	tx.expiry(x, x.Hold.Expiry, space.Expired{Ref: x.Ref, Cause: cause, Holder: x.Hold.Session})
	if now := tx.e.entries[x.Ref]; now != nil && now.Hold == x.Hold {
		tx.back(now, space.OldPlace)
	}
}

// expiry calls an expiry procedure, in which nobody is the caller. One that fails
// has done nothing, and what is done without one is done.
func (tx *transaction) expiry(x *entry, procedure string, expired space.Expired) {
	if procedure == "" {
		return
	}
	caller := tx.caller
	tx.caller = nil // also when it is a session that brings the expiry about
	failpoint.Reached("expiry.before", procedure)
	_, err := tx.Call(procedure, expired.Args())
	failpoint.Reached("expiry.after", procedure)
	tx.caller = caller
	if err != nil {
		tx.e.log.Error("expiry", "procedure", procedure, "space", x.Space, "tuple", x.Tuple.String(), "error", err)
	}
}

// endSession ends a session: its ephemeral tuples go first, so that the expiries
// of its holds no longer see it serve.
func (e *Engine) endSession(s *session, cause space.Cause) {
	delete(e.sessions, s.id)
	e.timers.unset(s.number)
	s.end(cause)
	tx := e.begin(nil)
	tx.mark(trace.Event{Operation: trace.End, Process: s.id, Result: string(cause)})
	for _, ref := range slices.Sorted(maps.Keys(s.ephemeral)) {
		tx.abandon(ref, s.id, cause)
	}
	for _, ref := range slices.Sorted(maps.Keys(s.holds)) {
		tx.abandon(ref, s.id, cause)
	}
	tx.facts = append(tx.facts, journal.Ended(s.id))
	e.finish(tx, space.OpID{}, space.Reply{})
	delete(e.windows, s.id)
	for _, w := range s.waiting() {
		e.settle(w, answer{err: s.err()})
	}
	e.serve()
}

// abandon takes a tuple that is tied to a session which has ended, and ends the
// hold of one that it held. What an earlier expiry has changed counts as it is
// now.
func (tx *transaction) abandon(ref int64, id string, cause space.Cause) {
	x := tx.e.entries[ref]
	switch {
	case x == nil:
	case x.Owner == id:
		tx.change(x, nil, space.Take)
	case x.Hold != nil && x.Hold.Session == id:
		tx.release(x, cause)
	}
}
