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
	turns []uint32
	votes []uint8
	// pending are the votes that have not been counted, by blocks of cells.
	pending []pending
	start   int // frame at which the current stretch begins
}

// place is a variant's stretch of votes: the cells from first on. A beginning at frame s
// votes for the cell first + (s - start + pad)/cell.
type place struct {
	first, pad int32 // pad is in frames, a multiple of cell: the variant's length and margin cells
}

// pending holds votes for a block of cells, because such a block stays in the processor's cache while it is
// counted. The cells of 10,000 clips are far more than that, and each vote for them would wait for memory.
type pending struct {
	count int
	cells *[pendingVotes]uint32
}

const (
	blockBits    = 18      // of the number of a cell within its block: 256 KB
	pendingVotes = 1 << 16 // as much memory as the cells have; then the votes are counted
)

// margin cells more than a variant's length must have passed for a cell, its two later
// neighbours and one of the past to be there and decided.
const margin = 3

// NewCounter returns a Counter at the start of an episode. Each variant gets cells for a stretch
// and for its own length before it, because a clip that began then is decided when it has ended.
func NewCounter(x *index.Index) *Counter {
	c := &Counter{index: x, turns: make([]uint32, x.Units())}
	total := 0
	for _, v := range x.Variants() {
		pad := (v.Frames+cell-1)/cell*cell + margin*cell
		c.places = append(c.places, place{first: int32(total), pad: int32(pad)})
		for u := index.Unit(v.Base); u <= index.Unit(v.Base+v.Frames-1); u++ {
			c.turns[u] = uint32(total + (pad+v.Base)/cell) // Base is a multiple of a unit, and so of a cell
		}
		total += (cells + pad/cell + 7) / 8 * 8 // eight are read at a time
	}
	c.votes = make([]uint8, total)
	for range total>>blockBits + 1 {
		c.pending = append(c.pending, pending{cells: new([pendingVotes]uint32)})
	}
	return c
}

// Start is the frame at which the current stretch begins; it ends Stretch frames later.
func (c *Counter) Start() int { return c.start }

// Push takes a landmark of the current stretch: it votes for the cell in which each variant with
// its hash would have begun. The landmark must lie between Start and Start+Stretch, or the cell
// would be another variant's.
func (c *Counter) Push(l landmark.Landmark) {
	at, turns := l.Frame-c.start, c.turns
	for postings := c.index.Postings(l.Hash); len(postings) > 0; postings = postings.From(1) {
		position := int(postings.At(0))
		k := int(turns[index.Unit(position)]) + (at-position)>>cellBits
		p := &c.pending[k>>blockBits]
		p.cells[p.count] = uint32(k)
		if p.count++; p.count == pendingVotes {
			c.count(p)
		}
	}
}

// count counts the votes of a block. A full cell stays full.
func (c *Counter) count(p *pending) {
	for _, k := range p.cells[:p.count] {
		if v := &c.votes[k]; *v < full {
			*v++
		}
	}
	p.count = 0
}

// Decide calls emit with the candidates among the beginnings that no further landmark votes for,
// in the order of variants and frames, and goes on to the next stretch, for which it keeps the
// cells of the others. At the end of the episode it is called until Start is beyond the longest
// variant, for those that would end beyond the episode.
func (c *Counter) Decide(emit func(Candidate)) {
	for i := range c.pending {
		c.count(&c.pending[i])
	}
	for i, p := range c.places {
		n := cells + int(p.pad)/cell
		own := c.votes[p.first:][:(n+7)/8*8]
		if crowded(own, (few+1)/2) { // without such a cell, no two cells have few
			c.emitPeaks(i, p, own, n, emit)
		}
		copy(own, own[cells:])
		clear(own[n-cells:])
	}
	c.start += Stretch
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

// total returns the sum of the votes, eight at a time. The length of votes is a multiple of 8.
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
