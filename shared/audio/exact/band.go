package exact

import (
	"math"
	"math/bits"
)

const (
	// bandShare of a clip's energy lies in its wide band. By the inequality of Cauchy and Schwarz the rest
	// adds at most √(1-bandShare) = 0.35 to a score, so at the default threshold of 0.6 the wide band
	// itself must reach 0.25, and it misses no place. With less, the band rules out few places; more needs
	// wider bands.
	bandShare = 0.88
	// coreShare of a clip's energy lies in its core, a band so narrow that its transform costs half of the
	// wide band's or less. Where a clip is played with a score of s, the core has s times its share of
	// the energy, wherever the noise lies in the spectrum, unless an equaliser has changed it. It
	// cannot be missing, because a match needs more of the clip (minCoverage) than the rest has.
	// coreLoss is the factor by which it may have been lowered, compared with the rest: 6 dB.
	coreShare = 0.5
	coreLoss  = 0.5
)

// regions is the number of equal parts of a spectrum at which a band may begin, and leastRegions how many
// it has at least: 62 Hz of the 4 kHz.
const (
	regions      = 512
	leastRegions = regions / 64
)

// band is a part of a clip's spectrum. It is correlated at the lower rate that it needs.
type band struct {
	first    int // bin
	spectrum []complex64
	least    float64 // of the envelope's power, in the window's energy
}

// bandsOf returns the bands of a clip whose places must have a score, in the order in which they should be
// correlated: the core, if it is much narrower, and the wide band, if it can rule out anything. bins are the
// clip's spectrum; their number is a power of two, and at least one is not 0.
func bandsOf(bins []complex64, score float64) (bands []band) {
	all, energies := 0.0, make([]float64, regions)
	for i, v := range bins {
		e := norm(v)
		all += e
		energies[i*regions/len(bins)] += e
	}
	wide := narrowest(energies, bandShare*all)
	core := narrowest(energies, coreShare*all)
	if 2*core.width <= wide.width {
		bands = append(bands, newBand(bins, core, all, coreLoss*core.energy/all*score))
	}
	if least := score - math.Sqrt(max(0, 1-wide.energy/all)); least > 0 {
		bands = append(bands, newBand(bins, wide, all, least))
	}
	return bands
}

// stretch is a part of a spectrum.
type stretch struct {
	first, width int // regions
	energy       float64
}

// narrowest returns the part of a spectrum that has an energy, in the fewest regions: a power of
// two, and at least leastRegions. The whole spectrum has that energy. Of each width it takes the loudest
// part, by a sum that moves along.
func narrowest(energies []float64, energy float64) (best stretch) {
	for width := leastRegions; width <= len(energies); width *= 2 {
		sum := 0.0
		best = stretch{width: width}
		for k, e := range energies {
			sum += e
			if k >= width {
				sum -= energies[k-width]
			}
			if k >= width-1 && sum > best.energy {
				best.energy, best.first = sum, k+1-width
			}
		}
		if best.energy >= energy {
			break
		}
	}
	return best
}

func norm(v complex64) float64 {
	return float64(float64(real(v))*float64(real(v))) + float64(float64(imag(v))*float64(imag(v)))
}

// newBand returns the band in a part of a clip's spectrum, whose correlation, relative to the energies of
// the window and of the whole clip, must be least. all is the energy of bins.
func newBand(bins []complex64, part stretch, all, least float64) band {
	n, region := 2*len(bins), len(bins)/regions
	b := band{first: part.first * region, least: least * least}
	// The whole has an energy of all/(n/2), and an envelope is twice the sum over its bins.
	scale := float32(2 / float64(n) / math.Sqrt(all/float64(n/2)))
	for _, v := range bins[b.first:][:part.width*region] {
		b.spectrum = append(b.spectrum, complex(real(v)*scale, imag(v)*scale))
	}
	return b
}

// mayBegin reports whether a clip of so many samples may begin between two samples of the screen's
// block. The envelope has twice the values that the band needs, so that a peak between two values has
// no more power than both together.
func (s *screen) mayBegin(b *band, samples, from, before int) bool {
	power := s.power[:2*len(b.spectrum)]
	s.transform(2*len(power)).Powers(power, s.conjugate[b.first:][:len(b.spectrum)], b.spectrum)
	shift := bits.TrailingZeros(uint(len(s.samples) / len(power))) // samples between two values
	end := min((before-1)>>shift+1, (len(s.samples)-samples)>>shift)
	step := max(1, samples>>shift/8)
	for m := from >> shift; m < end; m += step {
		to := min(m+step, end)
		if b.reaches(&s.block, power[m:to+1], samples, m, shift) {
			return true
		}
	}
	return false
}

// reaches reports whether the envelope has enough power between two of its values from the one at first
// on. It first compares with the energy of the samples that all windows there share, because no window
// has less; most stretches fail this cheap check.
func (b *band) reaches(in *block, power []float32, samples, first, shift int) bool {
	most, last := uint32(0), power[0]
	for _, next := range power[1:] {
		most, last = max(most, math.Float32bits(last+next)), next // the bits of powers have their order
	}
	silent, count := silence(samples), len(power)-1
	if float64(math.Float32frombits(most)) < b.least*max(silent, in.energy((first+count)<<shift, samples-count<<shift)) {
		return false
	}
	for i := range count {
		at := (first + i) << shift
		energy := min(in.energy(at, samples), in.energy(at+1<<shift, samples))
		if float64(power[i]+power[i+1]) >= b.least*max(silent, energy) {
			return true
		}
	}
	return false
}
