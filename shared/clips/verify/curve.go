package verify

import (
	"math"

	"leasehold/shared/clips/spectrum"
)

const (
	// lags is how many shifts of a block are compared: 0 to 256 ms. The block should be at the
	// middle one.
	lags = BlockSamples + 1
	// beside is how many samples on either side of a peak belong to it: 3 ms, the width of
	// the correlation of telephone sound.
	beside = 24
	// nearby is how many samples a block may lie off the line: 0.25 ms, the width of a peak of sound
	// up to 3,700 Hz (docs/benchmarks.md, Constants of the search, has 1 and 4).
	nearby = 2
	// maxDrift is the largest error of speed that the curves follow: half the distance between two
	// variants, and a fifth of that.
	maxDrift = .006
	// strongZ is the deviation that a block must reach for its peak to count for the drift: the
	// largest of 2,049 values of noise is below it 99 times of 100.
	strongZ = 4.5
)

// curve is the correlation of a block with the episode by lag, in standard deviations.
type curve struct {
	z      []float32
	done   bool    // z belongs to the current place
	middle float64 // of the block, in samples from the middle of the variant
	best   int     // lag of the largest magnitude
}

// sign is 1 if the peak is upright, -1 if it is inverted.
func (c *curve) sign() float64 { return math.Copysign(1, float64(c.z[c.best])) }

// height is the magnitude of the peak.
func (c *curve) height() float64 { return math.Abs(float64(c.z[c.best])) }

// peak is where a sum of curves is largest: at a lag, of a height in standard deviations of
// the rest, upright (1) or inverted (-1).
type peak struct {
	lag  int
	z    float64
	sign float64
}

// correlate fills the curve of block k of a clip that begins at about a sample and whose distances
// are 1+drift times those of the variant. The curve is in standard deviations: the sum is the
// energy of the product. If the episode is silent there, the curve is 0.
func (v *Verifier) correlate(of *variant, k, begin int, drift float64, from Source) error {
	at := of.blocks[k].at
	if err := from.ReadAt(v.wave, begin+at+shift(drift, at+BlockSamples/2)-BlockSamples/2); err != nil {
		return err
	}
	c, clip, f := &v.curves[k], v.cache.spectrum(of, k), v.cache.fft
	f.Forward(v.bins, v.wave)
	clear(v.bins[:lowBin])
	clear(v.bins[highBin:])
	band := v.bins[lowBin:highBin]
	for i, x := range band {
		w := weight(x)
		band[i] = complex(real(x)*w, imag(x)*w)
	}
	spectrum.Multiply(band, band, clip)
	var sum float64
	for _, g := range band {
		sum += float64(magnitude2(g))
	}
	f.Inverse(v.wave, v.bins)
	c.done = true
	scale := float32(0)
	if sum > 0 {
		scale = float32(1 / math.Sqrt(2*sum))
	}
	for i := range c.z {
		c.z[i] = v.wave[i] * scale
	}
	c.best = largest(c.z)
	return nil
}

// shift is the drift in samples at a distance from the point that does not drift.
func shift(drift float64, distance int) int { return int(math.Round(drift * float64(distance))) }

// troughFactor is how much larger the magnitude of a trough must be than the peak's for it to
// count: a tone has both, and is upright more often than not.
const troughFactor = 1.05

// largest is the index of the peak, or of the trough if its magnitude is more than troughFactor
// times the peak's.
func largest(z []float32) int {
	high, low := 0, 0
	for i, x := range z {
		if x > z[high] {
			high = i
		}
		if x < z[low] {
			low = i
		}
	}
	if -z[low] > troughFactor*z[high] {
		return low
	}
	return high
}

// near returns the best value of one polarity near a lag, and its lag.
func (c *curve) near(lag int, sign float64) (z float64, at int) {
	at = max(0, min(lag, lags-1))
	for i := max(0, lag-nearby); i <= min(lags-1, lag+nearby); i++ {
		if sign*float64(c.z[i]) > sign*float64(c.z[at]) {
			at = i
		}
	}
	return sign * float64(c.z[at]), at
}

// sumPeak adds the curves that are done, of those given, along a line of so much drift, and
// returns the peak of the sum, whose height is 0 if none is done. Values near the peak do not
// count for the deviation, because they belong to it.
func (v *Verifier) sumPeak(curves []curve, drift float64) peak {
	clear(v.sum)
	for i := range curves {
		c := &curves[i]
		if !c.done {
			continue
		}
		d := int(math.Round(drift * c.middle))
		if d <= -lags || d >= lags {
			continue // the end of a long clip drifts out of the lags
		}
		from, to := max(0, -d), min(lags, lags-d)
		for i, x := range c.z[from+d : to+d] {
			v.sum[from+i] += x
		}
	}
	lag := largest(v.sum)
	var sum2, n float64
	for i, x := range v.sum {
		if i < lag-beside || i > lag+beside {
			sum2 += float64(x * x)
			n++
		}
	}
	if sum2 == 0 {
		return peak{lag, 0, 1}
	}
	height := float64(v.sum[lag])
	return peak{lag, math.Abs(height) / math.Sqrt(sum2/n), math.Copysign(1, height)}
}

// drift returns the drift on which most strong blocks agree, as the line of least squares through
// their peaks, at most maxDrift either way; 0 if no two agree. It tries the line through each
// pair, of at most maxBlocks blocks.
func (v *Verifier) drift() float64 {
	strong := v.strong()
	var best []*curve
	for i, a := range strong {
		for _, b := range strong[i+1:] {
			drift := float64(b.best-a.best) / (b.middle - a.middle)
			if math.Abs(drift) > maxDrift || a.sign() != b.sign() {
				continue
			}
			if on := agree(strong, drift, a); len(on) > len(best) {
				best = on
			}
		}
	}
	n := float64(len(best))
	var lag, middle, square, product float64
	for _, c := range best {
		lag += float64(c.best) / n
		middle += c.middle / n
	}
	for _, c := range best {
		d := c.middle - middle
		square += float64(d * d)
		product += float64(d * (float64(c.best) - lag))
	}
	if square == 0 {
		return 0
	}
	return max(-maxDrift, min(product/square, maxDrift))
}

// strong returns the curves that count for the drift.
func (v *Verifier) strong() []*curve {
	var all []*curve
	for i := range v.curves {
		if c := &v.curves[i]; c.done && c.height() >= strongZ {
			all = append(all, c)
		}
	}
	return all
}

// agree returns the curves whose peak lies on the line through a's, to nearby samples, with its
// polarity. drift is the slope of the line: how much the peak moves for each sample of the clip.
func agree(curves []*curve, drift float64, a *curve) []*curve {
	var on []*curve
	for _, c := range curves {
		off := float64(c.best-a.best) - float64(drift*(c.middle-a.middle))
		if math.Abs(off) <= nearby && c.sign() == a.sign() {
			on = append(on, c)
		}
	}
	return on
}
