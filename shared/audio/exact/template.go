package exact

import "math"

// silenceRMS, about -80 dB of full scale, is where sound ends: the dither of
// 16-bit recordings lies below, and so do the rounding errors of the sums.
const silenceRMS = 1e-4

// template is a clip ready to be looked for: without its mean, and of energy 1.
type template struct {
	id       string
	wave     []float64
	spectrum []complex128 // conjugate, of the length of the group's FFT
	places   collector
}

// Check returns the fault of a clip, if it has one, whatever the episode.
func Check(clip []float32) error {
	switch {
	case samples(len(clip)) < MinClip:
		return ErrTooShort
	case samples(len(clip)) > MaxClip:
		return ErrTooLong
	}
	if m := mean(clip); power(clip, m) < silenceRMS*silenceRMS*float64(len(clip)) {
		return ErrSilent
	}
	return nil
}

func mean(clip []float32) float64 {
	sum := 0.0
	for _, v := range clip {
		sum += float64(v)
	}
	return sum / float64(len(clip))
}

// power is the sum of the squares of what is left of a clip without its mean.
func power(clip []float32, mean float64) float64 {
	sum := 0.0
	for _, v := range clip {
		x := float64(v) - mean
		sum += x * x
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

// transform fills the spectrum. The division by the length of the FFT, which its
// inverse leaves out, is done here once.
func (t *template) transform(f *fft) {
	n := len(f.in)
	t.spectrum = make([]complex128, n/2+1)
	f.forward(t.spectrum, t.wave)
	for i, v := range t.spectrum {
		t.spectrum[i] = complex(real(v)/float64(n), -imag(v)/float64(n))
	}
}

// overhang is how far a clip may stick out of either end of the episode, for
// recordings that were cut: a quarter.
func (t *template) overhang() int { return len(t.wave) / 4 }

// closest is how near to each other two places of one clip may be.
func (t *template) closest() int { return len(t.wave) / 4 }

// selfCorrelation is the clip's correlation with itself at shifts of 0 to its
// length; it is 1 at 0. The FFT must be of twice the clip at least.
func (t *template) selfCorrelation(f *fft) []float64 {
	n := len(f.in)
	spectrum, self := make([]complex128, n/2+1), make([]float64, len(t.wave))
	f.forward(spectrum, t.wave)
	conj := make([]complex128, len(spectrum))
	for i, v := range spectrum {
		conj[i] = complex(real(v)/float64(n), -imag(v)/float64(n))
	}
	f.inverses(self, nil, spectrum, conj, nil)
	return self
}

// fftLength is the power of two that holds n samples so many times.
func fftLength(n, times int) int {
	l := minFFT
	for l < n*times {
		l *= 2
	}
	return l
}
