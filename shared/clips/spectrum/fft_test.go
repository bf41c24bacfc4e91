package spectrum_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/mjibson/go-dsp/fft"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/dsp/fourier"

	"leasehold/shared/clips/spectrum"
)

// reals returns n random values.
func reals(n int) []float32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func TestFFTAgreesWithGonums(t *testing.T) {
	t.Parallel()
	for _, n := range []int{4, 8, 16, 32, 64, 128, 256, 512, 4096, 1 << 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			x, got := reals(n), make([]complex64, n/2+1)
			f := spectrum.NewFFT(n)
			f.Forward(got, x)
			for k, want := range fourier.NewFFT(n).Coefficients(nil, wide(x)) {
				require.Less(t, cmplx.Abs(complex128(got[k])-want), 1e-4*float64(n), "bin %d", k)
			}
			back := make([]float32, n)
			f.Inverse(back, got)
			for i, want := range x {
				require.InDelta(t, want, back[i]/float32(n), 1e-5, "sample %d", i)
			}
		})
	}
}

func TestFFTOfAnotherLengthIsAProgrammersError(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-4, 0, 1, 2, 3, 12, 513} {
		require.Panics(t, func() { spectrum.NewFFT(n) }, "%d", n)
	}
}

// goDSP adapts the transform of go-dsp to spectrum.Transform. go-dsp has no inverse that
// returns reals.
type goDSP int

func (g goDSP) Len() int { return int(g) }

func (g goDSP) Forward(dst []complex64, x []float32) {
	for k, v := range fft.FFTReal(wide(x))[:len(dst)] {
		dst[k] = complex64(v)
	}
}

func (g goDSP) Inverse(dst []float32, x []complex64) {
	whole := make([]complex128, g)
	for k, v := range x {
		whole[k] = complex128(v)
		whole[(int(g)-k)%int(g)] = cmplx.Conj(complex128(v))
	}
	for i, v := range fft.IFFT(whole) {
		dst[i] = float32(g) * float32(real(v))
	}
}

// gonum adapts the transform of gonum to spectrum.Transform.
type gonum struct {
	*fourier.FFT
	x []float64
	c []complex128
}

func (g gonum) Forward(dst []complex64, x []float32) {
	for i, v := range x {
		g.x[i] = float64(v)
	}
	for k, v := range g.Coefficients(g.c, g.x) {
		dst[k] = complex64(v)
	}
}

func (g gonum) Inverse(dst []float32, x []complex64) {
	for k, v := range x {
		g.c[k] = complex128(v)
	}
	for i, v := range g.Sequence(g.x, g.c) {
		dst[i] = float32(v)
	}
}

func others(n int) map[string]spectrum.Transform {
	return map[string]spectrum.Transform{
		"go-dsp": goDSP(n), "gonum": gonum{fourier.NewFFT(n), make([]float64, n), make([]complex128, n/2+1)},
	}
}

func TestEachTransformCanTakeAnothersPlace(t *testing.T) {
	t.Parallel()
	const n = 64
	x, want, back := reals(n), make([]complex64, n/2+1), make([]float32, n)
	spectrum.NewFFT(n).Forward(want, x)
	for name, f := range others(n) {
		got := make([]complex64, n/2+1)
		f.Forward(got, x)
		require.Equal(t, n, f.Len())
		for k := range got {
			require.Less(t, cmplx.Abs(complex128(got[k]-want[k])), 1e-4, "%s, bin %d", name, k)
		}
		f.Inverse(back, got)
		for i := range x {
			require.InDelta(t, x[i], back[i]/n, 1e-5, "%s, sample %d", name, i)
		}
	}
}

// BenchmarkFFT compares the transforms; docs/benchmarks.md has the figures.
func BenchmarkFFT(b *testing.B) {
	for _, n := range []int{512, 4096, 1 << 16} {
		all := others(n)
		all["ours"] = spectrum.NewFFT(n)
		x, c := reals(n), make([]complex64, n/2+1)
		for _, name := range []string{"ours", "gonum", "go-dsp"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					all[name].Forward(c, x)
				}
			})
		}
	}
}

func BenchmarkFrames(b *testing.B) {
	f, x := spectrum.NewFrames(), reals(8000)
	for b.Loop() {
		f.Push(x, func([]float32) {})
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*3600, "s/hour")
}

func TestPowersAreThoseOfTheSumOfTheBins(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	value := func() complex64 { return complex(float32(r.NormFloat64()), float32(r.NormFloat64())) }
	for _, n := range []int{4, 8, 16, 64, 256} {
		half, used := n/2, n/4
		a, b := make([]complex64, used), make([]complex64, used)
		for k := range a {
			a[k], b[k] = value(), value()
		}
		got := make([]float32, half)
		spectrum.NewFFT(n).Powers(got, a, b)
		for i, v := range got {
			var want complex128
			for k := range a {
				product := cmplx.Conj(complex128(a[k])) * cmplx.Conj(complex128(b[k]))
				want += product * cmplx.Exp(complex(0, 2*math.Pi*float64(i*k)/float64(half)))
			}
			require.InEpsilon(t, real(want)*real(want)+imag(want)*imag(want), v, 1e-3, "n %d, %d", n, i)
		}
	}
}
