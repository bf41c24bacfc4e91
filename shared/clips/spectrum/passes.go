package spectrum

// The passes of an FFT. If the processor has AVX, passes of at least four values use it
// (passes_amd64.s), with the same bits as a result.

// mul returns a*b. Go computes a product of complex64 in float64, which costs twice as much.
// The conversions forbid a fused multiply-add, so that every processor computes the same bits.
func mul(a, b complex64) complex64 {
	return complex(float32(real(a)*real(b))-float32(imag(a)*imag(b)), float32(real(a)*imag(b))+float32(imag(a)*real(b)))
}

// firstPass is radix4 with a stride of 1. Its w has all w first, then all w², then all w³.
func firstPass(out, in, w []complex64) {
	quarter := len(in) / 4
	if vector && quarter >= 4 {
		firstPassAVX(&out[0], &in[0], &w[0], quarter)
		return
	}
	firstPassPlain(out, in, w)
}

// firstPassPlain is firstPass without AVX, with the same result to the bit. It transforms four
// values at a time. w has three parts of a quarter of len(in): all w, all w² and all w³. len(in) is
// a multiple of four.
func firstPassPlain(out, in, w []complex64) {
	quarter := len(in) / 4
	as, bs, cs, ds := in[:quarter], in[quarter:][:quarter], in[2*quarter:][:quarter], in[3*quarter:][:quarter]
	w1, w2, w3 := w[:quarter], w[quarter:][:quarter], w[2*quarter:][:quarter]
	for p, a := range as {
		b, c, d := bs[p], cs[p], ds[p]
		even, odd, sum, diff := a+c, a-c, b+d, b-d
		turned := complex(imag(diff), -real(diff))
		y := out[4*p:][:4]
		y[0] = even + sum
		y[1] = mul(w1[p], odd+turned)
		y[2] = mul(w2[p], even-sum)
		y[3] = mul(w3[p], odd-turned)
	}
}

// radix4 does one pass. It combines groups of four elements that are a quarter of the length
// apart. The slice w has w, w² and w³ of each group in turn.
func radix4(out, in, w []complex64, stride int) {
	quarter := len(in) / 4
	if vector && stride >= 4 {
		radix4AVX(&out[0], &in[0], &w[0], quarter, stride)
		return
	}
	radix4Plain(out, in, w, stride)
}

// radix4Plain is radix4 without AVX, with the same result to the bit. Three factors of w serve
// stride groups of four values each.
func radix4Plain(out, in, w []complex64, stride int) {
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
			y1[q] = mul(w1, odd+turned)
			y2[q] = mul(w2, even-sum)
			y3[q] = mul(w3, odd-turned)
		}
	}
}

// lastPass does a pass of radix 2, which a complex length other than a power of 4 needs.
func lastPass(out, in []complex64) {
	stride := len(in) / 2
	if vector && stride >= 4 {
		lastPassAVX(&out[0], &in[0], stride)
		return
	}
	lastPassPlain(out, in)
}

// lastPassPlain is lastPass without AVX.
func lastPassPlain(out, in []complex64) {
	stride := len(in) / 2
	for q, a := range in[:stride] {
		b := in[stride+q]
		out[q], out[stride+q] = a+b, a-b
	}
}

// unfold computes the spectrum of n reals from the spectrum z of n/2 complex values, except the
// first and the last bin. w is exp(-2πi k/n).
func unfold(dst, z, w []complex64) {
	done := 0
	if n := (len(z)/2 - 1) &^ 3; vector && n >= 4 {
		unfoldAVX(&dst[0], &z[0], &w[0], len(z), n)
		done = n
	}
	unfoldPlain(dst, z, w, done)
}

// unfoldPlain computes the bins after those that are done, and their mirrors.
func unfoldPlain(dst, z, w []complex64, done int) {
	half := len(z)
	for k := done + 1; k <= half/2; k++ {
		p, q := z[k], z[half-k]
		even := complex(float32((real(p)+real(q))/2), float32((imag(p)-imag(q))/2))
		odd := mul(complex((imag(p)+imag(q))/2, (real(q)-real(p))/2), w[k])
		dst[k] = even + odd
		dst[half-k] = complex(real(even)-real(odd), imag(odd)-imag(even))
	}
}

// fold is the inverse of unfold, except for a factor of 2. It returns the conjugate, so that the
// forward passes compute the inverse.
func fold(a, x, w []complex64) {
	done := 0
	if n := (len(a)/2 - 1) &^ 3; vector && n >= 4 {
		foldAVX(&a[0], &x[0], &w[0], len(a), n)
		done = n
	}
	foldPlain(a, x, w, done)
}

// foldPlain computes the bins after those that are done, and their mirrors.
func foldPlain(a, x, w []complex64, done int) {
	half := len(a)
	for k := done + 1; k <= half/2; k++ {
		p, q := x[k], x[half-k]
		even := complex(real(p)+real(q), imag(p)-imag(q))
		odd := mul(complex(real(p)-real(q), imag(p)+imag(q)), complex(real(w[k]), -imag(w[k])))
		a[k] = complex(real(even)-imag(odd), -imag(even)-real(odd))
		a[half-k] = complex(real(even)+imag(odd), imag(even)-real(odd))
	}
}

// Conjugate sets dst to the conjugate of src. dst has at least its length.
func Conjugate(dst, src []complex64) {
	dst = dst[:len(src)]
	if vector && len(src) >= 4 && len(src)%4 == 0 {
		conjugateAVX(&dst[0], &src[0], len(src))
		return
	}
	for i, v := range src {
		dst[i] = complex(real(v), -imag(v))
	}
}

// pack sets dst to the reals of x, two to a complex value. x has at least twice as many.
func pack(dst []complex64, x []float32) {
	x = x[:2*len(dst)]
	if vector && len(dst) >= 4 && len(dst)%4 == 0 {
		packAVX(&dst[0], &x[0], len(dst))
		return
	}
	for i := range dst {
		dst[i] = complex(x[2*i], x[2*i+1])
	}
}

// unpack sets dst to the conjugate of z, as reals.
func unpack(dst []float32, z []complex64) {
	dst = dst[:2*len(z)]
	if vector && len(z) >= 4 && len(z)%4 == 0 {
		unpackAVX(&dst[0], &z[0], len(z))
		return
	}
	for i, v := range z {
		dst[2*i], dst[2*i+1] = real(v), -imag(v)
	}
}

// Multiply sets dst to the products of the values of a and b. dst and b must have at least the
// length of a.
func Multiply(dst, a, b []complex64) {
	dst, b = dst[:len(a)], b[:len(a)]
	k := 0
	if n := len(a) &^ 3; vector && n > 0 {
		multiplyAVX(&dst[0], &a[0], &b[0], n)
		k = n
	}
	for ; k < len(a); k++ {
		dst[k] = mul(a[k], b[k])
	}
}

// weight sets dst to the products of the values of w and x, which have at least its length.
func weight(dst, w, x []float32) {
	w, x = w[:len(dst)], x[:len(dst)]
	if vector && len(dst) >= 8 && len(dst)%8 == 0 {
		weightAVX(&dst[0], &w[0], &x[0], len(dst))
		return
	}
	for i, v := range w {
		dst[i] = v * x[i]
	}
}

// powers sets dst to the squares of the absolute values of z, which has at least its length.
func powers(dst []float32, z []complex64) {
	z = z[:len(dst)]
	if vector && len(dst) >= 8 && len(dst)%8 == 0 {
		powersAVX(&dst[0], &z[0], len(dst))
		return
	}
	for k, v := range z {
		dst[k] = float32(real(v)*real(v)) + float32(imag(v)*imag(v))
	}
}
