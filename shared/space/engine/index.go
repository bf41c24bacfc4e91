package engine

import (
	"hash/maphash"
	"math"
	"slices"

	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// entry is a tuple in its space. Entries are immutable: a change replaces the
// entry by another of the same Ref, so that a pointer is also a generation.
type entry = journal.Entry

const (
	// maxShapes bounds the hash indexes of one bucket; the least recently used
	// makes room. 16 is more than any protocol of ours uses.
	maxShapes = 16
	// indexFrom is the size from which a hash index beats looking at every tuple.
	indexFrom = 16
	// emptyBuckets is how many signatures are remembered with no tuple left, so
	// that a queue that runs empty again and again does not rebuild its bucket.
	emptyBuckets = 64
)

var lowest = key{math.MinInt64, math.MinInt64}

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
}

// shape indexes the entries of a bucket by the fields that are actual in it.
type shape struct {
	mask tuple.Shape
	keys map[uint64]*order[*entry]
	idle *order[*entry] // an empty one, for the next key
	used uint64
}

func newIndex(seed maphash.Seed, rank func(*entry) key) index {
	return index{seed: seed, rank: rank, buckets: map[tuple.Signature]*bucket{}}
}

func (x *index) add(e *entry) {
	var buf [128]byte
	sig := e.Tuple.AppendSignature(buf[:0])
	b := x.buckets[tuple.Signature(sig)]
	if b == nil {
		b = &bucket{}
		x.buckets[tuple.Signature(sig)] = b
	}
	k := x.rank(e)
	b.all.insert(k, e)
	for _, s := range b.shapes {
		s.add(e.Tuple.Hash(x.seed, s.mask), k, e)
	}
}

func (x *index) remove(e *entry) {
	var buf [128]byte
	sig := e.Tuple.AppendSignature(buf[:0])
	b := x.buckets[tuple.Signature(sig)]
	k := x.rank(e)
	b.all.remove(k)
	for _, s := range b.shapes {
		s.remove(e.Tuple.Hash(x.seed, s.mask), k)
	}
	if b.all.len() == 0 && len(x.buckets) > emptyBuckets {
		delete(x.buckets, tuple.Signature(sig))
	}
}

func (s *shape) add(hash uint64, k key, e *entry) {
	o := s.keys[hash]
	if o == nil {
		if o = s.idle; o == nil {
			o = &order[*entry]{}
		}
		s.idle = nil
		s.keys[hash] = o
	}
	o.insert(k, e)
}

func (s *shape) remove(hash uint64, k key) {
	o := s.keys[hash]
	o.remove(k)
	if o.len() == 0 {
		delete(s.keys, hash)
		s.idle = o
	}
}

// candidates returns an order that holds every match of p, and perhaps others;
// nil if there is none.
func (x *index) candidates(p tuple.Template) *order[*entry] {
	var buf [128]byte
	b := x.buckets[tuple.Signature(p.AppendSignature(buf[:0]))]
	if b == nil {
		return nil
	}
	mask := p.Shape()
	if mask == 0 || b.all.len() < indexFrom {
		return &b.all
	}
	x.clock++
	s := x.shapeOf(b, mask)
	s.used = x.clock
	return s.keys[p.Hash(x.seed)]
}

func (x *index) shapeOf(b *bucket, mask tuple.Shape) *shape {
	for _, s := range b.shapes {
		if s.mask == mask {
			return s
		}
	}
	if len(b.shapes) == maxShapes {
		oldest := slices.MinFunc(b.shapes, func(a, b *shape) int { return int(int64(a.used - b.used)) })
		b.shapes = slices.DeleteFunc(b.shapes, func(s *shape) bool { return s == oldest })
	}
	s := &shape{mask: mask, keys: map[uint64]*order[*entry]{}}
	b.all.ascend(lowest, func(e *entry) bool {
		s.add(e.Tuple.Hash(x.seed, mask), x.rank(e), e)
		return true
	})
	b.shapes = append(b.shapes, s)
	return s
}

// each calls f with every match of p in order until it returns false.
func (x *index) each(p tuple.Template, f func(*entry) bool) {
	c := x.candidates(p)
	if c == nil {
		return
	}
	c.ascend(lowest, func(e *entry) bool {
		return !p.Matches(e.Tuple) || f(e)
	})
}

// count counts the matches of p.
func (x *index) count(p tuple.Template) int {
	c := x.candidates(p)
	if c == nil {
		return 0
	}
	if p.Shape() == 0 {
		return c.len()
	}
	n := 0
	x.each(p, func(*entry) bool { n++; return true })
	return n
}
