package vote

import (
	"encoding/binary"
	"math"

	"leasehold/shared/audio/index"
	"leasehold/shared/audio/landmark"
)

const (
	// cell is the width of a cell in frames: 256 ms. A clip of 15 s at a speed half way
	// between two variants drifts by 75 ms, so that two neighbouring cells hold all its votes.
	cell     = 1 << cellBits
	cellBits = 5
	// Stretch is how many frames the Counter takes between two decisions: 32.8 s.
	Stretch = 4096
	cells   = Stretch / cell
	// few votes make a candidate of a variant with next to no landmarks. A variant with many
	// landmarks needs two more, and one more for each perVote, because chance grows with them.
	// docs/benchmarks.md (Constants of the search) has what other values of these, and of
	// deviations, find.
	few     = 3
	many    = 300
	perVote = 800
	// deviations is how many standard deviations above the variant's own mean a candidate needs.
	deviations = 6
	full       = 127 // the most that crowded can compare eight at a time
)

// Least is how many votes a variant needs at a place, of two cells or of one small one.
func Least(v index.Variant) float64 {
	n := float64(v.Postings)
	return few + 2*min(1, n/many) + n/perVote
}

// Candidate is a place where a variant may begin.
type Candidate struct {
	Variant int // its number in the index
	Frame   int // of the episode, at which it would begin, within ± 256 ms; perhaps negative
	Votes   int
}

// Counter counts the votes of one episode.
type Counter struct {
	index  *index.Index
	places []place // of the variants
	// turns has for each unit of positions what turns a vote into a cell: a landmark at frame f of the
	// stretch votes by a posting at position p for the cell turn + (f-p)/cell of votes, rounded down.
	turns  []uint32
	votes  []uint8
	blocks []block
	start  int // frame at which the current stretch begins
}

// place is a variant's stretch of votes: the cells from first on. A beginning at frame s
// votes for the cell first + (s - start + pad)/cell.
type place struct {
	first, pad int32 // pad is in frames, a multiple of cell: the variant's length and margin cells
	half       int   // the votes of the fuller of two cells that have Least together, at least
}

// block is a part of the cells, those of whole variants, that stays in the processor's cache while it is counted
// and decided. Votes for it wait until then: the cells of 10,000 clips are far more than the cache holds, and each
// vote for them would wait for memory.
type block struct {
	variants int // in this block and those before it
	cells    int // a multiple of eight, at most 1 << blockBits
	waiting  int
	waits    *[waitingVotes]uint32 // cells; a vote for each of the first waiting
}

const (
	blockBits    = 18      // of the number of a cell within its block: 256 KB
	waitingVotes = 1 << 16 // as much memory as the cells have; then the votes are counted
)

// margin cells more than a variant's length must have passed for a cell, its two later
// neighbours and one of the past to be there and decided.
const margin = 3

// NewCounter returns a Counter at the start of an episode. Each variant gets cells for a stretch
// and for its own length before it, because a clip that began then is decided when it has ended.
func NewCounter(x *index.Index) *Counter {
	c := &Counter{index: x, turns: make([]uint32, x.Units())}
	end := 0
	for _, v := range x.Variants() {
		end = c.addVariant(v, end)
	}
	c.votes = make([]uint8, end)
	return c
}

// addVariant gives the next variant the cells from next on, or from the next block on if it would lie in two, and
// returns the cell after its last.
func (c *Counter) addVariant(v index.Variant, next int) (end int) {
	pad := (v.Frames+cell-1)/cell*cell + margin*cell
	n := (cells + pad/cell + 7) / 8 * 8 // eight are read at a time
	if last := next + n - 1; next>>blockBits != last>>blockBits {
		next = last >> blockBits << blockBits
	}
	k := next >> blockBits
	if k == len(c.blocks) {
		c.blocks = append(c.blocks, block{waits: new([waitingVotes]uint32)})
	}
	end = next + n
	c.blocks[k].variants, c.blocks[k].cells = len(c.places)+1, end-k<<blockBits
	c.places = append(c.places, place{int32(next), int32(pad), min(full, (int(math.Ceil(Least(v)))+1)/2)})
	for u := index.Unit(v.Base); u <= index.Unit(v.Base+v.Frames-1); u++ {
		c.turns[u] = uint32(next + (pad+v.Base)/cell) // Base is a multiple of a unit, and so of a cell
	}
	return end
}

// Start is the frame at which the current stretch begins; it ends Stretch frames later.
func (c *Counter) Start() int { return c.start }

// Push takes the next landmarks of the current stretch: each votes for the cell in which each variant with
// its hash would have begun. They must lie between Start and Start+Stretch, or the cell would be another variant's.
func (c *Counter) Push(landmarks []landmark.Landmark) { c.index.Lookup(landmarks, c.vote) }

// vote is Push for one landmark and the postings of its hash.
func (c *Counter) vote(l landmark.Landmark, postings index.Postings) {
	at, turns := l.Frame-c.start, c.turns
	for ; len(postings) > 0; postings = postings.From(1) {
		position := int(postings.At(0))
		k := int(turns[index.Unit(position)]) + (at-position)>>cellBits
		b := &c.blocks[k>>blockBits]
		b.waits[b.waiting] = uint32(k)
		if b.waiting++; b.waiting == waitingVotes {
			c.count(k >> blockBits)
		}
	}
}

// count counts the votes that wait for a block. A full cell stays full. It computes the total, which it does not need,
// to read the cells in their order: then they are in the cache when it counts the votes, which are in the order of time.
func (c *Counter) count(k int) {
	b := &c.blocks[k]
	total(c.votes[k<<blockBits:][:b.cells])
	for _, k := range b.waits[:b.waiting] {
		if v := &c.votes[k]; *v < full {
			*v++
		}
	}
	b.waiting = 0
}

// Decide calls emit with the candidates among the beginnings that no further landmark votes for,
// in the order of variants and frames, and goes on to the next stretch, for which it keeps the
// cells of the others. At the end of the episode it is called until Start is beyond the longest
// variant, for those that would end beyond the episode.
func (c *Counter) Decide(emit func(Candidate)) {
	i := 0
	for k, b := range c.blocks {
		c.count(k)
		for ; i < b.variants; i++ {
			c.decideVariant(i, emit)
		}
	}
	c.start += Stretch
}

// decideVariant is Decide for one variant, whose votes are counted.
func (c *Counter) decideVariant(i int, emit func(Candidate)) {
	p := c.places[i]
	n := cells + int(p.pad)/cell
	own := c.votes[p.first:][:(n+7)/8*8]
	if crowded(own, p.half) {
		c.emitPeaks(i, p, own, n, emit)
	}
	copy(own, own[cells:])
	clear(own[n-cells:])
}

// crowded reports whether some cell has so many votes (least, 1 to full). It adds to eight cells at a
// time what lifts such a cell to bit 7; no cell has more than full, so that none carries into the next.
// The length of votes is a multiple of 8.
func crowded(votes []uint8, least int) bool {
	const ones, most = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	for carry := uint64(128-least) * ones; len(votes) >= 8; votes = votes[8:] {
		if (binary.LittleEndian.Uint64(votes)+carry)&^most != 0 {
			return true
		}
	}
	return false
}

// total returns the sum of the votes, eight at a time. The length of votes is a multiple of 8. It is not inlined, because
// the reads of count could be optimised away then.
//
//go:noinline
func total(votes []uint8) (sum int) {
	const low, ones = 0x00ff00ff00ff00ff, 0x0001000100010001
	for ; len(votes) >= 8; votes = votes[8:] {
		w := binary.LittleEndian.Uint64(votes)
		sum += int((w&low + w>>8&low) * ones >> 48)
	}
	return sum
}

// emitPeaks compares cells 1 to cells, each together with the next, and emits the candidates:
// sums that are larger than their neighbours and stand out from the mean of all n. The neighbours
// of these cells are complete, because of margin. The length of votes is the next multiple of 8 after n.
func (c *Counter) emitPeaks(variant int, p place, votes []uint8, n int, emit func(Candidate)) {
	mean := 2 * float64(total(votes)) / float64(n)
	least := int(math.Ceil(max(Least(c.index.Variants()[variant]), mean+float64(deviations*math.Sqrt(mean)))))
	if least > 2*full || !crowded(votes, (least+1)/2) {
		return
	}
	two := func(k int) int { return int(votes[k]) + int(votes[k+1]) }
	for k := 1; k <= cells; k++ {
		if n := two(k); n >= least && n > two(k-1) && n >= two(k+1) {
			emit(Candidate{Variant: variant, Frame: c.start + k*cell + cell - int(p.pad), Votes: n})
		}
	}
}
