package engine

import (
	"context"
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// acknowledged is the change of a tuple when the get that took it is acknowledged.
// Subscribers are not told of it, because they saw the tuple go when it was taken.
const acknowledged space.Change = ""

// isTaken reports whether a get took the entry and was not acknowledged yet. Such an
// entry is in no index, counts towards no capacity, and is hidden from procedures:
// only its session can bring it back, and does so when it ends.
func isTaken(x *entry) bool { return x.Hold != nil && x.Hold.Op != 0 }

// takeFor takes an entry on behalf of a request. If the get is to be acknowledged, the entry is
// kept, hidden, until it is (isTaken). awaitAck counts these entries for finishTransaction. Ack
// requires an operation id, so tx has a caller.
func (tx *transaction) takeFor(r space.Request, x *entry) {
	if !r.Ack {
		tx.change(x, nil, space.Take)
		return
	}
	tx.awaitAck++
	kept := *x
	kept.Hold = &journal.Hold{Session: tx.caller.id, Op: r.Op.Seq}
	tx.change(x, &kept, space.Take)
}

// acknowledge ends the gets of r.Op and of r.Acknowledged with Ack, in one transaction. The tuples that they took are
// gone for good, or with VerbBack come back; with VerbBack a get of r.Op that still waits ends with context.Canceled.
// It may be repeated, and has no operation id, because ending a get twice does nothing. The answer is an error only
// if the session has ended or the engine has stopped.
func (e *Engine) acknowledge(s *session, r space.Request) answer {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	if err := e.fireDueFor(s); err != nil {
		return answer{err: err}
	}
	if w := e.state.inFlight[r.Op]; w != nil && r.Verb == space.VerbBack {
		e.finishWait(w, answer{err: fmt.Errorf("%w: it was taken back", context.Canceled)})
	}
	tx := e.beginTransaction(s)
	tx.endTake(r.Op.Seq, r.Verb)
	for _, seq := range r.Acknowledged {
		tx.endTake(seq, r.Verb)
	}
	if len(tx.steps) > 0 {
		e.finishTransaction(tx, space.OpID{}, space.Reply{})
		e.wakeWaiters()
	}
	return e.answerNow(space.Reply{}, nil)
}

// endTake removes for good, or with VerbBack makes visible, what the caller's get of that number took. Its answer is
// no longer needed then and is dropped. An unknown or ended number does nothing.
func (tx *transaction) endTake(op uint64, v space.Verb) {
	refs := tx.caller.taken[op]
	for _, ref := range refs {
		x := tx.st.entries[ref]
		switch {
		case x == nil || !isTaken(x) || x.Hold.Op != op: // it went with an earlier batch that was undone
		case v == space.VerbBack:
			tx.back(x, space.OldPlace)
		default:
			tx.change(x, nil, acknowledged)
		}
	}
	if len(refs) > 0 {
		tx.facts = append(tx.facts, tx.st.answersOf(tx.caller.id).dropReply(op)...)
	}
	delete(tx.caller.taken, op)
}
