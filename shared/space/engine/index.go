package engine

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"

	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// entry is a tuple in its space. Entries are immutable: a change replaces the
// entry by another of the same Ref, so that a pointer is also a generation.
type entry = journal.Entry

const (
	// maxShapes bounds the hash indexes of one bucket. 16 is more than any protocol
	// of ours uses; for what a template of another shape costs, see candidates.
	maxShapes = 16
	// rebuild is how many times more it costs to index a tuple than to look at it.
	rebuild = 8
	// indexFrom is the size from which a hash index beats looking at every tuple.
	indexFrom = 16
	// emptyBuckets is how many signatures are remembered with no tuple left, so
	// that a queue that runs empty again and again does not rebuild its bucket.
	emptyBuckets = 64
)

// index finds entries by template: a bucket for each signature, and in it the
// order of the kind and one hash index for each shape of template in use.
type index struct {
	seed    maphash.Seed
	rank    func(*entry) key
	buckets map[tuple.Signature]*bucket
	clock   uint64 // counts lookups, to know the least recently used shape
}

type bucket struct {
	all    order[*entry]
	shapes []*shape
	looked int // at tuples, for templates whose shape has no index
}

// shape indexes the entries of a bucket by the fields that are actual in it. Most
// keys have one entry, for which an order would be a waste.
type shape struct {
	mask tuple.Shape
	rank func(*entry) key
	one  map[uint64]*entry
	many map[uint64]*order[*entry] // keys that have had several since they last had none
	idle *order[*entry]            // an empty one, for the next key
	used uint64
}

// candidates are entries in their order: those of an order, or one, or none.
type candidates struct {
	one *entry
	all *order[*entry]
}

func (c candidates) len() int {
	switch {
	case c.all != nil:
		return c.all.len()
	case c.one != nil:
		return 1
	}
	return 0
}

func (c candidates) at(i int) *entry {
	if c.all != nil {
		return c.all.at(i)
	}
	return c.one
}

// ascend calls f with each until it returns false.
func (c candidates) ascend(f func(*entry) bool) {
	if c.all != nil {
		c.all.all(f)
	} else if c.one != nil {
		f(c.one)
	}
}

func newIndex(seed maphash.Seed, rank func(*entry) key) index {
	return index{seed: seed, rank: rank, buckets: map[tuple.Signature]*bucket{}}
}

func (x *index) add(e *entry) {
	var buf [128]byte
	sig := e.Tuple.AppendSignature(buf[:0])
	b := x.buckets[tuple.Signature(sig)]
	if b == nil {
		b = &bucket{all: order[*entry]{rank: x.rank}}
		x.buckets[tuple.Signature(sig)] = b
	}
	b.all.insert(e)
	for _, s := range b.shapes {
		s.add(e.Tuple.Hash(x.seed, s.mask), e)
	}
}

func (x *index) remove(e *entry) {
	var buf [128]byte
	sig := e.Tuple.AppendSignature(buf[:0])
	b := x.buckets[tuple.Signature(sig)]
	b.all.remove(e)
	for _, s := range b.shapes {
		s.remove(e.Tuple.Hash(x.seed, s.mask), e)
	}
	if b.all.len() == 0 && len(x.buckets) > emptyBuckets {
		delete(x.buckets, tuple.Signature(sig))
	}
}

func (s *shape) add(hash uint64, e *entry) {
	o := s.many[hash]
	if o == nil {
		first := s.one[hash]
		if first == nil {
			s.one[hash] = e
			return
		}
		if o = s.idle; o == nil {
			o = newOrder(s.rank)
		}
		s.idle = nil
		delete(s.one, hash)
		s.many[hash] = o
		o.insert(first)
	}
	o.insert(e)
}

func (s *shape) remove(hash uint64, e *entry) {
	o := s.many[hash]
	if o == nil {
		delete(s.one, hash)
		return
	}
	o.remove(e)
	if o.len() == 0 {
		delete(s.many, hash)
		s.idle = o
	}
}

// candidates returns every match of p, and perhaps others. A template of one of the
// maxShapes shapes in use costs O(1) for each match. Another one looks through the
// tuples that share the actual fields of the closest shape in use, or through all
// of its signature; when that has cost as much as an index, the shape that was not
// used for longest makes room for it. So however shapes take turns, indexing them
// costs no more than looking did.
func (x *index) candidates(p tuple.Template) candidates {
	var buf [128]byte
	b := x.buckets[tuple.Signature(p.AppendSignature(buf[:0]))]
	if b == nil {
		return candidates{}
	}
	mask := p.Shape()
	if mask == 0 || b.all.len() < indexFrom {
		return candidates{all: &b.all}
	}
	x.clock++
	s := b.closest(mask)
	if s == nil || s.mask != mask {
		if b.worthAnother() {
			s = x.index(b, mask)
		} else {
			c := b.of(s, p, x.seed)
			b.looked += c.len()
			return c
		}
	}
	s.used = x.clock
	return b.of(s, p, x.seed)
}

// of returns the entries of a bucket that have the hash of p; without a shape all.
func (b *bucket) of(s *shape, p tuple.Template, seed maphash.Seed) candidates {
	if s == nil {
		return candidates{all: &b.all}
	}
	hash := tuple.Tuple(p).Hash(seed, s.mask)
	return candidates{one: s.one[hash], all: s.many[hash]}
}

// closest returns the shape with the most fields, of those whose fields are all
// actual in a template with that mask; nil if there is none.
func (b *bucket) closest(mask tuple.Shape) (best *shape) {
	for _, s := range b.shapes {
		if s.mask&^mask == 0 && (best == nil || bits.OnesCount64(uint64(s.mask)) > bits.OnesCount64(uint64(best.mask))) {
			best = s
		}
	}
	return best
}

// worthAnother says that there is room for an index, or that looking without one
// has cost as much as to build it.
func (b *bucket) worthAnother() bool {
	return len(b.shapes) < maxShapes || b.looked >= rebuild*b.all.len()
}

// index builds the index of a shape.
func (x *index) index(b *bucket, mask tuple.Shape) *shape {
	if len(b.shapes) == maxShapes {
		oldest := slices.MinFunc(b.shapes, func(a, b *shape) int { return cmp.Compare(a.used, b.used) })
		b.shapes = slices.DeleteFunc(b.shapes, func(s *shape) bool { return s == oldest })
	}
	b.looked = 0
	s := &shape{mask: mask, rank: x.rank, one: map[uint64]*entry{}, many: map[uint64]*order[*entry]{}}
	b.all.all(func(e *entry) bool {
		s.add(e.Tuple.Hash(x.seed, mask), e)
		return true
	})
	b.shapes = append(b.shapes, s)
	return s
}

// each calls f with every match of p in order until it returns false.
func (x *index) each(p tuple.Template, f func(*entry) bool) {
	x.candidates(p).ascend(func(e *entry) bool {
		return !p.Matches(e.Tuple) || f(e)
	})
}

// count counts the matches of p.
func (x *index) count(p tuple.Template) int {
	if p.Shape() == 0 {
		return x.candidates(p).len()
	}
	n := 0
	x.each(p, func(*entry) bool { n++; return true })
	return n
}
