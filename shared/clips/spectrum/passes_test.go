package spectrum

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func values(r *rand.Rand, n int) []complex64 {
	x := make([]complex64, n)
	for i := range x {
		x[i] = complex(float32(r.NormFloat64()), float32(r.NormFloat64()))
	}
	return x
}

func TestVectorsGiveTheSameBits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{8, 16, 32, 64, 128, 1024, 2048} {
		in, w, got, want := values(r, n), values(r, n), make([]complex64, n), make([]complex64, n)
		same := func(pass string) { require.Equal(t, want, got, "%s of %d", pass, n) }
		firstPass(got, in, w)
		firstPassPlain(want, in, w)
		same("firstPass")
		for stride := 1; stride <= n/4; stride *= 4 {
			radix4(got, in, w, stride)
			radix4Plain(want, in, w, stride)
			same("radix4")
		}
		lastPass(got, in)
		lastPassPlain(want, in)
		same("lastPass")
		unfold(got, in[:n/2], w)
		unfoldPlain(want, in[:n/2], w, 0)
		same("unfold")
		fold(got[:n/2], in, w)
		foldPlain(want[:n/2], in, w, 0)
		same("fold")
	}
}

func TestEachValueIsMovedAndMultiplied(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for n := range 20 {
		a, b, got := values(r, n), values(r, n), make([]complex64, n)
		Multiply(got, a, b)
		for k := range got {
			require.Equal(t, mul(a[k], b[k]), got[k])
		}
		Conjugate(got, a)
		reals := make([]float32, 2*n)
		unpack(reals, a)
		for k, v := range got {
			require.Equal(t, complex(real(a[k]), -imag(a[k])), v)
			require.Equal(t, v, complex(reals[2*k], reals[2*k+1]))
		}
		pack(got, reals)
		for k, v := range got {
			require.Equal(t, complex(real(a[k]), -imag(a[k])), v)
		}
		more := make([]float32, 2*n)
		unpack(more, b)
		weighted := make([]float32, 2*n)
		weight(weighted, reals, more)
		for k, v := range weighted {
			require.Equal(t, reals[k]*more[k], v)
		}
		power := make([]float32, n)
		powers(power, a)
		for k, v := range power {
			require.Equal(t, float32(real(a[k])*real(a[k]))+float32(imag(a[k])*imag(a[k])), v)
		}
	}
}
