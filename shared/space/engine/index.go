package engine

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"

	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// entry is a tuple in its space. Entries are immutable: a change replaces the
// entry by another of the same Ref, so that a pointer is also a generation.
type entry = journal.Entry

const (
	// maxShapes bounds the hash indexes of one bucket. 16 is more than any of our
	// protocols uses; candidates tells the cost of a template of another shape.
	maxShapes = 16
	// buildCost is the cost of indexing a tuple, as a multiple of comparing it.
	buildCost = 8
	// indexFrom is the size from which a hash index is faster than comparing every
	// tuple.
	indexFrom = 16
	// emptyBuckets is how many signatures are kept with no tuple left, so that a queue
	// that runs empty often does not rebuild its bucket each time.
	emptyBuckets = 64
)

// index finds entries by template: a bucket for each signature, and in it the
// order of the kind and one hash index for each shape of template in use.
type index struct {
	seed    maphash.Seed
	rank    func(*entry) key
	buckets map[tuple.Signature]*bucket
	clock   uint64 // counts lookups, to know the least recently used shape
	memory  *memory.Account
}

type bucket struct {
	entries  order[*entry]
	shapes   []*shape
	compared int // tuples, for templates whose shape has no index; since the last index was built
}

// shape indexes the entries of a bucket by the hash of the fields that are actual in
// it. Most hashes have one entry, for which an order would waste memory.
type shape struct {
	mask tuple.Shape
	rank func(*entry) key
	one  map[uint64]*entry
	many map[uint64]*sameHash // hashes that have had several since they last had none
	idle *sameHash            // an empty one, for the next hash; or nil
	used uint64               // the index's clock at the last lookup
}

// sameHash are entries whose fields have the same hash.
type sameHash struct {
	order[*entry]
	mixed bool // they may have different fields, because hashes collided
}

// candidates are entries in their order: a whole order, one, or none.
type candidates struct {
	one   *entry
	order *order[*entry] // nil: there is at most one
	same  bool           // either all of them match the template, or none
}

// len returns how many candidates there are, which need not all match.
func (c candidates) len() int {
	switch {
	case c.order != nil:
		return c.order.len()
	case c.one != nil:
		return 1
	}
	return 0
}

// at returns the i-th candidate, counted from 0; there must be one.
func (c candidates) at(i int) *entry {
	if c.order != nil {
		return c.order.at(i)
	}
	return c.one
}

// last returns the last of at least one candidate.
func (c candidates) last() *entry {
	if c.order != nil {
		x, _ := c.order.last()
		return x
	}
	return c.one
}

// ascend calls f with each until it returns false; it begins with pivot, unless pivot is nil. A single candidate is
// passed to f wherever pivot is.
func (c candidates) ascend(pivot *entry, f func(*entry) bool) {
	switch {
	case c.order != nil && pivot != nil:
		c.order.from(pivot, f)
	case c.order != nil:
		c.order.all(f)
	case c.one != nil:
		f(c.one)
	}
}

func newIndex(seed maphash.Seed, rank func(*entry) key, m *memory.Account) index {
	return index{seed: seed, rank: rank, buckets: map[tuple.Signature]*bucket{}, memory: m}
}

// add adds an entry; its signature and place must not change while it is in the index. The
// signature is in a buffer on the stack, because finding a bucket by it needs no string then.
func (x *index) add(e *entry) {
	var buf [128]byte
	sig := e.Tuple.AppendSignature(buf[:0])
	b := x.buckets[tuple.Signature(sig)]
	if b == nil {
		b = &bucket{entries: order[*entry]{rank: x.rank}}
		x.buckets[tuple.Signature(sig)] = b
		x.memory.Add(bucketCost)
	}
	b.entries.insert(e)
	x.memory.Add(b.indexesBytes(1))
	for _, s := range b.shapes {
		s.add(e.Tuple.Hash(x.seed, s.mask), e)
	}
}

// remove removes an entry, which must be in the index. Its bucket is kept while there are
// few, see emptyBuckets.
func (x *index) remove(e *entry) {
	var buf [128]byte
	sig := e.Tuple.AppendSignature(buf[:0])
	b := x.buckets[tuple.Signature(sig)]
	b.entries.remove(e)
	x.memory.Add(-b.indexesBytes(1))
	for _, s := range b.shapes {
		s.remove(e.Tuple.Hash(x.seed, s.mask), e)
	}
	if b.entries.len() == 0 && len(x.buckets) > emptyBuckets {
		delete(x.buckets, tuple.Signature(sig))
		x.memory.Add(-bucketCost)
	}
}

// indexesBytes estimates the memory of n entries in the hash indexes. The first index counts
// before it exists, because otherwise the first get from a large space would use up memory.
func (b *bucket) indexesBytes(n int) int64 {
	return indexedBytes * int64(n) * int64(max(1, len(b.shapes)))
}

// add adds an entry whose fields have that hash, and notes whether it collides with others. The
// first entry of a hash is in one; from the second on they are in many, until none is left.
func (s *shape) add(hash uint64, e *entry) {
	group := s.many[hash]
	if group == nil {
		first := s.one[hash]
		if first == nil {
			s.one[hash] = e
			return
		}
		group = s.idle
		if group == nil {
			group = &sameHash{order: order[*entry]{rank: s.rank}}
		}
		s.idle = nil
		delete(s.one, hash)
		s.many[hash] = group
		group.insert(first)
	}
	if first, ok := group.first(); ok && !group.mixed {
		group.mixed = !sameFields(first.Tuple, e.Tuple, s.mask)
	}
	group.insert(e)
}

// sameFields reports whether two tuples of one signature have equal fields where mask has
// a bit.
func sameFields(a, b tuple.Tuple, mask tuple.Shape) bool {
	for i := range a {
		if mask&(1<<i) != 0 && !a[i:i+1].Equal(b[i:i+1]) {
			return false
		}
	}
	return true
}

// remove removes an entry with that hash, which must be there. The order of a hash that has no
// entry left is kept in idle, because the next hash with two entries needs one.
func (s *shape) remove(hash uint64, e *entry) {
	group := s.many[hash]
	if group == nil {
		delete(s.one, hash)
		return
	}
	group.remove(e)
	if group.len() == 0 {
		delete(s.many, hash)
		group.mixed = false
		s.idle = group
	}
}

// candidates returns every match of p, and perhaps other entries. For a template of an indexed shape this costs O(1)
// for each match. Another shape gets its index at once while the bucket has fewer than maxShapes. After that it
// returns the entries that share the actual fields of the closest indexed shape, or all of the signature; when
// comparing these has cost as much as an index would, the index of the shape replaces the least recently used one. So
// replacing an index never costs more than the comparisons did, in any order of shapes. Fewer than indexFrom entries,
// and a template without actual fields, need no index: it returns all of the signature.
func (x *index) candidates(p tuple.Template) candidates {
	var buf [128]byte
	b := x.buckets[tuple.Signature(p.AppendSignature(buf[:0]))]
	if b == nil {
		return candidates{}
	}
	mask := p.Shape()
	if mask == 0 || b.entries.len() < indexFrom {
		return candidates{order: &b.entries}
	}
	x.clock++
	s := b.closest(mask)
	if indexed := s != nil && s.mask == mask; !indexed {
		worthIndexing := b.compared >= buildCost*b.entries.len()
		if len(b.shapes) == maxShapes && !worthIndexing {
			c := b.withHashOf(p, s, x.seed)
			b.compared += c.len()
			return c
		}
		s = x.addShape(b, mask)
	}
	s.used = x.clock
	return b.withHashOf(p, s, x.seed)
}

// withHashOf returns the entries of a bucket whose hash in shape s equals p's; without a shape it returns all.
func (b *bucket) withHashOf(p tuple.Template, s *shape, seed maphash.Seed) candidates {
	if s == nil {
		return candidates{order: &b.entries}
	}
	hash := tuple.Tuple(p).Hash(seed, s.mask)
	if o := s.many[hash]; o != nil {
		return candidates{order: &o.order, same: !o.mixed && s.mask == p.Shape()}
	}
	return candidates{one: s.one[hash]}
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

// addShape builds the index of a shape that has none, in place of the least recently used one if
// there are maxShapes. The first costs no more memory: see indexesBytes. The caller sets used.
// compared begins again at 0, because it tells when the next index is worth its cost.
func (x *index) addShape(b *bucket, mask tuple.Shape) *shape {
	x.memory.Add(-b.indexesBytes(b.entries.len()))
	if len(b.shapes) == maxShapes {
		oldest := slices.MinFunc(b.shapes, func(a, b *shape) int { return cmp.Compare(a.used, b.used) })
		b.shapes = slices.DeleteFunc(b.shapes, func(s *shape) bool { return s == oldest })
	}
	b.compared = 0
	s := &shape{mask: mask, rank: x.rank, one: map[uint64]*entry{}, many: map[uint64]*sameHash{}}
	b.entries.all(func(e *entry) bool {
		s.add(e.Tuple.Hash(x.seed, mask), e)
		return true
	})
	b.shapes = append(b.shapes, s)
	x.memory.Add(b.indexesBytes(b.entries.len()))
	return s
}

// each calls f with every match of p in order until it returns false.
func (x *index) each(p tuple.Template, f func(*entry) bool) { x.eachFrom(p, nil, f) }

// eachFrom is each for the entries that are not before pivot; nil is before all. If there is
// one candidate only, f gets it wherever pivot is.
func (x *index) eachFrom(p tuple.Template, pivot *entry, f func(*entry) bool) {
	x.candidates(p).ascend(pivot, func(e *entry) bool {
		return !p.Matches(e.Tuple) || f(e)
	})
}

// matches returns all matches of p in order. Unlike each, it lets the caller change the index
// afterwards, while it goes through them.
func (x *index) matches(p tuple.Template) []*entry {
	var all []*entry
	x.each(p, func(e *entry) bool {
		all = append(all, e)
		return true
	})
	return all
}

// count counts the matches of p. It does not visit them if p has no actual field, because then p
// matches all of its signature, or if the shape of p has an index, because then the first
// candidate tells whether all match.
func (x *index) count(p tuple.Template) int {
	c := x.candidates(p)
	if p.Shape() == 0 || c.same && p.Matches(c.at(0).Tuple) { // an indexed hash has at least one entry
		return c.len()
	}
	n := 0
	c.ascend(nil, func(e *entry) bool {
		if p.Matches(e.Tuple) {
			n++
		}
		return true
	})
	return n
}
