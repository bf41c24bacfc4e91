package set

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"leasehold/shared/clips"
)

const (
	minLag     = clips.RateHz / 10 // shorter lags are the periods of voices and notes
	repetition = .7
)

// repeats reports whether a sound correlates with itself at a lag from 100 ms to half its length.
// If so, no single offset of it is the right one. The inverse transform of the power spectrum has
// the products at all lags; twice the length of zeros keeps the end from meeting the start.
func repeats(x []float32) bool {
	n := 1
	for n < 2*len(x) {
		n *= 2
	}
	padded := make([]float64, n)
	squares := make([]float64, len(x)+1) // squares[i] is the sum of the squares before i
	for i, v := range x {
		padded[i] = float64(v)
		squares[i+1] = squares[i] + float64(v)*float64(v)
	}
	fft := fourier.NewFFT(n)
	spectrum := fft.Coefficients(nil, padded)
	for k, v := range spectrum {
		spectrum[k] = complex(real(v)*real(v)+imag(v)*imag(v), 0)
	}
	products := fft.Sequence(nil, spectrum)
	for lag := minLag; lag <= len(x)/2; lag++ {
		energy := math.Sqrt(squares[len(x)-lag] * (squares[len(x)] - squares[lag]))
		if energy > 0 && products[lag]/float64(n)/energy > repetition {
			return true
		}
	}
	return false
}
