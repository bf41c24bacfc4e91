package engine

import (
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

var errFull = fmt.Errorf("%w: only what takes or ends something goes on", journal.ErrFull)

// affordable refuses, while the journal is full, what only adds to it: a
// transaction that puts a tuple where it is kept, and takes, holds, gives back
// or ends none. So a claim and the result of a task that it resolves go on, since
// they lead to less; work is not created. Expiries and ends of sessions are never
// asked.
func (tx *transaction) affordable() error {
	grows := false
	for _, st := range tx.steps {
		if tx.e.rooms[st.space()].def.Options.Volatile {
			continue
		}
		switch st.change {
		case space.Put:
			grows = true
		case space.Take, space.Hold, space.Back, space.Done:
			return nil
		}
	}
	if grows && tx.e.full() {
		return errFull
	}
	return nil
}

// Health says what keeps the engine from doing all that it is for, for people:
// journal.ErrFull while puts are refused, fault.ErrClosed once it has stopped;
// else nil.
func (e *Engine) Health() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken == nil && e.full() {
		return errFull
	}
	return e.broken
}
