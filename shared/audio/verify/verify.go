package verify

import (
	"math"

	"leasehold/shared/audio/index"
)

const (
	// gateZ is what the sum of three blocks must reach for the others to be looked at.
	gateZ = 4.6
	// BlockZ is what a block must reach, where the line says it is, to be covered.
	BlockZ = 3
	// cutShare of a clip's power must be missing at an end for it to be cut there.
	cutShare = 1.0 / 8
	// driftZ is what a sum along a drifting line must reach for the speed to be mended.
	driftZ = 5
	// unclearZ is what says nothing yet, and aside is how many thousandths are tried.
	unclearZ = 7.5
	aside    = 3
	// chanceZ is what sums reach by chance; see Score.
	chanceZ = 5
)

// Source is sound of which some can be read: the samples from offset on into dst,
// silence where there are none.
type Source interface {
	ReadAt(dst []float32, offset int) error
}

// Block is how one block of the clip fared.
type Block struct {
	At  int     // first sample, in the variant
	Lag int     // samples later in the episode than Result.Begin says
	Z   float64 // standard deviations; the best within 2 samples of the line
}

// Result is what is known of a place.
type Result struct {
	Begin    int     // sample of the episode at which the clip's first one is played; perhaps negative
	Samples  int     // that the whole clip lasts at that speed
	Speed    float64 // 1.01 is 1 % fast
	Z        float64
	Score    float64 // 0 to below 1
	Coverage float64 // 0 to 1
	// First and Last are where in the episode what is found of the clip begins and
	// ends, to a block's length: where an eighth of its power or more is missing at an end, else
	// where the clip's ends are.
	First, Last int
	Blocks      []Block
}

// Score of a Z; it is 0 below 0.
func Score(z float64) float64 { return max(0, z) / (max(0, z) + chanceZ) }

// Verifier compares the clips of an index with places of episodes. It is for one
// goroutine.
type Verifier struct {
	cache  *cache
	index  *index.Index
	wave   []float32
	bins   []complex64
	pool   []curve
	curves []curve // of the place in hand
	sum    []float32
}

// New returns a Verifier.
func New(x *index.Index) *Verifier {
	c := newCache(x)
	return &Verifier{cache: c, index: x, wave: make([]float32, window), bins: make([]complex64, bins), sum: make([]float32, lags)}
}

// Verify looks for a variant that begins at about a sample of the episode, give or take
// 100 ms. A place that does not pass the gate has no Blocks, and the Z that it had there.
// The error is the Source's.
func (v *Verifier) Verify(number, begin int, from Source) (Result, error) {
	return v.look(number, begin, from, true)
}

// Explain is Verify without the gate: every block is looked at.
func (v *Verifier) Explain(number, begin int, from Source) (Result, error) {
	return v.look(number, begin, from, false)
}

// look verifies, and once more at the speed that the drift of the blocks tells. Half way
// between two variants no block may be clear enough to tell it: without a gate, two steps
// aside are tried.
func (v *Verifier) look(number, begin int, from Source, gate bool) (Result, error) {
	best, err := v.verify(at{number: number}, begin, from, gate)
	if err != nil {
		return best, err
	}
	if !gate && best.Z < unclearZ {
		for _, fine := range []int{-aside, aside} {
			if best, err = v.better(best, 1, at{number, fine}, begin, from); err != nil {
				return best, err
			}
		}
	}
	fine := v.fine(number, best)
	if fine == 0 || best.Z < driftZ {
		return best, nil
	}
	return v.better(best, 0, at{number, fine}, best.Begin, from)
}

// better returns a result, or what there is at another speed if its Z is so much higher.
func (v *Verifier) better(best Result, margin float64, a at, begin int, from Source) (Result, error) {
	r, err := v.verify(a, begin, from, false)
	if err != nil || r.Z < best.Z+margin {
		return best, err
	}
	return r, nil
}

// fine is by how many thousandths a result is faster than a variant.
func (v *Verifier) fine(number int, r Result) int {
	return int(math.Round((r.Speed-1)*1000)) - v.index.Variants()[number].Speed
}

func (v *Verifier) verify(a at, begin int, from Source, gate bool) (Result, error) {
	c := v.cache.get(a)
	r := Result{Begin: begin, Samples: len(c.wave), Speed: 1 + float64(v.index.Variants()[a.number].Speed+a.fine)/1000}
	if len(c.blocks) == 0 {
		return r, nil
	}
	v.start(c)
	if gate && len(c.blocks) > 3 {
		for _, k := range loudest(c.blocks) {
			if err := v.correlate(c, k, begin, from); err != nil {
				return r, err
			}
		}
		if _, z := v.peak(line{}); z < gateZ {
			r.Z, r.Score = z, Score(z)
			return r, nil
		}
	}
	for k := range c.blocks {
		if v.curves[k].done {
			continue
		}
		if err := v.correlate(c, k, begin, from); err != nil {
			return r, err
		}
	}
	v.conclude(&r, c)
	return r, nil
}

// start takes a curve for each block.
func (v *Verifier) start(c *variant) {
	for len(v.pool) < len(c.blocks) {
		v.pool = append(v.pool, curve{z: make([]float32, lags)})
	}
	v.curves = v.pool[:len(c.blocks)]
	for k := range v.curves {
		v.curves[k].done = false
		v.curves[k].middle = float64(c.blocks[k].at) + float64(BlockSamples-len(c.wave))/2
	}
}

// loudest returns the loudest block of each third.
func loudest(blocks []block) [3]int {
	var best [3]int
	for i := range best {
		best[i] = i * len(blocks) / 3
		for k := best[i]; k < (i+1)*len(blocks)/3; k++ {
			if blocks[k].power > blocks[best[i]].power {
				best[i] = k
			}
		}
	}
	return best
}

// conclude fills in what the curves say.
func (v *Verifier) conclude(r *Result, c *variant) {
	l := v.line()
	lag, z := v.peak(l)
	r.Z, r.Score = z, Score(z)
	shift := lag - BlockSamples/2 // of the middle of the clip
	middle := float64(len(c.wave)) / 2
	r.Begin += shift - int(math.Round(l.drift*middle))
	r.Samples = int(math.Round(float64(len(c.wave)) * (1 + l.drift)))
	r.Speed /= 1 + l.drift
	covered := 0
	r.First, r.Last = r.Begin, r.Begin+r.Samples
	first, last := -1, -1
	for k, u := range v.curves {
		z, at := u.near(lag + l.at(u.middle))
		r.Blocks = append(r.Blocks, Block{At: c.blocks[k].at, Lag: at - lag, Z: z})
		if z < BlockZ {
			continue
		}
		covered++
		if first < 0 {
			first = k
		}
		last = k
	}
	r.Coverage = float64(covered) / float64(len(v.curves))
	if first < 0 {
		return
	}
	// A weak end, such as an echo that dies away, is no cut.
	if share(c.blocks[:first], c.blocks) >= cutShare {
		r.First = r.Begin + c.blocks[first].at
	}
	if share(c.blocks[last+1:], c.blocks) >= cutShare {
		r.Last = r.Begin + c.blocks[last].at + BlockSamples
	}
}

// share is how much of the power of all blocks some have.
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
