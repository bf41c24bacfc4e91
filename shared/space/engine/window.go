package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// window keeps the newest answers of a session, so that a repeated operation
// gets its first one. Newest is by sequence number or by when it was given: a
// call that was blocked for long has an old number but a new answer.
//
// Large answers are kept only up to a number of bytes for each session. Of the
// oldest beyond that it is known that they were given, so that the operation does
// not happen again, but not what they said; that of a get which was not
// acknowledged is read off what it took.
type window struct {
	answers map[uint64]*journal.Answer
	bytes   int
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
	w.drop(a.Op.Seq)
	w.answers[a.Op.Seq] = a
	w.bytes += sizeOf(a.Reply)
	w.nth = max(w.nth, a.Nth)
	h := half(a.Op.Seq)
	w.newest[h] = max(w.newest[h], a.Op.Seq)
}

// drop forgets an answer.
func (w *window) drop(seq uint64) {
	if a := w.answers[seq]; a != nil {
		w.bytes -= sizeOf(a.Reply)
		delete(w.answers, seq)
	}
}

// sweep forgets the answers that are too old to be asked for, once there are
// enough of them to make it worth while.
func (w *window) sweep() (forgotten []journal.Fact) {
	if len(w.answers) < 4*space.Window { // of which 3 at most are recent in one way or another
		return nil
	}
	for seq, a := range w.answers {
		if w.behind(seq) && a.Nth+space.Window <= w.nth {
			w.drop(seq)
			forgotten = append(forgotten, journal.Forgotten(a.Op))
		}
	}
	return forgotten
}

// shorten forgets what the oldest answers said, once all say too much, until they
// say half of it.
func (w *window) shorten() (shorter []journal.Fact) {
	if w.bytes <= space.WindowBytes {
		return nil
	}
	oldest := slices.SortedFunc(maps.Values(w.answers), func(a, b *journal.Answer) int { return cmp.Compare(a.Nth, b.Nth) })
	for _, a := range oldest {
		if w.bytes <= space.WindowBytes/2 || a.Nth == w.nth {
			break
		}
		shorter = append(shorter, w.cut(a.Op.Seq)...)
	}
	return shorter
}

// cut forgets what one answer said: it is too old, or whoever asked has
// acknowledged it and will not ask again, and the room is needed.
func (w *window) cut(seq uint64) []journal.Fact {
	a := w.answers[seq]
	if a == nil || sizeOf(a.Reply) == 0 {
		return nil
	}
	short := &journal.Answer{Op: a.Op, Nth: a.Nth, Reply: space.Reply{Found: a.Reply.Found}, DroppedBytes: sizeOf(a.Reply)}
	w.add(short)
	return []journal.Fact{short}
}

// sizeOf returns how many bytes a reply takes that can be long.
func sizeOf(r space.Reply) int {
	size := 0
	if r.Tuple != nil {
		size = r.Tuple.Size()
	}
	for _, t := range r.Tuples {
		size += t.Size()
	}
	return size
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
	facts := append(w.sweep(), w.shorten()...)
	if durable {
		facts = append(facts, a)
	}
	return facts
}

// answered returns what an operation of s was answered before.
func (e *Engine) answered(s *session, r space.Request) (reply space.Reply, ok bool, err error) {
	w := e.windows[s.id]
	if w == nil || w.answers[r.Op.Seq] == nil {
		return space.Reply{}, false, nil
	}
	given := w.answers[r.Op.Seq]
	reply = copied(given.Reply)
	if given.DroppedBytes == 0 {
		return reply, true, nil
	}
	for _, ref := range s.taken[r.Op.Seq] {
		if x := e.entries[ref]; x != nil && taken(x) && x.Hold.Op == r.Op.Seq {
			reply.Tuples = append(reply.Tuples, x.Tuple.Clone())
		}
	}
	switch {
	case len(reply.Tuples) == 0:
		return space.Reply{}, true, fmt.Errorf("operation %d: %w: it has happened, but what it was answered, %d bytes, is no longer kept", r.Op.Seq, fault.ErrConflict, given.DroppedBytes)
	case r.Verb != space.VerbGetAll:
		reply.Tuple, reply.Tuples = reply.Tuples[0], nil
	}
	return reply, true, nil
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
