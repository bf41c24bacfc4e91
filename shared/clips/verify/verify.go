package verify

import (
	"math"
	"slices"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/warp"
)

const (
	// A place passes the gate if the sum of three blocks reaches gateZ, or one of them alone
	// reaches gateBlockZ. One in 80 and one in 2,000 places of noise do, by the largest of 2,049
	// normal values; music does more often.
	gateZ      = 4.6
	gateBlockZ = 5.5
	// BlockZ is the deviation that a block must reach near its place on the line to be covered:
	// the largest of five values of noise does once in 300 blocks.
	BlockZ = 3
	// runZ: a block adds its excess over runZ to a run, and subtracts if it is below. It lies
	// between the mean of chance near the line (1.2) and BlockZ.
	runZ = 2
	// minRun is how many blocks a part has at least: 1 s.
	minRun = 4
	// cutShare of a clip's power must be missing where it begins or ends for it to count as cut
	// there, because a clip may fade out, for example with reverberation, without a cut.
	cutShare = 1.0 / 8
	// driftZ is the deviation that the sum must reach for the speed to be corrected.
	driftZ = 5
	// unclearZ is the deviation below which the speed of the blocks is not trusted: the default
	// threshold of package match.
	unclearZ = 7.5
	// aside is the difference of speed, in thousandths, tried either way: half of maxDrift, where a
	// block has lost a third of its peak.
	aside = 3
	// chanceZ is the deviation that sums reach by chance; see Score.
	chanceZ = 5
)

// Source is sound that can be read in parts: ReadAt fills dst with the samples from offset on,
// and with silence where there are none.
type Source interface {
	ReadAt(dst []float32, offset int) error
}

// Place is what to verify: a variant that begins at about a sample of the episode, give or
// take 100 ms.
type Place struct {
	Variant int
	Begin   int
	Pace    int // thousandths by which it seems to be faster than the variant
	// From and To are the frames of the variant between which its landmarks were heard; the
	// gate looks there. To 0 is the whole of it.
	From, To int
	// Ungated places skip the gate: all blocks are compared.
	Ungated bool
}

// Block is the result of one block of the clip.
type Block struct {
	At  int     // first sample, in the variant
	Lag int     // samples later in the episode than Result.Begin implies
	Z   float64 // standard deviations; the best within 2 samples of the line
}

// Result is the result for a place.
type Result struct {
	Begin    int     // sample of the episode at which the clip's first one is played; perhaps negative
	Samples  int     // that the whole clip lasts at that speed
	Speed    float64 // 1.01 is 1 % fast
	Z        float64
	Score    float64 // 0 to below 1
	Coverage float64 // 0 to 1
	// Run is how many blocks of the best run match on their own, and RunCoverage their share of
	// that run.
	Run         int
	RunCoverage float64
	Inverted    bool
	// First and Last are the samples of the episode between which the clip is found. If an
	// eighth of the clip's power or more is missing where it begins or ends, they are accurate
	// to a block's length; else they are the samples where the whole clip begins and ends.
	First, Last int
	Blocks      []Block // nil if the place did not pass the gate
}

// Score of a Z; it is 0 below 0.
func Score(z float64) float64 { return max(0, z) / (max(0, z) + chanceZ) }

// Z is the inverse of Score, for a score from 0 to 1; infinite for 1.
func Z(score float64) float64 { return chanceZ * score / (1 - score) }

// Verifier compares the clips of an index with places of episodes. It is for one
// goroutine.
type Verifier struct {
	cache  *cache
	index  *index.Index
	wave   []float32
	bins   []complex64
	pool   []curve
	curves []curve // of the current place
	sum    []float32
}

// New returns a Verifier.
func New(x *index.Index) *Verifier {
	c := newCache(x)
	return &Verifier{cache: c, index: x, wave: make([]float32, window), bins: make([]complex64, bins), sum: make([]float32, lags)}
}

// Verify compares a place, and once more at the speed that the drift of the blocks gives. If the
// blocks are unclear, it takes the speed of the votes (Place.Pace). If the votes give none but
// are many (Place.Ungated), it tries two steps aside, because half way between two variants no
// block may be clear. The error is the Source's.
func (v *Verifier) Verify(p Place, from Source) (Result, error) {
	best, err := v.at(p, 0, from)
	if err != nil || best.Blocks == nil {
		return best, err
	}
	tries := []int{int(math.Round((best.Speed-1)*1000)) - v.index.Variants()[p.Variant].Speed}
	switch {
	case best.Z >= unclearZ:
		p.Begin, p.Pace = best.Begin, tries[0]
	case p.Pace != 0:
		tries[0] = p.Pace
	case p.Ungated:
		tries = []int{-aside, aside}
	case best.Z < driftZ:
		return best, nil
	}
	p.Ungated = true
	speed := v.index.Variants()[p.Variant].Speed
	for _, fine := range tries {
		// Package warp plays nothing faster or slower than MaxSpeed. The blocks drift by the rest.
		fine = max(-warp.MaxSpeed-speed, min(fine, warp.MaxSpeed-speed))
		if fine == 0 {
			continue
		}
		r, err := v.at(p, fine, from)
		if err != nil {
			return best, err
		}
		if r.Z >= best.Z {
			best = r
		}
	}
	return best, nil
}

// at verifies a place with the variant played so many thousandths faster (fine). Unless the place
// is ungated, three blocks must stand out before all are compared, because most places are chance.
// Blocks is nil in the result if the place did not pass this gate, or all blocks of the variant are
// silent.
func (v *Verifier) at(p Place, fine int, from Source) (Result, error) {
	c := v.cache.get(at{p.Variant, fine})
	drift := -float64(p.Pace-fine) / 1000
	r := Result{Begin: p.Begin, Samples: c.samples, Speed: 1 + float64(v.index.Variants()[p.Variant].Speed+fine)/1000}
	if len(c.blocks) == 0 {
		return r, nil
	}
	v.start(c)
	if !p.Ungated && len(c.blocks) > 3 {
		best := 0.0
		for _, k := range loudest(c.blocks, p) {
			if err := v.correlate(c, k, p.Begin, drift, from); err != nil {
				return r, err
			}
			best = max(best, v.curves[k].height())
		}
		if sum := v.sumPeak(v.curves, 0); sum.z < gateZ && best < gateBlockZ {
			r.Z, r.Score = sum.z, Score(sum.z)
			return r, nil
		}
	}
	for k := range c.blocks {
		if v.curves[k].done {
			continue
		}
		if err := v.correlate(c, k, p.Begin, drift, from); err != nil {
			return r, err
		}
	}
	v.conclude(&r, c, drift)
	return r, nil
}

// start takes a curve, which is not done, for each block of a variant. Curves are reused, so those
// of the variant before are lost. middle is the time of a block's middle from the variant's.
func (v *Verifier) start(c *variant) {
	for len(v.pool) < len(c.blocks) {
		v.pool = append(v.pool, curve{z: make([]float32, lags)})
	}
	v.curves = v.pool[:len(c.blocks)]
	for k := range v.curves {
		v.curves[k].done = false
		v.curves[k].middle = float64(c.blocks[k].at) + float64(float64(BlockSamples-c.samples)/2)
	}
}

// loudest returns the loudest block of each third of those where a place's landmarks are, or of
// all if those are fewer than three. There must be at least three blocks.
func loudest(blocks []block, p Place) [3]int {
	first, last := 0, len(blocks)
	if p.To > 0 {
		for first < last && blocks[first].at+BlockSamples <= p.From*hop {
			first++
		}
		for last > first && blocks[last-1].at > p.To*hop {
			last--
		}
	}
	if last-first < 3 {
		first, last = 0, len(blocks)
	}
	var best [3]int
	for i := range best {
		best[i] = first + i*(last-first)/3
		for k := best[i]; k < first+(i+1)*(last-first)/3; k++ {
			if blocks[k].power > blocks[best[i]].power {
				best[i] = k
			}
		}
	}
	return best
}

// conclude fills in the result from the curves, which were taken along a line of so much drift.
// There is at least one curve, so that Coverage is defined.
func (v *Verifier) conclude(r *Result, c *variant, drift float64) {
	m := v.matchBlocks()
	r.Z, r.Score, r.Inverted = m.peak.z, Score(m.peak.z), m.peak.sign < 0
	r.setPlace(m, c.samples, drift)
	r.setCoverage(m, c.blocks)
	r.setEnds(m, c.blocks, drift+m.drift)
}

// blockMatches is how well each block of a clip matches near one line through the curves.
type blockMatches struct {
	peak    peak
	drift   float64 // of the line, beyond that along which the curves were taken
	heights []float64
	lags    []int
	run     run // the best one
}

// matchBlocks finds the line with the largest sum of the curves: without drift, or with the drift
// on which the blocks agree. If the best run of blocks is clearer alone than all blocks together,
// it decides alone, because the clip is played in part.
func (v *Verifier) matchBlocks() blockMatches {
	m := blockMatches{peak: v.sumPeak(v.curves, 0)}
	if drift := v.drift(); drift != 0 {
		if p := v.sumPeak(v.curves, drift); p.z > m.peak.z {
			m.peak, m.drift = p, drift
		}
	}
	v.setHeights(&m)
	if m.run.len() >= minRun && m.run.len() < len(v.curves) {
		if p := v.sumPeak(v.curves[m.run.first:m.run.end], m.drift); p.z > m.peak.z {
			m.peak = p
			v.setHeights(&m)
		}
	}
	return m
}

// setHeights sets the best deviation of each block near the line, its lag, and the best run.
func (v *Verifier) setHeights(m *blockMatches) {
	m.heights, m.lags = nil, nil
	for i := range v.curves {
		c := &v.curves[i]
		height, lag := c.near(m.peak.lag+int(math.Round(m.drift*c.middle)), m.peak.sign)
		m.heights, m.lags = append(m.heights, height), append(m.lags, lag)
	}
	m.run = bestRun(m.heights)
}

// matching returns the first and the last block that matches on its own; -1 if none does.
func (m *blockMatches) matching() (first, last int) {
	matches := func(z float64) bool { return z >= BlockZ }
	first = slices.IndexFunc(m.heights, matches)
	for last = len(m.heights) - 1; last >= 0 && !matches(m.heights[last]); last-- {
	}
	return first, last
}

// setPlace sets where the clip of so many samples begins, and its length and speed. The lags of
// the curves count from BlockSamples/2 before r.Begin, and their lines drift from the middle of
// the clip, so its begin moves by the drift of half its length. drift is that of the curves.
func (r *Result) setPlace(m blockMatches, samples int, drift float64) {
	r.Begin += m.peak.lag - BlockSamples/2 - int(math.Round(m.drift*float64(samples)/2))
	drift += m.drift
	r.Samples = int(math.Round(float64(samples) * (1 + drift)))
	r.Speed /= 1 + drift
}

// setCoverage sets Blocks, and the shares of all blocks and of the best run that match on their own.
func (r *Result) setCoverage(m blockMatches, blocks []block) {
	covered := 0
	for k, z := range m.heights {
		r.Blocks = append(r.Blocks, Block{At: blocks[k].at, Lag: m.lags[k] - m.peak.lag, Z: z})
		if z >= BlockZ {
			covered++
		}
	}
	for _, z := range m.heights[m.run.first:m.run.end] {
		if z >= BlockZ {
			r.Run++
		}
	}
	r.Coverage = float64(covered) / float64(len(m.heights))
	r.RunCoverage = float64(r.Run) / float64(max(1, m.run.len()))
}

// setEnds sets First and Last: the ends of the whole clip, or of the blocks that match if too much
// of the clip's power is missing before or after them. If little of the clip is covered, only the
// best run counts, because single blocks match by chance.
func (r *Result) setEnds(m blockMatches, blocks []block, drift float64) {
	r.First, r.Last = r.Begin, r.Begin+r.Samples
	first, last := m.matching()
	if first < 0 {
		return
	}
	if r.Coverage < partCoverage && m.run.len() >= minRun {
		first, last = m.run.first, m.run.end-1
	}
	if share(blocks[:first], blocks) >= cutShare {
		begin := blocks[first].at
		r.First = r.Begin + begin + shift(drift, begin)
	}
	if share(blocks[last+1:], blocks) >= cutShare {
		end := blocks[last].at + BlockSamples
		r.Last = r.Begin + end + shift(drift, end)
	}
}

// partCoverage is the coverage below which the best run of blocks decides where a part begins
// and ends.
const partCoverage = .8

// run is the blocks from first to before end.
type run struct{ first, end int }

func (r run) len() int { return r.end - r.first }

// bestRun returns the run whose blocks have the most above runZ together (the sum of a subarray
// by Kadane); it is empty if no block is above.
func bestRun(heights []float64) (best run) {
	most, sum, first := 0.0, 0.0, 0
	for k, z := range heights {
		if sum <= 0 {
			sum, first = 0, k
		}
		sum += z - runZ
		if sum > most {
			most, best = sum, run{first, k + 1}
		}
	}
	return best
}

// share is the share of some blocks in the power of all, which are not silent.
func share(some, all []block) float64 {
	var part, whole float64
	for _, b := range some {
		part += b.power
	}
	for _, b := range all {
		whole += b.power
	}
	return part / whole
}
