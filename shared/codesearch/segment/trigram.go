package segment

import (
	"encoding/binary"

	"leasehold/shared/codesearch"
)

const allTrigrams = 1 << 24

// Trigrams finds the distinct trigrams of texts, one after the other. It is for one goroutine,
// and takes 2 MiB.
type Trigrams struct {
	seen   seen
	folded []byte
}

// Of returns the distinct trigrams within the lines of text, folded, in the order in which
// they occur: the first byte is the highest of three. They are valid until the next call.
func (t *Trigrams) Of(text []byte) []uint32 {
	if t.seen.bits == nil {
		t.seen = newSeen()
	}
	t.folded, _ = codesearch.Fold(t.folded[:0], text)
	t.seen.clear()
	t.seen.add(t.folded)
	return t.seen.list
}

// seen is a set of trigrams that is cleared in proportion to its size.
type seen struct {
	bits []uint64
	list []uint32
}

func newSeen() seen { return seen{bits: make([]uint64, allTrigrams/64)} }

func (s *seen) clear() {
	for _, t := range s.list {
		s.bits[t/64] = 0
	}
	s.list = s.list[:0]
}

// add adds the trigrams within the lines of folded text.
func (s *seen) add(text []byte) {
	t, length := uint32(0), 0
	for _, b := range text {
		t = (t<<8 | uint32(b)) & (allTrigrams - 1)
		if b == '\n' {
			length = 0
			continue
		}
		if length++; length < 3 {
			continue
		}
		if bit := uint64(1) << (t % 64); s.bits[t/64]&bit == 0 {
			s.bits[t/64] |= bit
			s.list = append(s.list, t)
		}
	}
}

// maxPairs is how many pairs a Builder collects before it sorts them: 16 MiB with the
// space for sorting.
const maxPairs = 1 << 20

// postings collects which chunks have which trigrams.
type postings struct {
	seen    seen // of the current chunk
	folded  []byte
	pairs   []uint64 // trigram<<32 | chunk, chunks ascending
	scratch []uint64
	runs    []run
}

// A run is a part of all postings: for each trigram, in ascending order, its chunks in
// the encoding of the file.
type run struct {
	trigrams []uint32
	ends     []uint32 // of each trigram's list in data
	data     []byte
}

func newPostings() *postings { return &postings{seen: newSeen()} }

// add adds the trigrams of chunk, which is greater than those before.
func (p *postings) add(chunk uint32, text []byte) {
	p.folded, _ = codesearch.Fold(p.folded[:0], text)
	p.seen.clear()
	p.seen.add(p.folded)
	for _, t := range p.seen.list {
		p.pairs = append(p.pairs, uint64(t)<<32|uint64(chunk))
	}
	if len(p.pairs) >= maxPairs {
		p.flush()
	}
}

// flush sorts the pairs into a run.
func (p *postings) flush() {
	if len(p.pairs) == 0 {
		return
	}
	if len(p.scratch) < len(p.pairs) {
		p.scratch = make([]uint64, len(p.pairs), max(len(p.pairs), cap(p.pairs)))
	}
	radix(p.pairs, p.scratch[:len(p.pairs)], 32)
	radix(p.scratch[:len(p.pairs)], p.pairs, 44)
	r := run{}
	last := ^uint32(0)
	var before uint32
	for _, pair := range p.pairs {
		t, chunk := uint32(pair>>32), uint32(pair)
		if t != last {
			if last != ^uint32(0) {
				r.ends = append(r.ends, uint32(len(r.data)))
			}
			r.trigrams, last, before = append(r.trigrams, t), t, 0
		}
		r.data = binary.AppendUvarint(r.data, uint64(chunk-before))
		before = chunk
	}
	r.ends = append(r.ends, uint32(len(r.data)))
	p.runs, p.pairs = append(p.runs, r), p.pairs[:0]
}

// radix sorts from into to by 12 bits of each value, and keeps the order of equal ones.
func radix(from, to []uint64, shift uint) {
	var at [1 << 12]int
	for _, v := range from {
		at[v>>shift&(1<<12-1)]++
	}
	sum := 0
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	for _, v := range from {
		k := v >> shift & (1<<12 - 1)
		to[at[k]] = v
		at[k]++
	}
}
