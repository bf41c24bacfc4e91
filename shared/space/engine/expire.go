package engine

import (
	"maps"
	"slices"

	"leasehold/shared/process/failpoint"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/trace"
)

// fireDue ends the holds, TTLs and sessions that are due, each in a transaction of its own. A
// deadline t is over at t, not after it. The entry of a timer is the current one, because each
// change sets or unsets its timer (replace). The caller holds state.mu.
func (e *Engine) fireDue() {
	st := &e.state
	for st.timers.queue.len() > 0 { // reading the clock costs more than this check
		t, ok := st.timers.takeDue(st.now())
		switch {
		case !ok:
			return
		case t.session == nil && t.entry.Hold != nil:
			e.runInternal(func(tx *transaction) { tx.endHold(t.entry, space.Due, 0) })
		case t.session == nil:
			e.runInternal(func(tx *transaction) { tx.endTTL(t.entry) })
		case t.session.deadline > st.now(): // it gave a sign of life since its timer was set
			st.timers.setSession(t.session.deadline, t.session)
		default:
			e.endSession(t.session, space.Lost)
		}
	}
}

// runInternal runs f, which cannot fail, as a transaction without a caller. The caller holds
// state.mu.
func (e *Engine) runInternal(f func(*transaction)) {
	tx := e.beginTransaction(nil)
	f(tx)
	e.finishTransaction(tx, space.OpID{}, space.Reply{})
	e.wakeWaiters()
}

// endTTL runs the expiry procedure of an entry whose TTL has passed, and removes the entry
// unless the procedure held it, extended it or removed it.
func (tx *transaction) endTTL(x *entry) {
	tx.traceExpiry(x, x.Expiry, space.Due, 0)
	tx.callExpiry(x, x.Expiry, space.Expired{Ref: x.Ref, Cause: space.Due})
	if now := tx.st.entries[x.Ref]; now != nil && now.Hold == nil && now.Deadline == x.Deadline {
		tx.change(now, nil, space.Take)
	}
}

// endHold runs the expiry procedure of an entry whose hold has ended, and makes the
// entry visible unless the procedure changed the hold. For beside see space.Expired.
func (tx *transaction) endHold(x *entry, cause space.Cause, beside int) {
	tx.traceExpiry(x, x.Hold.Expiry, cause, beside)
	tx.callExpiry(x, x.Hold.Expiry, space.Expired{Ref: x.Ref, Cause: cause, Holder: x.Hold.Session, Beside: int64(beside)})
	if now := tx.st.entries[x.Ref]; now != nil && now.Hold == x.Hold {
		tx.back(now, space.OldPlace)
	}
}

// callExpiry calls an expiry procedure without a caller, also when a session's request has brought the expiry about.
// If the procedure fails it has changed nothing, and the error is logged: the TTL or hold still ends.
func (tx *transaction) callExpiry(x *entry, procedure string, expired space.Expired) {
	if procedure == "" {
		return
	}
	caller := tx.caller
	tx.caller = nil
	failpoint.Reached("expiry.before", procedure)
	_, err := tx.Call(procedure, expired.Args())
	failpoint.Reached("expiry.after", procedure)
	tx.caller = caller
	if err != nil {
		tx.e.log.Error("expiry", "procedure", procedure, "space", x.Space, "tuple", x.Tuple.String(), "error", err)
	}
}

// endSession ends a session, its ephemeral tuples, its holds and its blocked calls. Ephemeral
// tuples go first, so that the expiries of its holds no longer find what the session served.
// Meanwhile state.ending lets these expiries ask for the session's host. Its answers are
// forgotten, because no operation of it can be repeated. s must be a live one, and the caller
// holds state.mu.
func (e *Engine) endSession(s *session, cause space.Cause) {
	st := &e.state
	delete(st.sessions, s.id)
	st.ending = s
	defer func() { st.ending = nil }()
	st.timers.unset(s.number)
	s.end(cause)
	if cause == space.Lost && e.sessionLost != nil {
		e.sessionLost(s.id, s.process)
	}
	tx := e.beginTransaction(nil)
	tx.traceEvent(trace.Event{Operation: trace.End, Process: s.id, Result: string(cause)})
	for _, ref := range slices.Sorted(maps.Keys(s.ephemeral)) {
		tx.releaseFrom(s.id, ref, cause, 0)
	}
	held := slices.Sorted(maps.Keys(s.holds))
	together := st.holdsByExpiry(held)
	for _, ref := range held {
		tx.releaseFrom(s.id, ref, cause, together.beside(ref))
	}
	tx.facts = append(tx.facts, journal.Ended(s.id))
	e.finishTransaction(tx, space.OpID{}, space.Reply{})
	if w := st.answers[s.id]; w != nil {
		for seq := range w.answers {
			w.remove(seq)
		}
		delete(st.answers, s.id)
	}
	st.memory.Add(-sessionCost)
	for _, w := range s.waitersByAge() {
		e.finishWait(w, answer{err: s.endError()})
	}
	e.wakeWaiters()
}

// holdGroup is the holds of one session with one expiry procedure.
type holdGroup struct{ session, expiry string }

// heldTogether counts the holds of each group before the first of them ends, and has the group of each ref.
type heldTogether struct {
	groups map[int64]holdGroup
	counts map[holdGroup]int
}

// holdsByExpiry groups the entries of refs that sessions hold.
func (st *state) holdsByExpiry(refs []int64) heldTogether {
	h := heldTogether{map[int64]holdGroup{}, map[holdGroup]int{}}
	for _, ref := range refs {
		if x := st.entries[ref]; x != nil && x.Hold != nil && x.Hold.Session != "" {
			g := holdGroup{x.Hold.Session, x.Hold.Expiry}
			h.groups[ref] = g
			h.counts[g]++
		}
	}
	return h
}

// beside returns how many other holds were in the group of a ref; 0 if it has none.
func (h heldTogether) beside(ref int64) int { return max(0, h.counts[h.groups[ref]]-1) }

// releaseFrom removes the tuple of a ref if it is tied to a session that has ended, or ends its
// hold if the session held it, beside so many others. It does neither if an earlier expiry has changed that.
func (tx *transaction) releaseFrom(session string, ref int64, cause space.Cause, beside int) {
	x := tx.st.entries[ref]
	switch {
	case x == nil:
	case x.Owner == session:
		tx.change(x, nil, space.Take)
	case x.Hold != nil && x.Hold.Session == session:
		tx.endHold(x, cause, beside)
	}
}
