// Package resample changes the sample rate of a stream of mono sound.
//
// Each output sample is a weighted sum of the input around its own instant: a
// sinc cut off at 7/8 of the lower Nyquist frequency, under a Blackman window of
// 16 zero crossings a side (aliases below -60 dB). The weights are symmetric about
// that instant, so the output has no delay: output n is the sound at exactly n/to
// seconds, for any pair of rates and any length of the stream. The input counts as
// silence beyond its ends.
//
// Memory does not depend on the length of the stream. A Resampler holds the weights
// (at most 4 MiB) and one kernel's length of input. The window comes from go-dsp.
package resample

import (
	"fmt"
	"math"

	"github.com/mjibson/go-dsp/window"

	"leasehold/shared/fault"
)

const (
	zeroCrossings = 16   // a side; more is sharper and slower
	passband      = .875 // of the lower Nyquist frequency
	// resolution is how finely the kernel is tabled, per zero crossing. Linear
	// interpolation between its points errs by less than -100 dB.
	resolution = 512
	// maxWeights bounds the number of cached weights. A pair of rates that needs more
	// computes its weights for each output sample.
	maxWeights = 1 << 20
	maxRateHz  = 1 << 20 // of input and output; no audio is faster
)

// Resampler converts one stream. It is for one goroutine.
type Resampler struct {
	up, down int       // output n is at input n*down/up
	half     int       // taps a side
	scale    float64   // kernel points per input sample
	kernel   []float64 // both sides: 2*zeroCrossings*resolution+1 points
	phases   [][]float32
	scratch  []float32

	input []float32 // still needed for later output
	first int64     // the position of input[0] in the stream
	got   int64     // input so far
	given int64     // output so far
}

// New makes a Resampler. It fails with fault.ErrInvalid unless both rates are 1 to 1,048,576 Hz.
// The input begins with half a kernel of silence, so that the first output needs no special case.
func New(fromHz, toHz int) (*Resampler, error) {
	if fromHz < 1 || toHz < 1 || fromHz > maxRateHz || toHz > maxRateHz {
		return nil, fmt.Errorf("resample.New from %d to %d Hz: expected 1 to %d: %w", fromHz, toHz, maxRateHz, fault.ErrInvalid)
	}
	g := gcd(fromHz, toHz)
	r := &Resampler{up: toHz / g, down: fromHz / g}
	cutoff := passband * math.Min(1, float64(toHz)/float64(fromHz)) // of the input's Nyquist frequency
	r.scale = resolution * cutoff
	r.half = int(math.Ceil(zeroCrossings / cutoff))
	r.kernel = window.Blackman(2*zeroCrossings*resolution + 1)
	for i := range r.kernel {
		if x := math.Pi * float64(i-zeroCrossings*resolution) / resolution; x != 0 {
			r.kernel[i] *= math.Sin(x) / x
		}
	}
	if r.up*2*r.half <= maxWeights {
		r.phases = make([][]float32, r.up)
	}
	r.scratch = make([]float32, 2*r.half)
	r.input, r.first = make([]float32, r.half), -int64(r.half)
	return r, nil
}

// Push takes the next input and appends to dst all output that it completes. It
// keeps neither slice.
func (r *Resampler) Push(dst, input []float32) []float32 {
	r.got += int64(len(input))
	if r.up == r.down {
		r.given = r.got
		return append(dst, input...)
	}
	r.input = append(r.input, input...)
	return r.drain(dst, r.first+int64(len(r.input))-int64(r.half))
}

// Flush appends the rest of the output. The output then has every sample whose
// instant is before the end of the input. Push must not be called after Flush.
func (r *Resampler) Flush(dst []float32) []float32 {
	if r.up == r.down {
		return dst
	}
	r.input = append(r.input, make([]float32, r.half+1)...)
	return r.drain(dst, r.got)
}

// drain appends the output whose position in the input is before end, and forgets the input that
// no later output needs. The input has half a kernel after end.
func (r *Resampler) drain(dst []float32, end int64) []float32 {
	for {
		// given*down stays far below 2^63: a day at 2^20 Hz times 2^20.
		n := r.given * int64(r.down)
		pos, phase := n/int64(r.up), int(n%int64(r.up))
		if pos >= end {
			break
		}
		from := int(pos - int64(r.half) + 1 - r.first)
		dst = append(dst, dot(r.weights(phase), r.input[from:]))
		r.given++
	}
	next := r.given*int64(r.down)/int64(r.up) - int64(r.half) + 1
	if drop := int(min(next-r.first, int64(len(r.input)))); drop > 0 {
		r.input = r.input[:copy(r.input, r.input[drop:])]
		r.first += int64(drop)
	}
	return dst
}

// weights returns the weights of the 2*half input samples around an output that lies
// phase/up after an input sample. The weights sum to 1. If they are not cached, the slice
// is valid until the next call.
func (r *Resampler) weights(phase int) []float32 {
	w := r.scratch
	if r.phases != nil {
		if r.phases[phase] != nil {
			return r.phases[phase]
		}
		w = make([]float32, 2*r.half)
		r.phases[phase] = w
	}
	sum, frac := 0.0, float64(phase)/float64(r.up)
	at := func(k int) float64 { // the kernel at tap k
		x := float64((float64(k-r.half+1)-frac)*r.scale) + zeroCrossings*resolution
		i := int(math.Floor(x))
		if i < 0 || i+1 >= len(r.kernel) {
			return 0
		}
		t := x - float64(i)
		return float64(r.kernel[i]*(1-t)) + float64(r.kernel[i+1]*t)
	}
	for k := range w {
		sum += at(k)
	}
	for k := range w {
		w[k] = float32(at(k) / sum)
	}
	return w
}

// dot returns the sum of w[i]*x[i]. It keeps four partial sums, so that the processor overlaps
// the additions.
func dot(w, x []float32) float32 {
	var a, b, c, d float32
	x = x[:len(w)]
	i := 0
	for ; i+4 <= len(w); i += 4 {
		a += float32(w[i] * x[i])
		b += float32(w[i+1] * x[i+1])
		c += float32(w[i+2] * x[i+2])
		d += float32(w[i+3] * x[i+3])
	}
	for ; i < len(w); i++ {
		a += float32(w[i] * x[i])
	}
	return (a + b) + (c + d)
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
