package exact

import (
	"math"
	"math/bits"

	"leasehold/shared/audio/spectrum"
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

// band is a part of a clip's spectrum. It is correlated at the lower rate that it needs.
type band struct {
	first    int // bin
	spectrum []complex64
	inverse  *spectrum.FFT
	envelope []complex64
	least    float64 // of the envelope's power, in the window's energy
}

// bandsOf returns the bands of a clip whose places must have a score, in the order in which they should be
// correlated: the core, if it is much narrower, and the wide band, if it can rule out anything. bins are the
// clip's spectrum; their number is a power of two, and at least one is not 0.
func bandsOf(bins []complex64, score float64) (bands []band) {
	all := 0.0
	for _, v := range bins {
		all += norm(v)
	}
	least := len(bins) / 64
	wide := narrowest(bins, least, bandShare*all)
	core := narrowest(bins, least, coreShare*all)
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
	first, width int // bins
	energy       float64
}

// narrowest returns the part of a spectrum that has an energy, in the fewest bins: a power of
// two, and at least least. The whole spectrum has that energy. Of each width it takes the loudest
// part, by a sum that moves along.
func narrowest(bins []complex64, least int, energy float64) (best stretch) {
	for width := least; width <= len(bins); width *= 2 {
		sum := 0.0
		best = stretch{width: width}
		for k, v := range bins {
			sum += norm(v)
			if k >= width {
				sum -= norm(bins[k-width])
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
	n := 2 * len(bins)
	b := band{
		first: part.first, least: least * least,
		inverse: spectrum.NewFFT(4 * part.width), envelope: make([]complex64, 2*part.width),
	}
	// The whole has an energy of all/(n/2), and an envelope is twice the sum over its bins.
	scale := float32(2 / float64(n) / math.Sqrt(all/float64(n/2)))
	for _, v := range bins[part.first:][:part.width] {
		b.spectrum = append(b.spectrum, complex(real(v)*scale, -imag(v)*scale))
	}
	return b
}

// mayBegin reports whether a clip of so many samples may begin between two samples of a block. The
// envelope has twice the values that the band needs, so that a peak between two values has
// no more power than both together.
func (b *band) mayBegin(in *block, samples, from, before int) bool {
	clear(b.envelope[len(b.spectrum):])
	spectrum.Multiply(b.envelope, in.spectrum[b.first:][:len(b.spectrum)], b.spectrum)
	b.inverse.InverseComplex(b.envelope, b.envelope)
	shift := bits.TrailingZeros(uint(len(in.samples) / len(b.envelope))) // samples between two values
	end := min((before-1)>>shift+1, (len(in.samples)-samples)>>shift)
	step := max(1, samples>>shift/8)
	for m := from >> shift; m < end; m += step {
		if b.reaches(in, samples, m, min(m+step, end), shift) {
			return true
		}
	}
	return false
}

// reaches reports whether the envelope has enough power between two of its values. It first
// compares with the energy of the samples that all windows there share, because no window has
// less; most stretches fail this cheap check.
func (b *band) reaches(in *block, samples, from, to, shift int) bool {
	most, last := 0.0, norm(b.envelope[from])
	for _, v := range b.envelope[from+1 : to+1] {
		next := norm(v)
		most, last = max(most, last+next), next
	}
	silent := silence(samples)
	if most < b.least*max(silent, in.energy(to<<shift, samples-(to-from)<<shift)) {
		return false
	}
	for m := from; m < to; m++ {
		energy := min(in.energy(m<<shift, samples), in.energy((m+1)<<shift, samples))
		if norm(b.envelope[m])+norm(b.envelope[m+1]) >= b.least*max(silent, energy) {
			return true
		}
	}
	return false
}
