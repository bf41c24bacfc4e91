package vote

import (
	"math"
	"math/bits"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
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
	many    = 120
	perVote = 220
	// deviations is how many standard deviations above the variant's own mean a candidate needs.
	deviations = 6
	full       = math.MaxUint8 // a cell has no more votes; far more than Least
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
	// turns has for each unit of positions what turns a vote into a cell: a landmark at frame f of the stretch
	// votes by a posting at position p for the cell turn + (f-p)/cell rows, rounded down.
	turns  []uint32
	pads   []int   // by variant, in frames, a multiple of cell: the variant's length and margin cells
	halves []uint8 // by variant: the votes of the fuller of two cells that have Least together, at least
	blocks []block
	votes  []uint8 // of the cells of the block being counted; else 0
	own    []uint8 // of the cells of one variant
	start  int     // frame at which the current stretch begins
}

// block is the votes for columns variants that are next to each other. The cells of a block are numbered by row and
// column: a column is a variant, and a beginning at frame s has the row (s - start + pad)/cell. The cells of all blocks
// would be far more memory than the processor's cache, and nearly all of them 0. So the votes are a list until a
// stretch is decided. Then those of one block after the other are counted in the same cells, which stay in the cache.
type block struct {
	list []uint32 // a cell in the lower blockBits, and one less than the number of votes for it above
	n    int      // of the list; the rest is free
}

const (
	columnBits = 10
	columns    = 1 << columnBits
	rowBits    = 10 // a stretch and the longest clip at its slowest have 620 rows
	blockBits  = rowBits + columnBits
	cellMask   = 1<<blockBits - 1
	// The list of a block grows from leastList entries, but only if at least half of them are different cells.
	leastList = 1024
)

// margin cells more than a variant's length must have passed for a cell, its two later
// neighbours and one of the past to be there and decided.
const margin = 3

// NewCounter returns a Counter at the start of an episode. Each variant gets cells for a stretch
// and for its own length before it, because a clip that began then is decided when it has ended.
func NewCounter(x *index.Index) *Counter {
	c := &Counter{index: x, turns: make([]uint32, x.Units()), halves: make([]uint8, len(x.Variants()))}
	most := 0
	for i, v := range x.Variants() {
		pad := (v.Frames+cell-1)/cell*cell + margin*cell
		most = max(most, cells+pad/cell)
		c.pads = append(c.pads, pad)
		c.halves[i] = uint8(min(full, (int(math.Ceil(Least(v)))+1)/2))
		if i%columns == 0 {
			c.blocks = append(c.blocks, block{list: make([]uint32, leastList)})
		}
		for u := index.Unit(v.Base); u <= index.Unit(v.Base+v.Frames-1); u++ {
			// Base is a multiple of a unit, and so of a cell.
			c.turns[u] = uint32(i>>columnBits<<blockBits + (pad+v.Base)/cell<<columnBits + i%columns)
		}
	}
	c.votes, c.own = make([]uint8, most<<columnBits), make([]uint8, most)
	return c
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
		k := turns[index.Unit(position)] + uint32((at-position)>>cellBits<<columnBits)
		b := &c.blocks[k>>blockBits]
		b.list[b.n] = k & cellMask
		if b.n++; b.n == len(b.list) {
			c.compact(b)
		}
	}
}

// compact adds up the votes for one cell in a block's list, and makes the list longer if they are for many.
func (c *Counter) compact(b *block) {
	c.count(b, nil)
	c.collect(b, 0)
	if b.n > len(b.list)/2 {
		b.list = append(b.list, make([]uint32, len(b.list))...)
	}
}

// count counts the votes of a block's list. It returns a bit for each column in which a cell has as many
// votes as halves tell or more; none if halves is nil.
func (c *Counter) count(b *block, halves []uint8) (crowded [columns / 64]uint64) {
	for _, k := range b.list[:b.n] {
		v := &c.votes[k&cellMask]
		*v = uint8(min(full, uint32(*v)+k>>blockBits+1))
		if column := k % columns; halves != nil && *v >= halves[column] {
			crowded[column/64] |= 1 << (column % 64)
		}
	}
	return crowded
}

// collect is the inverse of count: it makes a block's list of its cells, one entry for each, and clears them. The cells
// before a row are forgotten, and the others get numbers from that row on.
func (c *Counter) collect(b *block, row uint32) {
	n := 0
	for _, k := range b.list[:b.n] {
		k &= cellMask
		if votes := uint32(c.votes[k]); votes > 0 && k>>columnBits >= row {
			b.list[n] = (votes-1)<<blockBits | k - row<<columnBits
			n++
		}
		c.votes[k] = 0
	}
	b.n = n
}

// Decide calls emit with the candidates among the beginnings that no further landmark votes for,
// in the order of variants and frames, and goes on to the next stretch, for which it keeps the
// cells of the others. At the end of the episode it is called until Start is beyond the longest
// variant, for those that would end beyond the episode.
func (c *Counter) Decide(emit func(Candidate)) {
	for i := range c.blocks {
		b, first := &c.blocks[i], i<<columnBits
		for j, some := range c.count(b, c.halves[first:]) {
			for ; some != 0; some &= some - 1 {
				c.decideVariant(first+64*j+bits.TrailingZeros64(some), emit)
			}
		}
		c.collect(b, cells)
	}
	c.start += Stretch
}

// decideVariant compares cells 1 to cells of a variant, each together with the next, and emits the candidates:
// sums that are larger than their neighbours and stand out from the mean of all cells. The neighbours
// of these cells are complete, because of margin. The votes of its block are counted.
func (c *Counter) decideVariant(variant int, emit func(Candidate)) {
	pad := c.pads[variant]
	own, total := c.own[:cells+pad/cell], 0
	for row := range own {
		own[row] = c.votes[row<<columnBits+variant%columns]
		total += int(own[row])
	}
	mean := 2 * float64(total) / float64(len(own))
	least := int(math.Ceil(max(Least(c.index.Variants()[variant]), mean+float64(deviations*math.Sqrt(mean)))))
	two := func(k int) int { return int(own[k]) + int(own[k+1]) }
	for k := 1; k <= cells; k++ {
		if n := two(k); n >= least && n > two(k-1) && n >= two(k+1) {
			emit(Candidate{Variant: variant, Frame: c.start + k*cell + cell - pad, Votes: n})
		}
	}
}
