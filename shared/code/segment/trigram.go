package segment

import (
	"encoding/binary"

	"leasehold/shared/code"
)

// allTrigrams is the number of trigrams: of three bytes.
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
	t.folded, _ = code.Fold(t.folded[:0], text)
	t.seen.clear()
	t.seen.addTrigramsOf(t.folded)
	return t.seen.list
}

// seen is a set of trigrams. Clearing it takes time in proportion to its size, not to the length of
// bits.
type seen struct {
	bits []uint64 // by trigram
	list []uint32 // the same trigrams, in the order in which they were added
}

func newSeen() seen { return seen{bits: make([]uint64, allTrigrams/64)} }

// clear empties the set, by the words of its members only, because the bitmap has 2^24 bits.
func (s *seen) clear() {
	for _, t := range s.list {
		s.bits[t/64] = 0
	}
	s.list = s.list[:0]
}

// addTrigramsOf adds the trigrams of folded text. A trigram does not contain a line feed, because
// a query matches within a line. Each is added to the list once.
func (s *seen) addTrigramsOf(text []byte) {
	t, length := uint32(0), 0 // the last three bytes, and the bytes since the line began
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

// addChunk adds the trigrams of a chunk with this text. Chunks come in ascending order. From
// maxPairs on it encodes the pairs as a run, which takes less memory.
func (p *postings) addChunk(chunk uint32, text []byte) {
	p.folded, _ = code.Fold(p.folded[:0], text)
	p.seen.clear()
	p.seen.addTrigramsOf(p.folded)
	for _, t := range p.seen.list {
		p.pairs = append(p.pairs, uint64(t)<<32|uint64(chunk))
	}
	if len(p.pairs) >= maxPairs {
		p.flush()
	}
}

// flush sorts the pairs by trigram, and encodes them as a run. Pairs are in the order of chunks,
// so it sorts by the 24 bits of the trigram only, in two stable passes of 12 bits, and each
// trigram's chunks stay ascending.
func (p *postings) flush() {
	if len(p.pairs) == 0 {
		return
	}
	if len(p.scratch) < len(p.pairs) {
		p.scratch = make([]uint64, len(p.pairs), max(len(p.pairs), cap(p.pairs)))
	}
	radixPass(p.pairs, p.scratch[:len(p.pairs)], 32)
	radixPass(p.scratch[:len(p.pairs)], p.pairs, 44)
	r := run{}
	last := uint32(allTrigrams) // the trigram of the pair before; no trigram at first
	var before uint32           // its chunk; lists have differences
	for _, pair := range p.pairs {
		t, chunk := uint32(pair>>32), uint32(pair)
		if t != last {
			if last != allTrigrams {
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

// radixPass copies from into to, ordered by the 12 bits of each value from bit shift on. Values
// with equal bits keep their order. from and to have the same length.
func radixPass(from, to []uint64, shift uint) {
	var at [1 << 12]int // by these bits: first how many values have them, then where the next goes
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
