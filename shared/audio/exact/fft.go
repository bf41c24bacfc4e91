package exact

import (
	"math"
	"math/cmplx"
)

// fft is the inverse complex FFT of one power of two, without the division by its
// length; of reals, the forward one is its conjugate. Two real results come out of
// one inverse: the real and the imaginary parts. It is Stockham's: each of the
// passes of radix 4 reads one buffer and writes the other in order, so nothing is
// ever shuffled.
type fft struct {
	roots   []complex128 // exp(2πi k/n), three quarters of the circle
	in, out []complex128
}

func newFFT(n int) *fft {
	f := &fft{roots: make([]complex128, 3*n/4), in: make([]complex128, n), out: make([]complex128, n)}
	for k := range f.roots {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		f.roots[k] = complex(cos, sin)
	}
	return f
}

// forward sets dst, of n/2+1, to the spectrum of the reals in x, followed by zeros.
func (f *fft) forward(dst []complex128, x []float64) {
	clear(f.in[len(x):])
	for i, v := range x {
		f.in[i] = complex(v, 0)
	}
	for k, v := range f.inverse()[:len(dst)] {
		dst[k] = cmplx.Conj(v)
	}
}

// inverses sets p and q to the first len(p) reals of the inverses of x times a and
// x times b. A nil b leaves q as it is.
func (f *fft) inverses(p, q []float64, x, a, b []complex128) {
	f.pair(x, a, b)
	z := f.inverse()[:len(p)]
	for i, v := range z {
		p[i] = real(v)
	}
	if b == nil {
		return
	}
	for i, v := range z {
		q[i] = imag(v)
	}
}

// pair sets the input so that the result is the inverse of two spectra of reals,
// each x times one of a and b: a's is the real part, b's the imaginary one. A nil
// b stands for zeros.
func (f *fft) pair(x, a, b []complex128) {
	n := len(f.in)
	for k, v := range x {
		p, q := v*a[k], complex128(0)
		if b != nil {
			q = v * b[k]
		}
		f.in[k] = complex(real(p)-imag(q), imag(p)+real(q))
		if k > 0 && k < n/2 {
			f.in[n-k] = complex(real(p)+imag(q), real(q)-imag(p))
		}
	}
}

// inverse transforms the input. The result is good until the next one.
func (f *fft) inverse() []complex128 {
	n, stride := len(f.in), 1
	for ; n >= 4; n, stride = n/4, stride*4 {
		f.radix4(n/4, stride)
		f.in, f.out = f.out, f.in
	}
	if n == 2 {
		for q, a := range f.in[:stride] {
			b := f.in[stride+q]
			f.out[q], f.out[stride+q] = a+b, a-b
		}
		f.in, f.out = f.out, f.in
	}
	return f.in
}

// radix4 does one pass: groups of four elements that are m*stride apart.
func (f *fft) radix4(m, stride int) {
	quarter := m * stride
	for p := range m {
		w1, w2, w3 := f.roots[p*stride], f.roots[2*p*stride], f.roots[3*p*stride]
		at := p * stride
		as, bs := f.in[at:at+stride], f.in[at+quarter:][:stride]
		cs, ds := f.in[at+2*quarter:][:stride], f.in[at+3*quarter:][:stride]
		y0, y1 := f.out[4*at:][:stride], f.out[4*at+stride:][:stride]
		y2, y3 := f.out[4*at+2*stride:][:stride], f.out[4*at+3*stride:][:stride]
		for q, a := range as {
			b, c, d := bs[q], cs[q], ds[q]
			even, odd, sum, diff := a+c, a-c, b+d, b-d
			turned := complex(-imag(diff), real(diff)) // by a quarter
			y0[q] = even + sum
			y1[q] = w1 * (odd + turned)
			y2[q] = w2 * (even - sum)
			y3[q] = w3 * (odd - turned)
		}
	}
}
