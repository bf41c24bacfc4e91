package engine

import (
	"cmp"
	"maps"
	"slices"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
)

// tightWindow is space.WindowBytes while the memory budget is used up.
const tightWindow = space.WindowBytes / 64

// answerWindow keeps the newest answers of one session, so that a repeated operation
// gets its first one. An answer is new by its sequence number or by when it was
// given, because a call that was blocked for long has an old number but a new answer.
//
// The replies of a session are kept up to space.WindowBytes. Beyond that the oldest
// replies are dropped and only DroppedBytes remains of them, so that the operation
// still does not happen again. state.mu guards it.
type answerWindow struct {
	answers map[uint64]*journal.Answer // by sequence number
	bytes   int                        // of their replies
	given   uint64                     // answers so far; Answer.Nth counts with it
	newest  [2]uint64                  // sequence number, by numberRange
	memory  *memory.Account
}

// numberRange returns 0 for a sequence number that the caller chose, and 1 for an
// automatic one. Each range has a window of its own.
func numberRange(seq uint64) int {
	if seq < space.AutoSeq {
		return 0
	}
	return 1
}

// isOld reports whether seq is so far behind the newest number that it can be
// repeated only if its answer was given recently.
func (w *answerWindow) isOld(seq uint64) bool {
	return seq+space.Window <= w.newest[numberRange(seq)]
}

// add keeps an answer, in place of an earlier one of the same number, such as one whose reply
// was dropped. It moves the newest number and the number of answers on, by which later calls
// find old ones.
func (w *answerWindow) add(a *journal.Answer) {
	w.remove(a.Op.Seq)
	w.answers[a.Op.Seq] = a
	w.bytes += replySize(a.Reply)
	w.memory.Add(answerCost + replyCost(a.Reply))
	w.given = max(w.given, a.Nth)
	n := numberRange(a.Op.Seq)
	w.newest[n] = max(w.newest[n], a.Op.Seq)
}

// remove forgets the answer of a number, with its memory, if there is one.
func (w *answerWindow) remove(seq uint64) {
	if a := w.answers[seq]; a != nil {
		w.bytes -= replySize(a.Reply)
		w.memory.Add(-answerCost - replyCost(a.Reply))
		delete(w.answers, seq)
	}
}

// forgetOld removes the answers that can no longer be repeated, and returns the facts of that
// for the journal: answers whose number is old (isOld) and that were followed by a Window of
// later answers. To find them it goes through all answers, so it does nothing below 4 windows of
// them. At most 3 windows are not old: the newest numbers of both ranges, and the answers that
// were given last. So each pass removes a window at least, and its cost is spread over as many
// calls.
func (w *answerWindow) forgetOld() (forgotten []journal.Fact) {
	if len(w.answers) < 4*space.Window {
		return nil
	}
	for seq, a := range w.answers {
		if w.isOld(seq) && a.Nth+space.Window <= w.given {
			w.remove(seq)
			forgotten = append(forgotten, journal.Forgotten(a.Op))
		}
	}
	return forgotten
}

// dropLarge drops the replies that were given first if all together exceed space.WindowBytes, until half of that is
// left. While memory is short the bound is tightWindow. The newest reply is always kept, because its request is the
// most likely to be repeated. It returns the facts that replace the answers in the journal.
func (w *answerWindow) dropLarge() (dropped []journal.Fact) {
	limit := space.WindowBytes
	if w.memory.Budget.Check(memory.Growth) != nil {
		limit = tightWindow
	}
	if w.bytes <= limit {
		return nil
	}
	oldest := slices.SortedFunc(maps.Values(w.answers), func(a, b *journal.Answer) int { return cmp.Compare(a.Nth, b.Nth) })
	for _, a := range oldest {
		if w.bytes <= limit/2 || a.Nth == w.given {
			break
		}
		dropped = append(dropped, w.dropReply(a.Op.Seq)...)
	}
	return dropped
}

// dropReply drops the tuples of one reply, so that only Found and DroppedBytes remain. It
// returns the fact that replaces the answer in the journal; none if there is no answer of that
// number, or no tuple in it.
func (w *answerWindow) dropReply(seq uint64) []journal.Fact {
	a := w.answers[seq]
	if a == nil || replySize(a.Reply) == 0 {
		return nil
	}
	short := &journal.Answer{Op: a.Op, Nth: a.Nth, Reply: space.Reply{Found: a.Reply.Found}, DroppedBytes: replySize(a.Reply)}
	w.add(short)
	return []journal.Fact{short}
}

// replyCost estimates the memory of a reply's tuples, which answers of a window keep.
func replyCost(r space.Reply) (cost int64) {
	if r.Tuple != nil {
		cost = tupleCost(r.Tuple)
	}
	for _, t := range r.Tuples {
		cost += tupleCost(t)
	}
	return cost
}

// replySize returns the encoded bytes of a reply's tuples, which WindowBytes bounds.
func replySize(r space.Reply) int {
	size := 0
	if r.Tuple != nil {
		size = r.Tuple.Size()
	}
	for _, t := range r.Tuples {
		size += t.Size()
	}
	return size
}

// cloneReply returns a reply that shares no tuple with r, so that the caller may change it while
// the answer is kept.
func cloneReply(r space.Reply) space.Reply {
	r.Tuple, r.Tuples = r.Tuple.Clone(), slices.Clone(r.Tuples)
	for i, t := range r.Tuples {
		r.Tuples[i] = t.Clone()
	}
	return r
}

// answersOf returns the window of a session, and makes it if there is none.
func (st *state) answersOf(session string) *answerWindow {
	w := st.answers[session]
	if w == nil {
		w = &answerWindow{answers: map[uint64]*journal.Answer{}, memory: &st.kept}
		st.answers[session] = w
	}
	return w
}
