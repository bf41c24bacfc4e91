package engine

import (
	"hash/maphash"
	"math/rand/v2"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// room is the state of one space.
type room struct {
	def     *journal.Space
	visible index
	held    index
	byAge   *order[*entry] // of all that can be found; only where a kind or an overflow asks for it
	size    int            // held ones included

	readers, takers waitlist
	putters         *order[*waiter]
	relieved        bool // listed in the engine's
	subscribers     map[int64]*subscriber
}

func newRoom(def *journal.Space, seed maphash.Seed) *room {
	r := &room{def: def, readers: newWaitlist(seed), takers: newWaitlist(seed), putters: newOrder((*waiter).rank), subscribers: map[int64]*subscriber{}}
	r.visible = newIndex(seed, r.rank)
	r.held = newIndex(seed, r.rank)
	if r.headOnly() || def.Options.Overflow == space.DropOldest {
		r.byAge = newOrder(byPlace)
	}
	return r
}

// headOnly says that only one tuple is ever tried.
func (r *room) headOnly() bool {
	return r.def.Options.Kind == space.Queue || r.def.Options.Kind == space.Stack
}

func byPlace(e *entry) key { return key{minor: e.Place} }

// rank is where an entry stands in the order of the kind: the first is found first.
func (r *room) rank(e *entry) key {
	switch r.def.Options.Kind {
	case space.Stack, space.Pile:
		return key{minor: -e.Place}
	case space.Ordered:
		return key{major: ^e.Tuple.Int64(r.def.Options.OrderBy), minor: e.Place} // ^ turns the order round, and cannot overflow
	}
	return key{minor: e.Place}
}

func (r *room) add(e *entry) {
	if taken(e) {
		return
	}
	r.size++
	if e.Hold != nil {
		r.held.add(e)
		return
	}
	r.visible.add(e)
	if r.byAge != nil {
		r.byAge.insert(e)
	}
}

func (r *room) remove(e *entry) {
	if taken(e) {
		return
	}
	r.size--
	if e.Hold != nil {
		r.held.remove(e)
		return
	}
	r.visible.remove(e)
	if r.byAge != nil {
		r.byAge.remove(e)
	}
}

// awaited says that somebody waits for a tuple.
func (r *room) awaited() bool { return len(r.readers.buckets) > 0 || len(r.takers.buckets) > 0 }

func (r *room) full() bool { return r.size >= r.def.Options.Capacity }

// head returns the one tuple that a queue or a stack tries.
func (r *room) head() (*entry, bool) {
	if r.def.Options.Kind == space.Stack {
		return r.byAge.last()
	}
	return r.byAge.first()
}

// find returns the tuple that a get would take, of those that keep accepts.
func (r *room) find(p tuple.Template, keep func(*entry) bool) *entry {
	switch {
	case r.headOnly():
		e, ok := r.head()
		if ok && p.Matches(e.Tuple) && (keep == nil || keep(e)) {
			return e
		}
		return nil
	case r.def.Options.Kind == space.Random:
		return r.pick(p, keep)
	}
	var found *entry
	r.visible.each(p, func(e *entry) bool {
		if keep != nil && !keep(e) {
			return true
		}
		found = e
		return false
	})
	return found
}

// pick returns a match, each with the same probability. Candidates that are no
// match are hash collisions, so a few draws suffice unless keep is choosy.
func (r *room) pick(p tuple.Template, keep func(*entry) bool) *entry {
	c := r.visible.candidates(p)
	if c.len() == 0 {
		return nil
	}
	if keep == nil {
		if e := c.at(rand.IntN(c.len())); p.Matches(e.Tuple) {
			return e
		}
	}
	var matches []*entry
	r.visible.each(p, func(e *entry) bool {
		if keep == nil || keep(e) {
			matches = append(matches, e)
		}
		return true
	})
	if len(matches) == 0 {
		return nil
	}
	return matches[rand.IntN(len(matches))]
}

// matches returns all matches in the order of the kind.
func matches(x *index, p tuple.Template) []*entry {
	var all []*entry
	x.each(p, func(e *entry) bool {
		all = append(all, e)
		return true
	})
	return all
}
