package engine

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// window keeps the newest answers of a session, so that a repeated operation
// gets its first one. Newest is by sequence number or by when it was given: a
// call that was blocked for long has an old number but a new answer.
type window struct {
	answers map[uint64]*journal.Answer
	nth     uint64    // answers given
	newest  [2]uint64 // sequence numbers, of the caller's and of the automatic ones
}

// half tells a caller's sequence number from an automatic one.
func half(seq uint64) int {
	if seq < space.AutoSeq {
		return 0
	}
	return 1
}

// behind says that seq is too far behind to be asked for, unless its answer is
// recent.
func (w *window) behind(seq uint64) bool { return seq+space.Window <= w.newest[half(seq)] }

// add keeps an answer.
func (w *window) add(a *journal.Answer) {
	w.answers[a.Op.Seq] = a
	w.nth = max(w.nth, a.Nth)
	h := half(a.Op.Seq)
	w.newest[h] = max(w.newest[h], a.Op.Seq)
}

// drop forgets an answer to what has not happened.
func (w *window) drop(seq uint64) { delete(w.answers, seq) }

// sweep forgets the answers that are too old to be asked for, once there are
// enough of them to make it worth while.
func (w *window) sweep() (forgotten []journal.Fact) {
	if len(w.answers) < 4*space.Window { // of which 3 at most are recent in one way or another
		return nil
	}
	for seq, a := range w.answers {
		if w.behind(seq) && a.Nth+space.Window <= w.nth {
			delete(w.answers, seq)
			forgotten = append(forgotten, journal.Forgotten(a.Op))
		}
	}
	return forgotten
}

// windowOf returns the window of a session.
func (e *Engine) windowOf(id string) *window {
	w := e.windows[id]
	if w == nil {
		w = &window{answers: map[uint64]*journal.Answer{}}
		e.windows[id] = w
	}
	return w
}

// remember keeps the answer to op, and returns what the journal must know of it:
// nothing if the operation left no trace there, since repeating it after a
// restart does no harm then.
func (e *Engine) remember(op space.OpID, reply space.Reply, durable bool) []journal.Fact {
	w := e.windowOf(op.Session)
	a := &journal.Answer{Op: op, Nth: w.nth + 1, Reply: copied(reply)}
	w.add(a)
	facts := w.sweep()
	if durable {
		facts = append(facts, a)
	}
	return facts
}

// answered returns what an operation was answered before.
func (e *Engine) answered(op space.OpID) (space.Reply, bool) {
	if w := e.windows[op.Session]; w != nil {
		if a := w.answers[op.Seq]; a != nil {
			return copied(a.Reply), true
		}
	}
	return space.Reply{}, false
}

// forgotten is the error of an operation whose answer may have been forgotten.
func (e *Engine) forgotten(op space.OpID) error {
	if w := e.windows[op.Session]; w != nil && w.behind(op.Seq) {
		return fmt.Errorf("operation %d: %w: it is too old to be repeated, %d is the newest", op.Seq, fault.ErrConflict, w.newest[half(op.Seq)])
	}
	return nil
}

// copied returns a reply whose tuples nobody else has.
func copied(r space.Reply) space.Reply {
	r.Tuple = r.Tuple.Clone()
	if r.Tuples != nil {
		tuples := r.Tuples
		r.Tuples = nil
		for _, t := range tuples {
			r.Tuples = append(r.Tuples, t.Clone())
		}
	}
	return r
}
