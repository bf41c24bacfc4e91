package engine

import (
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// window keeps the newest answers of a session, so that a repeated operation
// gets its first one.
type window struct {
	answers map[uint64]*journal.Answer
	newest  uint64
}

// remember keeps an answer, and forgets those that are too old to be asked for.
func (e *Engine) remember(a *journal.Answer) {
	w := e.windows[a.Op.Session]
	if w == nil {
		w = &window{answers: map[uint64]*journal.Answer{}}
		e.windows[a.Op.Session] = w
	}
	w.answers[a.Op.Seq] = a
	w.newest = max(w.newest, a.Op.Seq)
	if len(w.answers) < 2*space.Window {
		return
	}
	for seq := range w.answers {
		if seq+space.Window <= w.newest {
			delete(w.answers, seq)
		}
	}
}

// answered returns what an operation was answered before.
func (e *Engine) answered(op space.OpID) (space.Reply, bool) {
	if w := e.windows[op.Session]; w != nil {
		if a := w.answers[op.Seq]; a != nil {
			return a.Reply, true
		}
	}
	return space.Reply{}, false
}
