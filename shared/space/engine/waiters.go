package engine

import (
	"hash/maphash"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// waiter is a request that found nothing yet.
type waiter struct {
	age     int64 // smaller waits longer
	session *session
	request space.Request
	awaited []space.Awaited // where it is registered
	putter  bool            // waits for room, not for a tuple

	done   chan struct{} // closed when answer is set
	answer answer
}

// rank puts who waits longest first.
func (w *waiter) rank() key { return key{minor: w.age} }

// answer is the outcome of a request, to be released when it is durable.
type answer struct {
	reply space.Reply
	err   error
	life  *life
	seq   uint64
}

// waitlist finds waiters by the tuple that they wait for: the mirror of index.
type waitlist struct {
	seed    maphash.Seed
	buckets map[tuple.Signature]map[tuple.Shape]map[uint64]*order[*waiter]
}

func newWaitlist(seed maphash.Seed) waitlist {
	return waitlist{seed: seed, buckets: map[tuple.Signature]map[tuple.Shape]map[uint64]*order[*waiter]{}}
}

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
	o := keys[hash]
	if o == nil {
		o = newOrder((*waiter).rank)
		keys[hash] = o
	}
	o.insert(w)
}

func (l *waitlist) remove(p tuple.Template, w *waiter) {
	sig, mask, hash := p.Signature(), p.Shape(), p.Hash(l.seed)
	shapes := l.buckets[sig]
	o := shapes[mask][hash]
	if o == nil {
		return
	}
	o.remove(w)
	if o.len() > 0 {
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

// next returns the waiter that waits longest for t, of those younger than after.
func (l *waitlist) next(t tuple.Tuple, after int64) *waiter {
	if len(l.buckets) == 0 {
		return nil
	}
	var buf [128]byte
	var best *waiter
	for mask, keys := range l.buckets[tuple.Signature(t.AppendSignature(buf[:0]))] {
		o := keys[t.Hash(l.seed, mask)]
		if o == nil {
			continue
		}
		o.from(&waiter{age: after + 1}, func(w *waiter) bool {
			if best != nil && w.age >= best.age {
				return false
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

func (w *waiter) awaits(t tuple.Tuple) bool {
	for _, a := range w.awaited {
		if a.Template.Matches(t) {
			return true
		}
	}
	return false
}
