package engine

import (
	"context"
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// maxDeleted bounds the tuples that one transaction of DeleteSpace removes, so that other
// calls wait for milliseconds only.
const maxDeleted = 10_000

// DeleteSpace deletes a space, and returns how many tuples it had, held ones included. A space with tuples is deleted
// only if force is set; otherwise it fails with fault.ErrConflict. Calls that wait for a tuple or for capacity in the
// space end with fault.ErrNotFound, and its subscriptions with fault.ErrClosed. More than maxDeleted tuples take
// several transactions: after an error some tuples may be gone, and the space is still there. It fails with
// fault.ErrNotFound for an unknown space, and with fault.ErrClosed once the engine has stopped.
func (e *Engine) DeleteSpace(ctx context.Context, name string, force bool) (removed int, err error) {
	for {
		n, done, a := e.deleteSome(name, force)
		if _, err := e.awaitDurable(ctx, a); err != nil {
			return removed, fmt.Errorf("delete space %q: %w", name, err)
		}
		removed += n
		if done {
			return removed, nil
		}
	}
}

// deleteSome removes up to maxDeleted tuples of a space, and then the space if none is left. Unless force is set, it
// refuses a space with tuples. It reports how many tuples it removed, and in done whether the space is gone. An error
// is in the answer; then it has removed nothing. A removed tuple is in no index any more, so the indexes tell whether
// some are left.
func (e *Engine) deleteSome(name string, force bool) (removed int, done bool, a answer) {
	st := &e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.stopped != nil {
		return 0, false, answer{err: st.stopped}
	}
	e.fireDue()
	in, err := st.space(name)
	if err != nil {
		return 0, false, e.answerNow(space.Reply{}, err)
	}
	entries := slices.Concat(in.visible.some(maxDeleted), in.held.some(maxDeleted), st.takenFrom(name))
	if len(entries) > 0 && !force {
		return 0, false, e.answerNow(space.Reply{}, fmt.Errorf("%w: it has %d tuples or more", fault.ErrConflict, len(entries)))
	}
	tx := e.beginTransaction(nil)
	for _, x := range entries[:min(len(entries), maxDeleted)] {
		tx.change(x, nil, space.Take)
		removed++
	}
	done = removed == len(entries) && len(in.visible.some(1)) == 0 && len(in.held.some(1)) == 0
	if done {
		tx.facts = append(tx.facts, journal.Deleted(name))
	}
	e.finishTransaction(tx, space.OpID{}, space.Reply{})
	if done {
		e.dropSpace(in)
	}
	e.wakeWaiters()
	return removed, done, e.answerNow(space.Reply{}, nil)
}

// dropSpace removes an empty space from memory, and ends its subscriptions and the calls that
// wait in it. The caller has recorded that it is gone, and holds state.mu.
func (e *Engine) dropSpace(in *spaceState) {
	st, name := &e.state, in.def.Name
	for _, w := range e.allWaiters() {
		awaits := func(a space.Awaited) bool { return a.Space == name }
		if w.forCapacity && w.request.Space == name || slices.ContainsFunc(w.awaited, awaits) {
			e.finishWait(w, e.answerNow(space.Reply{}, fmt.Errorf("space %q was deleted: %w", name, fault.ErrNotFound)))
		}
	}
	for _, sub := range in.subscribers {
		st.endSubscription(sub)
	}
	delete(st.spaces, name)
	st.contents.Add(-spaceCost - bucketCost*int64(len(in.visible.buckets)+len(in.held.buckets)))
}

// some returns at most n entries of an index, in no particular order, because a large space
// would take long to sort.
func (x *index) some(n int) (found []*entry) {
	for _, b := range x.buckets {
		b.entries.all(func(e *entry) bool {
			if len(found) < n {
				found = append(found, e)
			}
			return len(found) < n
		})
	}
	return found
}

// takenFrom returns the tuples of a space that gets have taken and not acknowledged. No index
// has them, so it looks through what all sessions hold.
func (st *state) takenFrom(name string) (taken []*entry) {
	for _, s := range st.sessions {
		for ref := range s.holds {
			if x := st.entries[ref]; isTaken(x) && x.Space == name {
				taken = append(taken, x)
			}
		}
	}
	return taken
}
