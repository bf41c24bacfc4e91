package cliplint

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/dsp/window"
)

const (
	frame  = 512 // samples: 64 ms
	hop    = frame / 2
	noisy  = .48 // above this steadiness a sound counts as noise; noise has 0.56
	steady = .8  // above this steadiness a sound does not change
	toned  = 1.6 // from this tonality on, tones stand out
	nearby = 8   // bands a side
)

// tonality measures how far tones stand out in the mean spectrum. For each band it divides the mean
// power by the mean power of the bands around it; the bands are averaged by power. It is near 1 for
// noise of any colour, and 2 or more if the sound has tones.
func tonality(frames [][]float64) float64 {
	mean := make([]float64, frame/2+1)
	for _, f := range frames {
		for k, v := range f {
			mean[k] += v
		}
	}
	sum, weights := 0.0, 0.0
	for k := 1; k < frame/2; k++ {
		around := 0.0
		from, to := max(1, k-nearby), min(frame/2, k+nearby+1)
		for _, v := range mean[from:to] {
			around += v / float64(to-from)
		}
		if around > 0 {
			sum += mean[k] * mean[k] / around
			weights += mean[k]
		}
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// steadiness returns the weighted mean that the package comment describes. It is low if the
// spectrum changes, and 0 if the sound is silent or has fewer than four frames.
func steadiness(frames [][]float64) float64 {
	if len(frames) < 4 {
		return 0
	}
	sum, weights := 0.0, 0.0
	for k := 1; k < frame/2; k++ {
		mean := 0.0
		for _, f := range frames {
			mean += f[k]
		}
		mean /= float64(len(frames))
		if mean <= 0 {
			continue
		}
		logs := 0.0
		for _, f := range frames {
			logs += math.Log(math.Max(f[k], mean*1e-9) / mean)
		}
		sum += mean * logs / float64(len(frames))
		weights += mean
	}
	if weights == 0 {
		return 0
	}
	return math.Exp(sum / weights)
}

// powers returns the power spectrum of each whole frame. Frames overlap by half. Each is weighted
// by the Hann window, so that its ends do not count as a sound.
func powers(wave []float32) [][]float64 {
	fft := fourier.NewFFT(frame)
	var all [][]float64
	for at := 0; at+frame <= len(wave); at += hop {
		x := make([]float64, frame)
		for i := range x {
			x[i] = float64(wave[at+i])
		}
		p := make([]float64, frame/2+1)
		for k, v := range fft.Coefficients(nil, window.Hann(x)) {
			p[k] = float64(real(v)*real(v)) + float64(imag(v)*imag(v))
		}
		all = append(all, p)
	}
	return all
}
