package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// handleCommitError makes memory equal to the journal again after the commit of b failed
// with err. It ends the epoch, so that the callers whose transactions were not durable get
// an error (voidError). Then:
//
//   - if the journal is broken, the engine stops, and blocked calls end with an error;
//   - if the journal has another owner, or may have one, it stops too, and no answer is released any more, because what
//     it holds may be old;
//   - if the journal is full, nothing of b was written, so b is undone in memory;
//   - otherwise, and if b cannot be undone, the journal is loaded again.
//
// The caller has the committer's turn, and does not hold state.mu.
func (e *Engine) handleCommitError(b batch, err error) {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	if !errors.Is(err, journal.ErrFull) {
		e.counters.failed.Add(1)
	}
	switch {
	case errors.Is(err, journal.ErrBroken):
		e.state.epoch.end(fmt.Errorf("the journal broke, the outcome is unknown: %w", fault.ErrUnavailable))
		e.stopForGood(fmt.Errorf("engine: %w: %w", err, fault.ErrClosed), e.allWaiters())
	case e.owned != nil && !errors.Is(err, journal.ErrFull): // an unknown outcome, too
		e.depose(err, e.allWaiters())
	case errors.Is(err, journal.ErrFull) && e.undoBatch(b): // then memory equals the journal
	default:
		e.reload(err)
	}
}

// ErrDeposed is the error of calls to an engine whose journal has another owner, or may have one. Whether they have
// happened is unknown; their clients repeat them at the engine of that owner. It is a fault.ErrUnavailable.
var ErrDeposed = fmt.Errorf("another coordinator owns the spaces, or may own them: %w", fault.ErrUnavailable)

// depose stops the engine because its journal has another owner, or because err leaves that unknown, and makes the
// answers void that are not released yet. waiters are all calls that wait (allWaiters). The caller holds state.mu.
func (e *Engine) depose(err error, waiters []*waiter) {
	if !errors.Is(err, journal.ErrDeposed) {
		err = fmt.Errorf("%w, or may own it: %w", journal.ErrDeposed, err)
	}
	e.state.epoch.depose(ErrDeposed)
	e.stopForGood(fmt.Errorf("engine: %w: %w", err, ErrDeposed), waiters)
}

// stopForGood makes the engine unusable and ends waiters, which are all calls that wait
// (allWaiters), with err; Run returns err. It does nothing if the engine has stopped already. The
// caller holds state.mu.
func (e *Engine) stopForGood(err error, waiters []*waiter) {
	st := &e.state
	if st.stopped != nil {
		return
	}
	e.log.Error("the engine stops", "error", err)
	st.memory.Add(-st.pending.size)
	st.stopped, st.pending = err, batch{}
	for _, w := range waiters {
		e.finishWait(w, answer{err: err})
	}
	signal(e.wake)
}

// undoBatch undoes a batch that the journal was too full for, and first the transactions that
// were executed on top of it since. It reports whether it did: it returns false, and does
// nothing, if one of these transactions cannot be undone in memory. Subscribers miss events
// then, and all waiters are tried again, because tuples have come back. The caller holds
// state.mu and has the committer's turn.
func (e *Engine) undoBatch(b batch) bool {
	st := &e.state
	if st.stopped != nil || b.irreversible || st.pending.irreversible {
		return false
	}
	e.log.Warn("the journal is full; undoing the operations of the failed commit", "operations", len(b.effects)+len(st.pending.effects))
	st.epoch.end(fmt.Errorf("nothing was changed: %w", journal.ErrFull))
	for _, undone := range []batch{st.pending, b} {
		for _, s := range slices.Backward(undone.steps) {
			st.replace(s.new, s.old)
		}
		for _, op := range undone.answered {
			st.answersOf(op.Session).remove(op.Seq)
			if s := st.sessions[op.Session]; s != nil {
				delete(s.taken, op.Seq) // what it took is back, and a repeat adds the refs again
			}
		}
	}
	st.memory.Add(-st.pending.size)
	st.epoch, st.pending = &epoch{}, batch{}
	for _, sub := range st.subscribers() {
		sub.dropEvents()
	}
	for _, w := range e.allWaiters() {
		e.retryWaiter(w)
	}
	e.wakeWaiters()
	return true
}

// reload drops the memory after a commit that failed with cause, and loads the journal again, or
// stops the engine if that fails. Waiters stay registered at their sessions. Loading makes new
// spaces without waiters, so each waiter is listed and tried again; it ends with an error if its
// session or space is gone. The caller holds state.mu and has the committer's turn.
func (e *Engine) reload(cause error) {
	st := &e.state
	e.log.Warn("a commit to the journal failed; loading the journal again", "error", cause)
	st.epoch.end(fmt.Errorf("the journal failed, the outcome is unknown: %w", fault.ErrUnavailable))
	if st.stopped != nil {
		return
	}
	waiters := e.allWaiters()
	if err := e.load(context.Background()); err != nil {
		if e.owned != nil {
			e.depose(err, waiters)
			return
		}
		e.stopForGood(fmt.Errorf("engine: reload after %q: %w: %w", cause, err, fault.ErrClosed), waiters)
		return
	}
	for _, w := range waiters {
		if _, waits := w.session.waiters[w]; !waits { // a waiter tried before it ended this one
			continue
		}
		if err := e.checkUsable(w.session); err != nil {
			e.finishWait(w, answer{err: err})
			continue
		}
		if w.request.Verb != space.VerbCall { // a call has no space; its procedure is called again
			if _, err := st.space(w.request.Space); err != nil {
				e.finishWait(w, answer{err: err})
				continue
			}
		}
		st.listWaiter(w)
		e.retryWaiter(w)
	}
	e.wakeWaiters()
	signal(e.wake)
}

// allWaiters returns every blocked call, oldest first, so that waiters that are tried again take
// tuples in their order. The caller holds state.mu.
func (e *Engine) allWaiters() []*waiter {
	var all []*waiter
	for _, s := range e.state.sessions {
		all = append(all, slices.Collect(maps.Keys(s.waiters))...)
	}
	slices.SortFunc(all, func(a, b *waiter) int { return cmp.Compare(a.age, b.age) })
	return all
}
