package engine

import (
	"hash/maphash"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// waiter is a request that found nothing yet, or a put that waits for capacity.
type waiter struct {
	age         int64 // a smaller one waits longer
	session     *session
	request     space.Request
	size        int64           // that was reserved for it
	awaited     []space.Awaited // tuples that it waits for
	forCapacity bool            // it waits in putters, for capacity

	done   chan struct{} // closed when answer is set
	answer answer
}

// rank orders waiters by how long they wait, the longest first.
func (w *waiter) rank() key { return key{Minor: w.age} }

// awaits reports whether w waits for a tuple such as t, in any space. If it waits for it in
// another space, trying it in vain does no harm.
func (w *waiter) awaits(t tuple.Tuple) bool {
	for _, a := range w.awaited {
		if a.Template.Matches(t) {
			return true
		}
	}
	return false
}

// queueWakeup queues for wakeWaiters what a step may give to waiters: a tuple that can be found
// now, or, when one went or was held, capacity or the next head of a queue or stack. The caller
// holds state.mu.
func (e *Engine) queueWakeup(in *spaceState, s step) {
	st := &e.state
	if s.new != nil && s.new.Hold == nil {
		if in.hasWaiters() {
			st.newTuples = append(st.newTuples, s.new.Ref)
		}
		return
	}
	mayHelp := in.putters.len() > 0 || in.headOnly() && in.hasWaiters()
	if mayHelp && !in.freed {
		in.freed = true
		st.freedSpaces = append(st.freedSpaces, in)
	}
}

// wakeWaiters offers waiters the tuples that came and the capacity that was freed. Serving a waiter is a transaction
// of its own; what these transactions queue is offered by the same loop. It is called at the end of each critical
// section that changed something, and never calls itself. The caller holds state.mu.
func (e *Engine) wakeWaiters() {
	st := &e.state
	for tuplesDone, spacesDone := 0, 0; ; {
		switch {
		case tuplesDone < len(st.newTuples):
			tuplesDone++
			e.offerTuple(st.newTuples[tuplesDone-1])
		case spacesDone < len(st.freedSpaces):
			in := st.freedSpaces[spacesDone]
			spacesDone++
			in.freed = false
			e.offerCapacity(in)
		default:
			st.newTuples, st.freedSpaces = st.newTuples[:0], st.freedSpaces[:0]
			return
		}
	}
}

// offerTuple executes the requests that wait for the tuple of a ref: all readers that match it,
// because they leave it, then the taker that waited longest, then the next taker if that one did
// not take it.
func (e *Engine) offerTuple(ref int64) {
	x := e.state.findable(ref)
	if x == nil {
		return
	}
	in := e.state.spaces[x.Space]
	for w := in.readers.next(x.Tuple, 0); w != nil; w = in.readers.next(x.Tuple, w.age) {
		e.retryWaiter(w)
	}
	for w := in.takers.next(x.Tuple, 0); w != nil; w = in.takers.next(x.Tuple, w.age) {
		e.retryWaiter(w)
		if e.state.findable(ref) != x {
			return
		}
	}
}

// findable returns the entry of ref if a get could find it now, else nil: it may have gone or
// been held, or is not the head of a queue or stack.
func (st *state) findable(ref int64) *entry {
	x := st.entries[ref]
	if x == nil || x.Hold != nil {
		return nil
	}
	if in := st.spaces[x.Space]; in.headOnly() && in.head() != x {
		return nil
	}
	return x
}

// offerCapacity executes waiting puts while there is capacity, oldest first, and offers the new
// head of a queue or stack. A put waits again only if the space is full, so the loop ends.
func (e *Engine) offerCapacity(in *spaceState) {
	for !in.full(false) {
		w, ok := in.putters.first()
		if !ok {
			break
		}
		e.retryWaiter(w)
	}
	if in.headOnly() {
		if head := in.head(); head != nil {
			e.offerTuple(head.Ref)
		}
	}
}

// retryWaiter executes a waiter's request again, and finishes the waiter unless it still waits.
// Then it keeps its place, even when a procedure waits for other tuples than before; other
// requests always wait for the same. The caller holds state.mu, and calls wakeWaiters then.
func (e *Engine) retryWaiter(w *waiter) {
	reply, awaited, err := e.execute(w.session, w.request, hasWaited)
	if err != errWait {
		e.finishWait(w, e.answerNow(reply, err))
		return
	}
	if w.request.Verb == space.VerbCall {
		e.state.unlistWaiter(w)
		w.awaited = awaited
		e.state.listWaiter(w)
	}
}

// finishWait gives a waiter its answer and removes it everywhere. It must be called once for
// each waiter. The caller holds state.mu.
func (e *Engine) finishWait(w *waiter, a answer) {
	st := &e.state
	st.unlistWaiter(w)
	delete(w.session.waiters, w)
	if op := w.request.Op; st.inFlight[op] == w {
		delete(st.inFlight, op)
	}
	st.waiting--
	st.memory.Add(-w.size)
	w.answer = a
	close(w.done)
}

// listWaiter lists w in the spaces that have to try it again: where a tuple that it waits for
// may be put, or where it waits for capacity.
func (st *state) listWaiter(w *waiter) {
	if w.forCapacity {
		st.spaces[w.request.Space].putters.insert(w)
		return
	}
	for _, a := range w.awaited {
		if l := st.waitlistFor(w, a.Space); l != nil {
			l.add(a.Template, w)
		}
	}
}

// unlistWaiter removes w from where listWaiter put it; awaited must not have changed since. The
// space may be gone after a reload. The caller holds state.mu.
func (st *state) unlistWaiter(w *waiter) {
	if w.forCapacity {
		if in := st.spaces[w.request.Space]; in != nil {
			in.putters.remove(w)
		}
		return
	}
	for _, a := range w.awaited {
		if l := st.waitlistFor(w, a.Space); l != nil {
			l.remove(a.Template, w)
		}
	}
}

// waitlistFor returns the waitlist of a space in which w belongs; nil if the space is
// gone, which happens only when a reload did not bring it back. A call of a procedure belongs to
// the takers, because the procedure may take.
func (st *state) waitlistFor(w *waiter, name string) *waitlist {
	in := st.spaces[name]
	switch {
	case in == nil:
		return nil
	case w.request.Verb == space.VerbQuery:
		return &in.readers
	}
	return &in.takers
}

// waitlist finds waiters by the tuple that they wait for: the mirror of index.
type waitlist struct {
	seed    maphash.Seed
	buckets map[tuple.Signature]map[tuple.Shape]map[uint64]*order[*waiter]
}

func newWaitlist(seed maphash.Seed) waitlist {
	return waitlist{seed: seed, buckets: map[tuple.Signature]map[tuple.Shape]map[uint64]*order[*waiter]{}}
}

// add lists w under the signature, shape and hash of a template, where next finds it by a tuple.
func (l *waitlist) add(p tuple.Template, w *waiter) {
	sig, mask, hash := p.Signature(), p.Shape(), p.Hash(l.seed)
	shapes := l.buckets[sig]
	if shapes == nil {
		shapes = map[tuple.Shape]map[uint64]*order[*waiter]{}
		l.buckets[sig] = shapes
	}
	keys := shapes[mask]
	if keys == nil {
		keys = map[uint64]*order[*waiter]{}
		shapes[mask] = keys
	}
	waiters := keys[hash]
	if waiters == nil {
		waiters = newOrder((*waiter).rank)
		keys[hash] = waiters
	}
	waiters.insert(w)
}

// remove removes w and every map that becomes empty, so that templates without waiters take no memory.
func (l *waitlist) remove(p tuple.Template, w *waiter) {
	sig, mask, hash := p.Signature(), p.Shape(), p.Hash(l.seed)
	shapes := l.buckets[sig]
	waiters := shapes[mask][hash]
	if waiters == nil {
		return
	}
	waiters.remove(w)
	if waiters.len() > 0 {
		return
	}
	delete(shapes[mask], hash)
	if len(shapes[mask]) == 0 {
		delete(shapes, mask)
	}
	if len(shapes) == 0 {
		delete(l.buckets, sig)
	}
}

// next returns the waiter that waits longest for t, of those younger than after; nil if there is
// none. For each shape in use it looks up the hash that t has in that shape, and takes the
// oldest waiter there; others may have the same hash.
func (l *waitlist) next(t tuple.Tuple, after int64) *waiter {
	if len(l.buckets) == 0 {
		return nil
	}
	var buf [128]byte
	var best *waiter
	for mask, keys := range l.buckets[tuple.Signature(t.AppendSignature(buf[:0]))] {
		waiters := keys[t.Hash(l.seed, mask)]
		if waiters == nil {
			continue
		}
		waiters.from(&waiter{age: after + 1}, func(w *waiter) bool {
			if best != nil && w.age >= best.age {
				return false // of another shape, best waits longer
			}
			if w.awaits(t) {
				best = w
				return false
			}
			return true
		})
	}
	return best
}
