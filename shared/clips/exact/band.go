package exact

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// coreShare of a clip's energy lies in its core, and coreValues is how many independent values
	// a band of it has while the clip is played, at least: by chance the power of its envelope is
	// one part in so many of its energy. Where a clip is played with a score of s, the core has s
	// times its share of the energy, wherever the noise lies in the spectrum, unless an equaliser
	// has changed it. It cannot be missing, because a match needs more of the clip (minCoverage)
	// than the rest has. coreLoss is the factor by which it may have been lowered, compared with
	// the rest: 6 dB.
	coreShare  = 0.5
	coreValues = 32
	coreLoss   = 0.5
	// mostShare and mostValues are the same for the bands with nearly all of the energy. By the
	// inequality of Cauchy and Schwarz the rest adds at most √(1-mostShare) = 0.14 to a score, so
	// at the default threshold of 0.6 they must reach 0.46, and they miss no place. With less, or
	// with narrower bands, they rule out fewer places; more needs more bands.
	mostShare  = 0.98
	mostValues = 128
	// maxBands and minBands bound the number of bands of equal width into which a spectrum of 4 kHz is
	// divided: those of a core of a clip of 2 s or more have 16 Hz.
	maxBands = 256
	minBands = 8
)

// outline is the loudest parts of a clip's spectrum. Most clips that are searched by plain correlation consist of a few
// tones, so a few narrow bands suffice.
type outline struct {
	samples int // of the clip
	core    part
	most    part // empty if it were more than half of the spectrum, because to correlate the whole clip costs as little
}

// part is the loudest of the bands of one width.
type part struct {
	list  []band
	share float64 // of the clip's energy
}

// band is a part of a clip's spectrum, relative to the root of the energy in it. It is correlated at the lower
// rate that it needs.
type band struct {
	first    int // bin
	spectrum []complex64
}

// newOutline returns the outline of a clip of so many samples. bins are its spectrum; their number is a power
// of two, and at least one is not 0.
func newOutline(samples int, bins []complex64) outline {
	o := outline{samples: samples, core: loudest(bins, bandsOf(samples, coreValues), coreShare)}
	n := bandsOf(samples, mostValues)
	if most := loudest(bins, n, mostShare); len(most.list) <= n/2 {
		o.most = most
	}
	return o
}

// bandsOf is into how many bands the spectrum of a clip of so many samples is divided for each to have so many
// independent values: a power of two.
func bandsOf(samples, values int) int {
	n := maxBands
	for n > minBands && n*2*values > samples {
		n /= 2
	}
	return n
}

// loudest divides a clip's spectrum into n bands, and returns those which have a share of its energy.
func loudest(bins []complex64, n int, share float64) (p part) {
	energies, order, all := make([]float64, n), make([]int, n), 0.0
	width := len(bins) / n
	for i := range order {
		order[i] = i
		for _, v := range bins[i*width:][:width] {
			energies[i] += norm(v)
		}
		all += energies[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(energies[b], energies[a]) })
	for _, i := range order {
		p.list = append(p.list, newBand(bins, i*width, width, energies[i]))
		p.share += energies[i] / all
		if p.share >= share {
			break
		}
	}
	return p
}

func norm(v complex64) float64 {
	return float64(float64(real(v))*float64(real(v))) + float64(float64(imag(v))*float64(imag(v)))
}

// newBand returns the band of a clip's spectrum that has so many bins (width) from first on, and an energy.
func newBand(bins []complex64, first, width int, energy float64) band {
	n := 2 * len(bins)
	b := band{first: first, spectrum: make([]complex64, width)}
	// A signal has 2/n times the energy of its bins, and an envelope is twice the sum over its bins.
	scale := float32(2 / float64(n) / math.Sqrt(energy/float64(n/2)))
	for i, v := range bins[first:][:width] {
		b.spectrum[i] = complex(real(v)*scale, imag(v)*scale)
	}
	return b
}

// least returns how much power the envelopes of bands must have together, in a window's energy, for
// all of the bands to have a correlation with it, relative to the whole clip's energy. By the
// inequality of Cauchy and Schwarz its square is at most that power times their share of the clip's
// energy.
func (p *part) least(correlation float64) float64 {
	return float64(max(0, correlation)*max(0, correlation)) / p.share
}

// mayBegin reports whether a clip with a score may begin between two samples of the screen's block.
func (s *screen) mayBegin(o *outline, score float64, from, before int) bool {
	if !s.reach(&o.core, o.core.least(coreLoss*o.core.share*score), o.samples, from, before) {
		return false
	}
	rest := math.Sqrt(max(0, 1-o.most.share))
	return len(o.most.list) == 0 || s.reach(&o.most, o.most.least(score-rest), o.samples, from, before)
}

// reach reports whether the envelopes of bands have as much as least of the energy of a clip of so
// many samples that begins between two samples of the screen's block.
func (s *screen) reach(p *part, least float64, samples, from, before int) bool {
	powers := s.powersOf(p)
	shift := bits.TrailingZeros(uint(len(s.samples) / len(powers))) // samples between two values
	end := min((before-1)>>shift+1, (len(s.samples)-samples)>>shift)
	step := max(1, samples>>shift/8)
	for m := from >> shift; m < end; m += step {
		to := min(m+step, end)
		if reaches(&s.block, powers[m:to+1], least, samples, m, shift) {
			return true
		}
	}
	return false
}

// powersOf returns the sums of the powers of the bands' envelopes. An envelope has twice the values
// that the band needs, so that a peak between two values has no more power than both together.
func (s *screen) powersOf(p *part) []float32 {
	n := 2 * len(p.list[0].spectrum)
	f, powers, next := s.transform(2*n), s.powers[:n], s.next[:n]
	for i, x := range p.list {
		f.Powers(next, s.conjugate[x.first:][:len(x.spectrum)], x.spectrum)
		if i == 0 {
			powers, next = next, powers
			continue
		}
		for k, v := range next {
			powers[k] += v
		}
	}
	return powers
}

// reaches reports whether envelopes have enough power between two of their values from the one at first
// on. It compares with the energy of the samples that all windows there share, because no window
// has less: first for all values together, because most stretches fail this check.
func reaches(in *block, powers []float32, least float64, samples, first, shift int) bool {
	most, last := uint32(0), powers[0]
	for _, next := range powers[1:] {
		most, last = max(most, math.Float32bits(last+next)), next // the bits of powers have their order
	}
	silent, count := silence(samples), len(powers)-1
	if float64(math.Float32frombits(most)) < least*max(silent, in.energy((first+count)<<shift, samples-count<<shift)) {
		return false
	}
	for i := range count {
		shared := in.energy((first+i+1)<<shift, samples-1<<shift)
		if float64(powers[i]+powers[i+1]) >= least*max(silent, shared) {
			return true
		}
	}
	return false
}
