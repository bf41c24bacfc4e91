package engine

import "leasehold/shared/space"

// serve offers waiters what came and the room that was made, until nothing is
// left to offer. Each waiter that is served makes a record of its own; what
// these bring about is served by the same loop. It is called at the end of each
// critical section that changed something, never from within itself.
func (e *Engine) serve() {
	for fresh, relieved := 0, 0; ; {
		switch {
		case fresh < len(e.fresh):
			fresh++
			e.offer(e.fresh[fresh-1])
		case relieved < len(e.relieved):
			r := e.relieved[relieved]
			relieved++
			r.relieved = false
			e.admit(r)
		default:
			e.fresh, e.relieved = e.fresh[:0], e.relieved[:0]
			return
		}
	}
}

// note remembers what waiters have to be told of a step.
func (e *Engine) note(r *room, st step) {
	if st.new != nil && st.new.Hold == nil {
		if r.awaited() {
			e.fresh = append(e.fresh, st.new.Ref)
		}
		return
	}
	if !r.relieved && (r.putters.len() > 0 || r.headOnly() && r.awaited()) {
		r.relieved = true
		e.relieved = append(e.relieved, r)
	}
}

// offer serves all matching readers, then the taker that waited longest; the
// next one if that did not take it.
func (e *Engine) offer(ref int64) {
	x := e.offered(ref)
	if x == nil {
		return
	}
	r := e.rooms[x.Space]
	for w := r.readers.next(x.Tuple, 0); w != nil; w = r.readers.next(x.Tuple, w.age) {
		e.retry(w)
	}
	for w := r.takers.next(x.Tuple, 0); w != nil; w = r.takers.next(x.Tuple, w.age) {
		e.retry(w)
		if e.offered(ref) != x {
			return
		}
	}
}

// offered returns the entry of ref if a waiter could have it now.
func (e *Engine) offered(ref int64) *entry {
	x := e.entries[ref]
	if x == nil || x.Hold != nil {
		return nil
	}
	if r := e.rooms[x.Space]; r.headOnly() {
		if head, _ := r.head(); head != x {
			return nil
		}
	}
	return x
}

// admit lets waiting puts in while there is room, oldest first, and offers the
// new head of a queue or a stack.
func (e *Engine) admit(r *room) {
	for !r.full() {
		w, ok := r.putters.first()
		if !ok {
			break
		}
		e.retry(w)
	}
	if !r.headOnly() {
		return
	}
	if head, ok := r.head(); ok {
		e.offer(head.Ref)
	}
}

// retry runs a waiter's request again. It stays where it is if it still waits.
func (e *Engine) retry(w *waiter) {
	reply, awaited, err := e.execute(w.session, w.request, true)
	if err == errWait {
		if w.request.Verb == space.VerbCall {
			e.unregister(w)
			w.awaited = awaited
			e.register(w)
		}
		return
	}
	e.settle(w, e.answer(reply, err))
}

// settle ends the wait of w.
func (e *Engine) settle(w *waiter, a answer) {
	e.unregister(w)
	delete(w.session.waiters, w)
	if op := w.request.Op; e.inflight[op] == w {
		delete(e.inflight, op)
	}
	e.waiting--
	w.answer = a
	close(w.done)
}

// register lists w where it will be found by what it waits for.
func (e *Engine) register(w *waiter) {
	if w.putter {
		e.rooms[w.request.Space].putters.insert(w)
		return
	}
	for _, a := range w.awaited {
		if l := e.waitlist(w, a.Space); l != nil {
			l.add(a.Template, w)
		}
	}
}

func (e *Engine) unregister(w *waiter) {
	if w.putter {
		if r := e.rooms[w.request.Space]; r != nil {
			r.putters.remove(w)
		}
		return
	}
	for _, a := range w.awaited {
		if l := e.waitlist(w, a.Space); l != nil {
			l.remove(a.Template, w)
		}
	}
}

func (e *Engine) waitlist(w *waiter, name string) *waitlist {
	r := e.rooms[name]
	switch {
	case r == nil:
		return nil
	case w.request.Verb == space.VerbQuery:
		return &r.readers
	}
	return &r.takers
}
