package match

import (
	"math"
	"math/bits"

	"leasehold/shared/audio/spectrum"
	"leasehold/shared/audio/verify"
)

const (
	// coarseFFT is the least length of a block in samples; a block has at least four times the
	// samples of the longest clip. A clip that would need more than coarseMost skips the coarse
	// search: it may begin anywhere.
	coarseFFT  = 1 << 15
	coarseMost = 1 << 18
	// bandShare of a clip's energy lies in its band. With less, the band could not rule out
	// places; more would need wider bands, whose transforms are the main cost.
	bandShare = 0.88
	// silentPower is the power of a sample below which a window is silent, as in package exact.
	silentPower = 1e-8
)

// coarse rules out clips: it correlates the one band that has nearly all of the clip's energy,
// at the lower rate that the band needs. All clips share one transform of the sound. It misses
// no place, because by the inequality of Cauchy and Schwarz the rest of the spectrum adds no
// more than its share to a score.
type coarse struct {
	fft     *spectrum.FFT
	longest int // samples
	bands   []band
	raw     []float32
	bins    []complex64
	sum     []float64 // sum[i] is that of raw[:i]
	sum2    []float64 // of the squares
}

// band is a clip, limited to the band that has most of its energy.
type band struct {
	samples  int
	first    int // bin
	spectrum []complex64
	inverse  *spectrum.FFT
	envelope []complex64
	least    float64 // of the envelope's power, in the window's energy; 0 finds all
}

// newCoarse returns a coarse search for clips and a threshold of the score.
func newCoarse(waves [][]float32, threshold float64) *coarse {
	c := &coarse{}
	n := coarseFFT
	for _, w := range waves {
		if 4*len(w) <= coarseMost {
			c.longest = max(c.longest, len(w))
		}
	}
	for n < 4*c.longest {
		n *= 2
	}
	c.fft = spectrum.NewFFT(n)
	c.raw, c.bins = make([]float32, n), make([]complex64, n/2+1)
	c.sum, c.sum2 = make([]float64, n+1), make([]float64, n+1)
	for _, w := range waves {
		b := band{samples: len(w)}
		if len(w) <= c.longest {
			b = c.band(w, threshold)
		}
		c.bands = append(c.bands, b)
	}
	return c
}

// band finds the narrowest band of a power of two bins that has bandShare of a clip.
func (c *coarse) band(wave []float32, threshold float64) band {
	mean, n := 0.0, len(c.raw)
	for _, v := range wave {
		mean += float64(v) / float64(len(wave))
	}
	clear(c.raw)
	for i, v := range wave {
		c.raw[i] = v - float32(mean)
	}
	c.fft.Forward(c.bins, c.raw)
	all := 0.0
	for _, v := range c.bins {
		all += norm(v)
	}
	width, first, share := narrowest(c.bins[:n/2], all)
	least := max(0, threshold-math.Sqrt(max(0, 1-share)))
	b := band{samples: len(wave), first: first, least: least * least, inverse: spectrum.NewFFT(4 * width), envelope: make([]complex64, 2*width)}
	// The whole has an energy of all/(n/2), and an envelope is twice the sum over its bins.
	scale := float32(2 / float64(n) / math.Sqrt(all/float64(n/2)))
	for _, v := range c.bins[first : first+width] {
		b.spectrum = append(b.spectrum, complex(real(v)*scale, -imag(v)*scale))
	}
	return b
}

// narrowest returns the first band that has bandShare, or all bins.
func narrowest(bins []complex64, all float64) (width, first int, share float64) {
	for width = len(bins) / 64; ; width *= 2 {
		sum, best := 0.0, 0.0
		for k, v := range bins {
			sum += norm(v)
			if k >= width {
				sum -= norm(bins[k-width])
			}
			if k >= width-1 && sum > best {
				best, first = sum, k+1-width
			}
		}
		if share = best / all; share >= bandShare || width == len(bins) {
			return width, first, share
		}
	}
}

func norm(v complex64) float64 {
	return float64(float64(real(v))*float64(real(v))) + float64(float64(imag(v))*float64(imag(v)))
}

// search reports for each clip whether it may begin at a sample from from to before, in a
// sound of length samples. A quarter of the clip may lie outside of the sound.
func (c *coarse) search(sound verify.Source, from, before, length int) ([]bool, error) {
	may := make([]bool, len(c.bands))
	for i, b := range c.bands {
		may[i] = b.least == 0
	}
	hop := len(c.raw) - c.longest
	for at := from; at < before; at += hop {
		if err := c.load(sound, at); err != nil {
			return nil, err
		}
		for i := range c.bands {
			if b := &c.bands[i]; !may[i] {
				out := b.samples / 4
				may[i] = c.begins(b, max(0, -out-at), min(hop, before-at, length-b.samples+out+1-at))
			}
		}
	}
	return may, nil
}

func (c *coarse) load(sound verify.Source, at int) error {
	if err := sound.ReadAt(c.raw, at); err != nil {
		return err
	}
	var sum, sum2 float64
	for i, v := range c.raw {
		x := float64(v)
		sum += x
		sum2 += float64(x * x)
		c.sum[i+1], c.sum2[i+1] = sum, sum2
	}
	c.fft.Forward(c.bins, c.raw)
	return nil
}

// begins reports whether a clip may begin between two samples of the loaded block. The
// envelope has twice the values that its band needs, so that a peak between two values has
// no more power than both together.
func (c *coarse) begins(b *band, from, before int) bool {
	clear(b.envelope[len(b.spectrum):])
	spectrum.Multiply(b.envelope, c.bins[b.first:][:len(b.spectrum)], b.spectrum)
	b.inverse.InverseComplex(b.envelope, b.envelope)
	shift := bits.TrailingZeros(uint(len(c.raw) / len(b.envelope))) // samples between two values
	end := min((before-1)>>shift+1, (len(c.raw)-b.samples)>>shift)
	step := max(1, b.samples>>shift/8)
	for m := from >> shift; m < end; m += step {
		if c.reaches(b, m, min(m+step, end), shift) {
			return true
		}
	}
	return false
}

// reaches reports whether the envelope has enough power between two of its values. It first
// compares with the energy of the samples that all windows there share, because no window has
// less; most stretches fail this cheap check.
func (c *coarse) reaches(b *band, from, to, shift int) bool {
	most, last := 0.0, norm(b.envelope[from])
	for _, v := range b.envelope[from+1 : to+1] {
		next := norm(v)
		most, last = max(most, last+next), next
	}
	silent := silentPower * float64(b.samples)
	if most < b.least*max(silent, c.energy(to<<shift, b.samples-(to-from)<<shift)) {
		return false
	}
	for m := from; m < to; m++ {
		energy := min(c.energy(m<<shift, b.samples), c.energy((m+1)<<shift, b.samples))
		if norm(b.envelope[m])+norm(b.envelope[m+1]) >= b.least*max(silent, energy) {
			return true
		}
	}
	return false
}

// energy returns the energy of the n samples of the block from i on, without their mean.
func (c *coarse) energy(i, n int) float64 {
	d := c.sum[i+n] - c.sum[i]
	return c.sum2[i+n] - c.sum2[i] - d*d/float64(n)
}
