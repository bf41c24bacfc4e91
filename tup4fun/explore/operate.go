package explore

import (
	"slices"

	"leasehold/tup4fun/syntax"
)

// operate calls done with each outcome of an operation on a space. It reports whether
// there was one: getp and queryp have one if nothing matches. An error is in f.err, and
// the result is then false.
func (s *stepper) operate(e *Edge, f *frame, done func(*frame)) bool {
	want := f.template(e.op.fields)
	if f.err != nil {
		return false
	}
	if e.op.verb == syntax.Put {
		return s.putTuple(e, f, want.values, done)
	}
	found := s.findTuples(e, f, want, done)
	if !found && (e.op.verb == syntax.GetP || e.op.verb == syntax.QueryP) {
		s.moveTo(e, f, event{}, done)
		return true
	}
	return found
}

// putTuple calls done with the tuple added, and reports whether the space has capacity for it. A
// multiset is kept sorted, because its order has no meaning; other spaces add at the end.
func (s *stepper) putTuple(e *Edge, f *frame, tuple []int64, done func(*frame)) bool {
	space := &s.model.Spaces[e.op.space]
	before := f.spaces[e.op.space]
	if space.Cap >= 0 && len(before) >= space.Cap {
		return false
	}
	id := int64(s.tuples.intern(tuple, hashValues(tuple)))
	at := len(before)
	if space.Kind == 'R' {
		at, _ = slices.BinarySearch(before, id)
	}
	g := f.withSpace(e.op.space, slices.Insert(slices.Clip(slices.Clone(before)), at, id))
	s.moveTo(e, &g, event{verb: syntax.Put, space: e.op.space, tuple: tuple}, done)
	return true
}

// withSpace returns f with other tuples in one space.
func (f *frame) withSpace(space int, ids []int64) frame {
	g := *f
	g.spaces = slices.Clone(f.spaces)
	g.spaces[space] = ids
	return g
}

// findTuples calls done for each tuple that an operation may find, and reports whether there is one.
// The kind of the space decides: R any match, equal tuples being one choice, F the oldest match,
// L the newest match, Q the oldest tuple if it matches, S the newest tuple if it matches.
func (s *stepper) findTuples(e *Edge, f *frame, want template, done func(*frame)) bool {
	ids := f.spaces[e.op.space]
	found := false
	try := func(i int) bool {
		tuple := s.tuples.get(uint32(ids[i]))
		if !want.matches(tuple) {
			return false
		}
		found = true
		s.useTuple(e, f, i, tuple, done)
		return true
	}
	switch s.model.Spaces[e.op.space].Kind {
	case 'R':
		for i := range ids {
			if i == 0 || ids[i] != ids[i-1] {
				try(i)
			}
		}
	case 'F':
		for i := range ids {
			if try(i) {
				break
			}
		}
	case 'L':
		for i := len(ids) - 1; i >= 0 && !try(i); i-- {
		}
	case 'Q':
		if len(ids) > 0 {
			try(0)
		}
	case 'S':
		if len(ids) > 0 {
			try(len(ids) - 1)
		}
	}
	return found
}

// useTuple takes or reads the i-th tuple, tuple, of the space, binds the formals, and calls done
// with each outcome. f stays as it is, for the other tuples.
func (s *stepper) useTuple(e *Edge, f *frame, i int, tuple []int64, done func(*frame)) {
	g := *f
	verb := syntax.Query
	if e.op.verb.Takes() {
		verb = syntax.Get
		g = f.withSpace(e.op.space, slices.Delete(slices.Clone(f.spaces[e.op.space]), i, i+1))
	}
	for k, fd := range e.op.fields {
		if fd.target != nil {
			g.assign(fd.target, tuple[k])
		}
	}
	s.moveTo(e, &g, event{verb: verb, space: e.op.space, tuple: tuple}, done)
}
