package landmark

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/spectrum"
)

// TestVectorsFindTheSameMaxima compares with the definition, and the passes without vectors with those
// with them. The powers are few small numbers, so that many bins are equally loud.
func TestVectorsFindTheSameMaxima(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var a, plain around
	for range 100 {
		power, got, want := make([]float32, spectrum.Bins), [spectrum.Bins]float32{}, [spectrum.Bins]float32{}
		for i := range power {
			power[i] = float32(r.IntN(50)) / 40 * floor
		}
		a.fill(power, &got)
		copy(plain.power[binsAround:], power)
		plain.fillPlain(&want)
		require.Equal(t, want, got)
		require.Equal(t, plain.maxima, a.maxima)
		for i, v := range power {
			loudest := float32(0)
			for _, w := range power[max(0, i-binsAround):min(len(power), i+binsAround+1)] {
				loudest = max(loudest, w)
			}
			require.Equal(t, loudest, got[i], i)
			require.Equal(t, v == loudest && v > floor, a.maxima[i/8]>>(i%8)&1 != 0, i)
		}
	}
}
