package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The steps that collectPlaces skips hold no place: a check of each sample gives the same places.
func TestNoPlaceIsPassedOver(t *testing.T) {
	t.Parallel()
	const threshold = 0.6
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 250 + r.IntN(2000)
		sound := make(Samples, 20000)
		for i := 0; i < len(sound); {
			level, offset := math.Pow(10, -5*r.Float64()), r.Float64()-0.5
			for end := min(len(sound), i+r.IntN(3000)); i < end; i++ {
				sound[i] = float32(offset + level*r.NormFloat64())
			}
		}
		s := new(Finder).scannerFor(n, len(sound))
		from := -n / 4
		require.NoError(t, s.load(sound, from))
		corr := make([]float32, s.hop-r.IntN(16))
		for i := range corr {
			c := 1.5*r.Float64() - 0.4
			corr[i] = float32(c * math.Sqrt(max(0, s.energy(i, n))))
		}
		got := &template{wave: make([]float64, n), places: collector{closest: 5}}
		s.collectPlaces(got, corr, from, from, threshold)

		want := collector{closest: 5}
		for i, v := range corr {
			c, e := float64(v), s.energy(i, n)
			if e < silenceRMS*silenceRMS*float64(n) {
				continue
			}
			if (from+i)%noiseEvery == 0 {
				want.measure(c, e)
			}
			if c > 0 && c*c >= threshold*threshold*e {
				want.add(place{from + i, c / math.Sqrt(e), c})
			}
		}
		require.NotEmpty(t, want.places)
		require.Equal(t, want, got.places, "seed %d", seed)
	}
}
