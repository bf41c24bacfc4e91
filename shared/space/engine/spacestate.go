package engine

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// spaceState is the state of one space. A tuple that a get took, and did not
// acknowledge yet, is in none of its indexes and counts towards no capacity.
type spaceState struct {
	def     *journal.Space
	visible index
	held    index
	labels  labels            // of the visible and the held ones
	byAge   *order[*entry]    // the visible ones; nil unless the kind or the overflow needs it
	size    int               // tuples, held ones included
	bytes   int64             // of its entries, as the budget counts them
	shareBy int               // index of a field, see space.Definition; 0: none
	shares  map[string]*share // by the value of that field
	reserve int               // places that only puts with space.PutOptions.Reserve get

	readers, takers waitlist
	putters         *order[*waiter] // puts that wait for capacity
	freed           bool            // listed in state.freedSpaces
	subscribers     map[int64]*subscriber
}

// newSpaceState returns the state of an empty space and counts its memory to m, which counts its
// indexes too. Only a space that gives its oldest tuple alone, or drops it when it is full,
// keeps its tuples by age.
func newSpaceState(def *journal.Space, seed maphash.Seed, m *memory.Account) *spaceState {
	m.Add(spaceCost)
	in := &spaceState{def: def, readers: newWaitlist(seed), takers: newWaitlist(seed), putters: newOrder((*waiter).rank), subscribers: map[int64]*subscriber{}}
	in.visible = newIndex(seed, in.rank, m)
	in.held = newIndex(seed, in.rank, m)
	in.labels = labels{rank: in.rank, sets: map[string]labelled{}}
	if in.headOnly() || def.Options.Overflow == space.DropOldest {
		in.byAge = newOrder(byPlace)
	}
	return in
}

// reserveShare is the part of the capacity of a space that keeps a reserve: one in so many places.
const reserveShare = 10

// newSpace returns the state of an empty space, with its reserve.
func (e *Engine) newSpace(def *journal.Space) *spaceState {
	in := newSpaceState(def, e.seed, &e.state.contents)
	if e.reserving[def.Name] {
		in.reserve = def.Options.Capacity / reserveShare
	}
	in.shareBy = e.shareBy[def.Name]
	if in.shareBy != 0 {
		in.shares = map[string]*share{}
	}
	return in
}

func (st *state) space(name string) (*spaceState, error) {
	in := st.spaces[name]
	if in == nil {
		return nil, fmt.Errorf("space %q: %w", name, fault.ErrNotFound)
	}
	return in, nil
}

// headOnly reports whether a get or query compares its template with one tuple only,
// the head.
func (in *spaceState) headOnly() bool {
	return in.def.Options.Kind == space.Queue || in.def.Options.Kind == space.Stack
}

// rank is the entry's position in the order of the kind: the lowest is found first.
func (in *spaceState) rank(x *entry) key {
	switch in.def.Options.Kind {
	case space.Stack, space.Pile:
		return key{Minor: -x.Place}
	case space.Ordered:
		// ^ reverses the order, so that the highest is first; unlike -, it cannot overflow.
		k := key{Major: ^x.Tuple.Int64(in.def.Options.OrderBy), Minor: x.Place}
		if x.Attributes != nil {
			k.Turn = x.Attributes.Turn
		}
		return k
	}
	return key{Minor: x.Place}
}

// pivot returns an entry of that rank, which is in no index, for comparing with entries of the
// space. It is the inverse of rank, with the same signs.
func (in *spaceState) pivot(k key) *entry {
	o := in.def.Options
	switch o.Kind {
	case space.Stack, space.Pile:
		return &entry{Place: -k.Minor}
	case space.Ordered:
		t := make(tuple.Tuple, o.OrderBy+1)
		t[o.OrderBy] = ^k.Major
		return &entry{Place: k.Minor, Tuple: t, Attributes: &space.Attributes{Turn: k.Turn}}
	}
	return &entry{Place: k.Minor}
}

// add adds an entry to the index that its hold decides: remove must get the same entry.
func (in *spaceState) add(x *entry) {
	switch {
	case isTaken(x):
		return
	case x.Hold != nil:
		in.held.add(x)
	default:
		in.visible.add(x)
		if in.byAge != nil {
			in.byAge.insert(x)
		}
	}
	in.labels.add(x)
	in.size++
	if in.shareBy != 0 {
		in.shareOf(x).add(x)
	}
}

// remove removes an entry that add added, from the same indexes. Its hold must be the same as in the add, because the
// hold decides the index; a taken entry is in none.
func (in *spaceState) remove(x *entry) {
	switch {
	case isTaken(x):
		return
	case x.Hold != nil:
		in.held.remove(x)
	default:
		in.visible.remove(x)
		if in.byAge != nil {
			in.byAge.remove(x)
		}
	}
	in.labels.remove(x)
	in.size--
	if in.shareBy != 0 {
		in.shareOf(x).remove(x)
		in.dropShare(x)
	}
}

// hasWaiters reports whether a call waits for a tuple.
func (in *spaceState) hasWaiters() bool {
	return len(in.readers.buckets) > 0 || len(in.takers.buckets) > 0
}

// Without reserve, what is kept for the fleet's own work counts as used.
func (in *spaceState) full(reserve bool) bool { return in.free(reserve) <= 0 }

// free returns how many more tuples fit; negative if there are more than that.
func (in *spaceState) free(reserve bool) int {
	if reserve {
		return in.def.Options.Capacity - in.size
	}
	return in.def.Options.Capacity - in.reserve - in.size
}

// head returns the tuple that a queue or a stack compares; nil if there is none. Only these
// kinds have it, see headOnly.
func (in *spaceState) head() (head *entry) {
	if in.def.Options.Kind == space.Stack {
		head, _ = in.byAge.last()
	} else {
		head, _ = in.byAge.first()
	}
	return head
}

// find returns the entry that a get would take, if keep accepts it (a nil keep accepts all); nil if there is none. In
// a queue or a stack only the head counts.
func (in *spaceState) find(p tuple.Template, keep func(*entry) bool) (found *entry) {
	switch {
	case in.headOnly():
		if x := in.head(); x != nil && p.Matches(x.Tuple) && (keep == nil || keep(x)) {
			return x
		}
		return nil
	case in.def.Options.Kind == space.Random:
		return in.findRandom(p, keep)
	}
	in.visible.each(p, func(x *entry) bool {
		if keep != nil && !keep(x) {
			return true
		}
		found = x
		return false
	})
	return found
}

// findRandom returns a match that keep accepts, each with the same probability; nil if there is
// none. Without keep it tries one random candidate first, because candidates that do not match
// are rare: hash collisions, and templates of a shape that has no index. Then it chooses among
// all matches.
func (in *spaceState) findRandom(p tuple.Template, keep func(*entry) bool) *entry {
	c := in.visible.candidates(p)
	if c.len() == 0 {
		return nil
	}
	if keep == nil {
		if x := c.at(rand.IntN(c.len())); p.Matches(x.Tuple) {
			return x
		}
	}
	var matches []*entry
	in.visible.each(p, func(x *entry) bool {
		if keep == nil || keep(x) {
			matches = append(matches, x)
		}
		return true
	})
	if len(matches) == 0 {
		return nil
	}
	return matches[rand.IntN(len(matches))]
}

// checkOrderField refuses, with fault.ErrInvalid, a tuple that an ordered space could not order,
// because its order field is missing or no int64.
func (in *spaceState) checkOrderField(t tuple.Tuple) error {
	if in.def.Options.Kind != space.Ordered {
		return nil
	}
	if i := in.def.Options.OrderBy; i >= len(t) || tuple.TypeOf(t[i]) != tuple.Int64 {
		return fmt.Errorf("put into %s: %w: the space is ordered by field %d, which must be an int64; got %s", in.def.Name, fault.ErrInvalid, i, t)
	}
	return nil
}
