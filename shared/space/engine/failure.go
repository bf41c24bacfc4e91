package engine

import (
	"errors"
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
)

// failed is what a commit that failed means. The caller holds committing.
func (e *Engine) failed(b batch, err error) {
	switch {
	case errors.Is(err, journal.ErrBroken):
		e.mu.Lock()
		defer e.mu.Unlock()
		e.life.end(fmt.Errorf("the journal broke, the outcome is unknown: %w", fault.ErrUnavailable))
		e.breakDown(fmt.Errorf("engine: %w: %w", err, fault.ErrClosed), e.allWaiters())
	case errors.Is(err, journal.ErrFull) && e.undo(b):
	default:
		e.reload(err)
	}
}

// breakDown ends all use of the engine, and those that wait: Run returns err.
func (e *Engine) breakDown(err error, waiting []*waiter) {
	if e.broken != nil {
		return
	}
	e.log.Error("the engine stops", "error", err)
	e.broken, e.pending = err, batch{}
	for _, w := range waiting {
		e.settle(w, answer{err: err})
	}
	signal(e.wake)
}

// undo takes back a batch for which the journal had no room, and what was
// executed since on top of it. It does nothing if that cannot be done in memory.
func (e *Engine) undo(b batch) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil || b.lasting || e.pending.lasting {
		return false
	}
	e.log.Warn("the journal is full; what it had no room for is undone", "operations", len(b.outcomes)+len(e.pending.outcomes))
	e.life.end(fmt.Errorf("nothing has happened: %w", journal.ErrFull))
	for _, late := range []batch{e.pending, b} {
		for _, st := range slices.Backward(late.steps) {
			e.swap(st.new, st.old)
		}
		for _, op := range late.answered {
			e.windowOf(op.Session).drop(op.Seq)
		}
	}
	e.life, e.pending = &life{}, batch{}
	for _, sub := range e.subscribers() {
		sub.drop()
	}
	for _, w := range e.allWaiters() {
		e.retry(w)
	}
	e.serve()
	return true
}

// lasting says that what a fact stands for cannot be undone in memory.
func lasting(f journal.Fact) bool {
	switch f.(type) {
	case *journal.Session, journal.Ended, *journal.Space, journal.Forgotten:
		return true
	}
	return false
}
