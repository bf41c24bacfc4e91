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
	cell = 32
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
	index *index.Index
	// places has for each variant the offsets that turn a vote into a cell.
	places []place
	votes  []uint8
	start  int // frame at which the current stretch begins
}

// place is a variant's stretch of votes: cells from first on. A beginning at frame s
// votes for the cell (s - start + pad)/cell.
type place struct {
	turn  int32 // pad plus the variant's Base, so that a vote needs one subtraction
	first int32
	pad   int32 // frames, a multiple of cell: the variant's length and margin cells
}

// margin cells more than a variant's length must have passed for a cell, its two later
// neighbours and one of the past to be there and decided.
const margin = 3

// NewCounter returns a Counter at the start of an episode. Each variant gets cells for a stretch
// and for its own length before it, because a clip that began then is decided when it has ended.
func NewCounter(x *index.Index) *Counter {
	c := &Counter{index: x}
	total := 0
	for _, v := range x.Variants() {
		pad := (v.Frames+cell-1)/cell*cell + margin*cell
		c.places = append(c.places, place{turn: int32(pad + v.Base), first: int32(total), pad: int32(pad)})
		total += (cells + pad/cell + 7) / 8 * 8 // eight are read at a time
	}
	c.votes = make([]uint8, total)
	return c
}

// Start is the frame at which the current stretch begins; it ends Stretch frames later.
func (c *Counter) Start() int { return c.start }

// Push takes a landmark of the current stretch: it votes for the cell in which each variant with
// its hash would have begun. The landmark must lie between Start and Start+Stretch, or the cell
// would be another variant's. A full cell stays full.
func (c *Counter) Push(l landmark.Landmark) {
	postings := c.index.Postings(l.Hash)
	at := int32(l.Frame - c.start)
	for i := range postings.Len() {
		position := postings.At(i)
		p := &c.places[c.index.Owner(position)]
		v := &c.votes[p.first+(at+p.turn-int32(position))/cell]
		if *v < full {
			*v++
		}
	}
}

// Decide calls emit with the candidates among the beginnings that no further landmark votes for,
// in the order of variants and frames, and goes on to the next stretch, for which it keeps the
// cells of the others. At the end of the episode it is called until Start is beyond the longest
// variant, for those that would end beyond the episode.
func (c *Counter) Decide(emit func(Candidate)) {
	for i, p := range c.places {
		n := cells + int(p.pad)/cell
		own := c.votes[p.first:][:(n+7)/8*8]
		if crowded(own) {
			c.emitPeaks(i, p, own[:n], emit)
		}
		copy(own, own[cells:])
		clear(own[n-cells:])
	}
	c.start += Stretch
}

// crowded reports whether some cell has half of few votes; without one, no two cells have few. It
// adds to eight cells at a time what lifts such a cell to bit 7; no cell has more than full, so
// that none carries into the next. The length of votes is a multiple of 8.
func crowded(votes []uint8) bool {
	const most, carry = 0x7f7f7f7f7f7f7f7f, 128 - (few+1)/2
	for ; len(votes) >= 8; votes = votes[8:] {
		w := binary.LittleEndian.Uint64(votes)
		if (w+carry*0x0101010101010101)&^most != 0 {
			return true
		}
	}
	return false
}

// emitPeaks compares cells 1 to cells, each together with the next, and emits the candidates:
// sums that are larger than their neighbours and stand out from the mean of all. The neighbours
// of these cells are complete, because of margin.
func (c *Counter) emitPeaks(variant int, p place, votes []uint8, emit func(Candidate)) {
	sum := 0
	for _, v := range votes {
		sum += int(v)
	}
	mean := 2 * float64(sum) / float64(len(votes))
	least := int(math.Ceil(max(Least(c.index.Variants()[variant]), mean+float64(deviations*math.Sqrt(mean)))))
	two := func(k int) int { return int(votes[k]) + int(votes[k+1]) }
	for k := 1; k <= cells; k++ {
		if n := two(k); n >= least && n > two(k-1) && n >= two(k+1) {
			emit(Candidate{Variant: variant, Frame: c.start + k*cell + cell - int(p.pad), Votes: n})
		}
	}
}
