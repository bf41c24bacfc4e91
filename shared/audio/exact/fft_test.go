package exact

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

func TestFFTIsGonums(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 4, 8, 16, 32, 64, 1 << 11, 1 << 14} {
		f, g := newFFT(n), fourier.NewFFT(n)
		spectrum := func() []complex128 {
			x := make([]float64, n)
			for i := range x {
				x[i] = rand.NormFloat64()
			}
			return g.Coefficients(nil, x)
		}
		x, a, b := spectrum(), spectrum(), spectrum()
		p, q, got := make([]float64, n), make([]float64, n), make([]complex128, n/2+1)
		f.inverses(p, q, x, a, b)
		for k := range x {
			a[k], b[k] = a[k]*x[k], b[k]*x[k]
		}
		wantP, wantQ := g.Sequence(nil, a), g.Sequence(nil, b)
		for i := range p {
			if math.Max(math.Abs(p[i]-wantP[i]), math.Abs(q[i]-wantQ[i])) > 1e-12*float64(n*n) {
				t.Fatalf("%d of %d: %v and %v, want %v and %v", i, n, p[i], q[i], wantP[i], wantQ[i])
			}
		}
		f.forward(got, p[:n-1])
		p[n-1] = 0
		for k, want := range g.Coefficients(nil, p) {
			if cmplx.Abs(got[k]-want) > 1e-12*float64(n*n) {
				t.Fatalf("%d of %d: %v, want %v", k, n, got[k], want)
			}
		}
	}
}

// BenchmarkInverse compares the time for one real result.
func BenchmarkInverse(b *testing.B) {
	for _, n := range []int{1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18} {
		c := make([]complex128, n/2+1)
		for i := range c {
			c[i] = complex(rand.NormFloat64(), 0)
		}
		perSample := func(b *testing.B, results int) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*results), "ns/sample")
		}
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) {
			f, x := fourier.NewFFT(n), make([]float64, n)
			for b.Loop() {
				f.Sequence(x, c)
			}
			perSample(b, 1)
		})
		b.Run(fmt.Sprintf("pair/%d", n), func(b *testing.B) {
			f, p, q := newFFT(n), make([]float64, n), make([]float64, n)
			for b.Loop() {
				f.inverses(p, q, c, c, c)
			}
			perSample(b, 2)
		})
	}
}
