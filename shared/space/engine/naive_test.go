package engine_test

import (
	"cmp"
	"slices"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// naive is a space without indexes: a list of tuples.
type naive struct {
	space.Options
	things []*thing
	places int64
}

type thing struct {
	ref, place    int64
	tuple         tuple.Tuple
	held          bool
	due, deadline time.Time // zero: never
}

// put adds a tuple, and drops the oldest one not held if the space is full and its overflow is DropOldest. It reports
// whether it added the tuple.
func (m *naive) put(ref int64, t tuple.Tuple, deadline time.Time) (ok bool) {
	if len(m.things) >= m.Capacity {
		oldest := slices.IndexFunc(m.things, func(x *thing) bool { return !x.held })
		if m.Overflow == space.Block || oldest < 0 {
			return false
		}
		m.things = slices.Delete(m.things, oldest, oldest+1)
	}
	m.places++
	m.things = append(m.things, &thing{ref: ref, place: m.places, tuple: t, deadline: deadline})
	return true
}

// all returns the matches, in the order of the kind.
func (m *naive) all(p tuple.Template, held bool) (found []*thing) {
	for _, x := range m.things {
		if x.held == held && p.Matches(x.tuple) {
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(a, b *thing) int {
		switch m.Kind {
		case space.Stack, space.Pile:
			return cmp.Compare(b.place, a.place)
		case space.Ordered:
			return cmp.Or(cmp.Compare(b.tuple.Int64(m.OrderBy), a.tuple.Int64(m.OrderBy)), cmp.Compare(a.place, b.place))
		}
		return cmp.Compare(a.place, b.place)
	})
	return found
}

// candidates returns the tuples that a get could take: at most one, except in a random
// space.
func (m *naive) candidates(p tuple.Template) []*thing {
	found := m.all(p, false)
	if m.Kind == space.Queue || m.Kind == space.Stack {
		found = m.all(anything, false)
		if len(found) > 0 && !p.Matches(found[0].tuple) {
			return nil
		}
	}
	if m.Kind != space.Random && len(found) > 1 {
		return found[:1]
	}
	return found
}

func (m *naive) remove(x *thing) {
	m.things = slices.DeleteFunc(m.things, func(y *thing) bool { return x == y })
}

// back makes a held tuple visible, at its old place or at a new one.
func (m *naive) back(x *thing, fresh bool) {
	x.held, x.due = false, time.Time{}
	if fresh {
		m.places++
		x.place = m.places
		m.remove(x)
		m.things = append(m.things, x)
	}
	m.expire()
}

// expire ends the TTLs and holds whose deadline has passed.
func (m *naive) expire() {
	over := func(t time.Time) bool { return !t.IsZero() && !t.After(time.Now()) }
	for _, x := range slices.Clone(m.things) {
		if x.held && over(x.due) {
			x.held, x.due = false, time.Time{}
		}
		if !x.held && over(x.deadline) {
			m.remove(x)
		}
	}
}
