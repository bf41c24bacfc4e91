package exact

import (
	"math"

	"leasehold/shared/clips/spectrum"
)

// silenceRMS, about -80 dB of full scale, is the level below which a window is silent: the dither
// of 16-bit recordings lies below, and so do the rounding errors of the sums.
const silenceRMS = 1e-4

// silence is the energy below which n samples are silent.
func silence(n int) float64 { return silenceRMS * silenceRMS * float64(n) }

// template is a clip prepared for the search: without its mean, and of energy 1.
type template struct {
	id       string
	wave     []float64
	spectrum []complex64 // conjugate, of the length of the group's FFT
	places   collector
}

// Check returns the fault of a clip that does not depend on the episode: ErrTooShort, ErrTooLong
// or ErrSilent, or nil.
func Check(clip []float32) error {
	switch {
	case samples(len(clip)) < MinClip:
		return ErrTooShort
	case samples(len(clip)) > MaxClip:
		return ErrTooLong
	}
	if m := mean(clip); power(clip, m) < silence(len(clip)) {
		return ErrSilent
	}
	return nil
}

// mean returns the mean of at least one sample.
func mean(clip []float32) float64 {
	sum := 0.0
	for _, v := range clip {
		sum += float64(v)
	}
	return sum / float64(len(clip))
}

// power is the sum of the squares of a clip's samples after its mean is subtracted.
func power(clip []float32, mean float64) float64 {
	sum := 0.0
	for _, v := range clip {
		x := float64(v) - mean
		sum += float64(x * x)
	}
	return sum
}

// newTemplate checks a clip against an episode of so many samples.
func newTemplate(id string, clip []float32, episode int) (*template, error) {
	if err := Check(clip); err != nil {
		return nil, err
	}
	if len(clip) > episode {
		return nil, ErrLongerThanEpisode
	}
	m := mean(clip)
	t := &template{id: id, wave: make([]float64, len(clip))}
	energy := math.Sqrt(power(clip, m))
	for i, v := range clip {
		t.wave[i] = (float64(v) - m) / energy
	}
	return t, nil
}

// transform makes dst the spectrum, with a buffer of the FFT's length. The clip is not longer than
// that. The division by that length, which its inverse leaves out, is done here once. It is
// conjugated, because the product with the spectrum of an episode is then the spectrum of the
// correlation.
func (t *template) transform(f *spectrum.FFT, dst []complex64, padded []float32) {
	for i, v := range t.wave {
		padded[i] = float32(v)
	}
	clear(padded[len(t.wave):])
	t.spectrum = dst
	f.Forward(t.spectrum, padded)
	n := float32(f.Len())
	for i, v := range t.spectrum {
		t.spectrum[i] = complex(real(v)/n, -imag(v)/n)
	}
}

// overhang is how far a clip of n samples may stick out of either end of the episode, for
// recordings that were cut: a quarter.
func overhang(n int) int { return n / 4 }

// closest is how near to each other two places of one clip may be.
func (t *template) closest() int { return len(t.wave) / 4 }

// selfCorrelation is the clip's correlation with itself at shifts of 0 to its
// length; it is 1 at 0. The FFT must be of twice the clip at least.
func (t *template) selfCorrelation(f *spectrum.FFT) []float32 {
	self := make([]float32, f.Len())
	t.transform(f, make([]complex64, f.Len()/2+1), self)
	n := float32(f.Len())
	for i, v := range t.spectrum {
		t.spectrum[i] = complex(n*(float32(real(v)*real(v))+float32(imag(v)*imag(v))), 0)
	}
	f.Inverse(self, t.spectrum)
	t.spectrum = nil
	return self[:len(t.wave)]
}

// fftLength is the least power of two, from minFFT on, that holds n samples that many times.
func fftLength(n, times int) int {
	l := minFFT
	for l < n*times {
		l *= 2
	}
	return l
}
