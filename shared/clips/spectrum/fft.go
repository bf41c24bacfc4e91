package spectrum

import (
	"fmt"
	"math"
)

// Transform is a real-input Fourier transform of one length. Implementations are
// for one goroutine.
type Transform interface {
	// Len is the number of reals, n.
	Len() int
	// Forward sets dst, of n/2+1, to the spectrum of x, of n reals:
	// dst[k] = Σ x[i] exp(-2πi·ik/n).
	Forward(dst []complex64, x []float32)
	// Inverse sets dst, of n reals, to n times the signal whose spectrum is x, of
	// n/2+1; the imaginary parts of the first and the last bin count as 0.
	Inverse(dst []float32, x []complex64)
}

// FFT is a Transform whose length is a power of two.
type FFT struct {
	n        int
	twiddles [][]complex64 // of each pass of radix 4: w, w², w³ in turn
	unfold   []complex64   // exp(-2πi k/n), a quarter of the circle
	a, b     []complex64   // n/2 each
}

var _ Transform = (*FFT)(nil)

// NewFFT makes an FFT of n reals. It panics unless n is a power of two of at least 4, because any
// other n is a programming error. The twiddles of the first pass have another order than those of
// the others (firstPass).
func NewFFT(n int) *FFT {
	if n < 4 || n&(n-1) != 0 {
		panic(fmt.Sprintf("spectrum.NewFFT: %d is not a power of two of at least 4", n))
	}
	half := n / 2
	f := &FFT{n: n, a: make([]complex64, half), b: make([]complex64, half), unfold: make([]complex64, n/4+1)}
	for k := range f.unfold {
		f.unfold[k] = root(k, n)
	}
	for m := half; m >= 4; m /= 4 {
		w := make([]complex64, 0, 3*m/4)
		for p := range m / 4 {
			w = append(w, root(p, m), root(2*p, m), root(3*p, m))
		}
		if m == half {
			for p := range m / 4 {
				w[p], w[m/4+p], w[m/2+p] = root(p, m), root(2*p, m), root(3*p, m)
			}
		}
		f.twiddles = append(f.twiddles, w)
	}
	return f
}

// root is exp(-2πi k/n).
func root(k, n int) complex64 {
	sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
	return complex64(complex(cos, sin))
}

// Len implements Transform: the samples of one transform.
func (f *FFT) Len() int { return f.n }

// Forward implements Transform.
func (f *FFT) Forward(dst []complex64, x []float32) {
	pack(f.a, x)
	z := f.complex()
	half := len(z)
	dst = dst[:half+1]
	dst[0] = complex(real(z[0])+imag(z[0]), 0)
	dst[half] = complex(real(z[0])-imag(z[0]), 0)
	unfold(dst, z, f.unfold)
}

// Inverse implements Transform.
func (f *FFT) Inverse(dst []float32, x []complex64) {
	a := f.a
	half := len(a)
	x = x[:half+1]
	a[0] = complex(real(x[0])+real(x[half]), -(real(x[0]) - real(x[half])))
	fold(a, x, f.unfold)
	unpack(dst, f.complex())
}

// Powers sets dst, of n/2 values, to the squares of the absolute values of n/2 times the complex signal
// whose spectrum is the product of a and the conjugate of b in its first bins, and 0 in the others. The
// caller passes the conjugate of a, which it may need several times: the transform of a conjugate spectrum is the
// conjugate signal, whose powers are the same.
func (f *FFT) Powers(dst []float32, conjugateOfA, b []complex64) {
	Multiply(f.a, conjugateOfA, b)
	clear(f.a[len(b):])
	powers(dst[:len(f.a)], f.complex())
}

// complex transforms f.a. The result is one of the two buffers, and is valid until the next call.
// Each pass reads one buffer and writes the other; four values are transformed at a time, and two
// in a last pass if the length is not a power of four.
func (f *FFT) complex() []complex64 {
	in, out := f.a, f.b
	m, stride := len(in), 1
	for _, w := range f.twiddles {
		if stride == 1 {
			firstPass(out, in, w)
		} else {
			radix4(out, in, w, stride)
		}
		in, out = out, in
		m, stride = m/4, stride*4
	}
	if m == 2 {
		lastPass(out, in)
		in = out
	}
	return in
}
