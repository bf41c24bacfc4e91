package verify

import (
	"math"

	"leasehold/shared/audio/spectrum"
)

const (
	// lags is how many shifts of a block are looked at: 0 to 256 ms, the middle one
	// where the block should be.
	lags = BlockSamples + 1
	// beside: so many samples on either side of a peak belong to it.
	beside = 24
	// nearby: a block may lie so many samples off the line.
	nearby = 2
	// maxDrift is the largest error of speed that is followed.
	maxDrift = .006
	// strong is what a block must reach for its peak to say anything of the drift.
	strong    = 4.5
	maxStrong = 40
)

// curve is the correlation of a block with the episode by lag, in standard deviations.
type curve struct {
	z      []float32
	done   bool    // z is of the place in hand
	middle float64 // of the block, in samples from the middle of the variant
	best   int     // lag
}

// line says where the blocks lie: drift is by how much of its distance from the clip's
// middle a block is late.
type line struct{ drift float64 }

func (l line) at(distance float64) int { return int(math.Round(l.drift * distance)) }

// correlate fills the curve of a block.
func (v *Verifier) correlate(of *variant, k, begin int, from Source) error {
	if err := from.ReadAt(v.wave, begin+of.blocks[k].at-BlockSamples/2); err != nil {
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
		sum += float64(real(g)*real(g) + imag(g)*imag(g))
	}
	f.Inverse(v.wave, v.bins)
	c.done = true
	scale := float32(0)
	if sum > 0 {
		scale = float32(1 / math.Sqrt(2*sum))
	}
	c.best = 0
	for i := range c.z {
		c.z[i] = v.wave[i] * scale
		if c.z[i] > c.z[c.best] {
			c.best = i
		}
	}
	return nil
}

// near returns the best value near a lag, and where.
func (c *curve) near(lag int) (z float64, at int) {
	at = max(0, min(lag, lags-1))
	for i := max(0, lag-nearby); i <= min(lags-1, lag+nearby); i++ {
		if c.z[i] > c.z[at] {
			at = i
		}
	}
	return float64(c.z[at]), at
}

// peak adds the curves that there are along a line, and returns the lag of the peak and
// its height in standard deviations of the rest.
func (v *Verifier) peak(l line) (lag int, z float64) {
	clear(v.sum)
	for _, c := range v.curves {
		if !c.done {
			continue
		}
		d := l.at(c.middle)
		from, to := max(0, -d), min(lags, lags-d)
		for i, x := range c.z[from+d : to+d] {
			v.sum[from+i] += x
		}
	}
	for i, x := range v.sum {
		if x > v.sum[lag] {
			lag = i
		}
	}
	var sum2, n float64
	for i, x := range v.sum {
		if i < lag-beside || i > lag+beside {
			sum2 += float64(x) * float64(x)
			n++
		}
	}
	if sum2 == 0 {
		return lag, 0
	}
	return lag, float64(v.sum[lag]) / math.Sqrt(sum2/n)
}

// line finds the drift on which most strong blocks agree; none, if about as many agree
// without.
func (v *Verifier) line() line {
	strong := v.strong()
	most := 0
	for _, a := range strong {
		most = max(most, agree(strong, line{}, a))
	}
	best := line{}
	most++
	for i, a := range strong {
		for _, b := range strong[i+1:] {
			l := line{float64(b.best-a.best) / (b.middle - a.middle)}
			if math.Abs(l.drift) > maxDrift {
				continue
			}
			if n := agree(strong, l, a); n > most {
				best, most = l, n
			}
		}
	}
	return best
}

// strong are the curves that say something of the drift: maxStrong at most, spread
// over the clip.
func (v *Verifier) strong() []*curve {
	var all []*curve
	for i := range v.curves {
		if c := &v.curves[i]; c.done && c.z[c.best] >= strong {
			all = append(all, c)
		}
	}
	if len(all) <= maxStrong {
		return all
	}
	some := make([]*curve, maxStrong)
	for i := range some {
		some[i] = all[i*len(all)/maxStrong]
	}
	return some
}

// agree counts the curves whose peak lies on the line through a's.
func agree(curves []*curve, l line, a *curve) int {
	n := 0
	for _, c := range curves {
		if math.Abs(float64(c.best-a.best)-l.drift*(c.middle-a.middle)) <= nearby+1 {
			n++
		}
	}
	return n
}
