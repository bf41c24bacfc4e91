package engine

import (
	"context"
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// acknowledged is what happens to a tuple when the get that took it is
// acknowledged: nothing that anybody could see, since it was gone before.
const acknowledged space.Change = ""

// taken says that a get took the entry, and was not acknowledged yet. Such an
// entry is in no index, counts towards no capacity, and is hidden from
// procedures: only its session can bring it back, and does so when it ends.
func taken(x *entry) bool { return x.Hold != nil && x.Hold.Op != 0 }

// takeFor takes an entry on behalf of a request.
func (tx *transaction) takeFor(r space.Request, x *entry) {
	if !r.Ack {
		tx.change(x, nil, space.Take)
		return
	}
	kept := *x
	kept.Hold = &journal.Hold{Session: tx.caller.id, Op: r.Op.Seq}
	tx.change(x, &kept, space.Take)
}

// note remembers which get took x.
func (s *session) note(x *entry) {
	if s.taken == nil {
		s.taken = map[uint64][]int64{}
	}
	s.taken[x.Hold.Op] = append(s.taken[x.Hold.Op], x.Ref)
}

// acknowledge ends what a get with Ack left: for good, or back. It may be
// repeated. Back also ends a get that waits still.
func (s *session) acknowledge(r space.Request) (space.Reply, error) {
	// What an acknowledgement ends is waited for whoever gives up.
	return s.e.released(context.Background(), s.e.acknowledge(s, r))
}

func (e *Engine) acknowledge(s *session, r space.Request) answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(s); err != nil {
		return answer{err: err}
	}
	e.fireDue()
	if err := e.usable(s); err != nil {
		return answer{err: err}
	}
	if w := e.inflight[r.Op]; w != nil && r.Verb == space.VerbBack {
		e.settle(w, answer{err: fmt.Errorf("%w: it was taken back", context.Canceled)})
	}
	tx := e.begin(s)
	tx.settle(r.Op.Seq, r.Verb)
	for _, seq := range r.Acknowledged {
		tx.settle(seq, r.Verb)
	}
	if len(tx.steps) > 0 {
		e.finish(tx, space.OpID{}, space.Reply{})
		e.serve()
	}
	return e.answer(space.Reply{}, nil)
}

// settle ends what the caller's get of that number took, one way or the other.
func (tx *transaction) settle(op uint64, v space.Verb) {
	for _, ref := range tx.caller.taken[op] {
		x := tx.e.entries[ref]
		switch {
		case x == nil || !taken(x) || x.Hold.Op != op:
		case v == space.VerbBack:
			tx.back(x, space.OldPlace)
		default:
			tx.change(x, nil, acknowledged)
		}
	}
	if len(tx.caller.taken[op]) > 0 {
		tx.facts = append(tx.facts, tx.e.windowOf(tx.caller.id).cut(op)...)
	}
	delete(tx.caller.taken, op)
}
