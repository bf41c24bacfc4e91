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

// FFT is our Transform.
type FFT struct {
	n        int
	twiddles [][]complex64 // of each pass of radix 4: w, w², w³ in turn
	unfold   []complex64   // exp(-2πi k/n), a quarter of the circle
	a, b     []complex64   // n/2 each
}

var _ Transform = (*FFT)(nil)

// NewFFT makes an FFT of n reals; n is a power of two of at least 4. Any other is
// the programmer's error, and panics.
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
		f.twiddles = append(f.twiddles, w)
	}
	return f
}

// root is exp(-2πi k/n).
func root(k, n int) complex64 {
	sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
	return complex64(complex(cos, sin))
}

// Len implements Transform.
func (f *FFT) Len() int { return f.n }

// Forward implements Transform.
func (f *FFT) Forward(dst []complex64, x []float32) {
	a := f.a
	x = x[:2*len(a)]
	for i := range a {
		a[i] = complex(x[2*i], x[2*i+1])
	}
	z := f.complex()
	half := len(z)
	dst = dst[:half+1]
	dst[0] = complex(real(z[0])+imag(z[0]), 0)
	dst[half] = complex(real(z[0])-imag(z[0]), 0)
	for k := 1; k <= half/2; k++ {
		p, q := z[k], z[half-k]
		even := complex((real(p)+real(q))/2, (imag(p)-imag(q))/2)
		odd := complex((imag(p)+imag(q))/2, (real(q)-real(p))/2)
		odd *= f.unfold[k]
		dst[k] = even + odd
		dst[half-k] = complex(real(even)-real(odd), imag(odd)-imag(even))
	}
}

// Inverse implements Transform.
func (f *FFT) Inverse(dst []float32, x []complex64) {
	a := f.a
	half := len(a)
	x = x[:half+1]
	a[0] = complex(real(x[0])+real(x[half]), -(real(x[0]) - real(x[half])))
	for k := 1; k <= half/2; k++ {
		p, q := x[k], x[half-k]
		even := complex(real(p)+real(q), imag(p)-imag(q))
		odd := complex(real(p)-real(q), imag(p)+imag(q))
		w := f.unfold[k]
		odd *= complex(real(w), -imag(w))
		// The conjugate goes in, so that the forward passes do the inverse.
		a[k] = complex(real(even)-imag(odd), -imag(even)-real(odd))
		a[half-k] = complex(real(even)+imag(odd), imag(even)-real(odd))
	}
	z := f.complex()
	dst = dst[:2*half]
	for i, v := range z {
		dst[2*i], dst[2*i+1] = real(v), -imag(v)
	}
}

// complex transforms a. The result is one of the two buffers, and good until the
// next call.
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
		for q, a := range in[:stride] {
			b := in[stride+q]
			out[q], out[stride+q] = a+b, a-b
		}
		in = out
	}
	return in
}

// firstPass is radix4 with a stride of 1.
func firstPass(out, in, w []complex64) {
	quarter := len(in) / 4
	as, bs, cs, ds := in[:quarter], in[quarter:][:quarter], in[2*quarter:][:quarter], in[3*quarter:][:quarter]
	for p, a := range as {
		b, c, d := bs[p], cs[p], ds[p]
		even, odd, sum, diff := a+c, a-c, b+d, b-d
		turned := complex(imag(diff), -real(diff))
		y, v := out[4*p:][:4], w[3*p:][:3]
		y[0] = even + sum
		y[1] = v[0] * (odd + turned)
		y[2] = v[1] * (even - sum)
		y[3] = v[2] * (odd - turned)
	}
}

// radix4 does one pass: groups of four elements that are a quarter apart.
func radix4(out, in, w []complex64, stride int) {
	quarter := len(in) / 4
	for at, p := 0, 0; at < quarter; at, p = at+stride, p+3 {
		w1, w2, w3 := w[p], w[p+1], w[p+2]
		as, bs := in[at:][:stride], in[at+quarter:][:stride]
		cs, ds := in[at+2*quarter:][:stride], in[at+3*quarter:][:stride]
		y0, y1 := out[4*at:][:stride], out[4*at+stride:][:stride]
		y2, y3 := out[4*at+2*stride:][:stride], out[4*at+3*stride:][:stride]
		for q, a := range as {
			b, c, d := bs[q], cs[q], ds[q]
			even, odd, sum, diff := a+c, a-c, b+d, b-d
			turned := complex(imag(diff), -real(diff))
			y0[q] = even + sum
			y1[q] = w1 * (odd + turned)
			y2[q] = w2 * (even - sum)
			y3[q] = w3 * (odd - turned)
		}
	}
}
