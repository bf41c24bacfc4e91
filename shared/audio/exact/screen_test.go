package exact

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// poor are clips with next to no landmarks.
var poor = map[string][]float32{
	"a tone":      sines(.3, 0, 1000),
	"two tones":   sines(.4, 0, 697, 1209),
	"a hum":       sines(1.5, 0, 100, 200),
	"a thump":     sines(.3, 20, 80),
	"a high ping": sines(.25, 30, 3300),
	"a hiss":      hiss(1, RateHz*3/10),
}

// sines lasts so many seconds, and decays.
func sines(seconds, decay float64, hz ...float64) []float32 {
	x := make([]float32, int(seconds*RateHz))
	for i := range x {
		t := float64(i) / RateHz
		for _, f := range hz {
			x[i] += float32(.2 * math.Exp(-decay*t) * math.Sin(2*math.Pi*f*t))
		}
	}
	return x
}

func always(wave []float32) func(context.Context) ([]float32, error) {
	return func(context.Context) ([]float32, error) { return wave, nil }
}

func hiss(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(.1 * r.NormFloat64())
	}
	return x
}

func energyOf(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// TestTheScreenMissesNothingThatCorrelationFinds plays each clip under a hiss that is so loud
// that the score is about the threshold, wherever it lies between the envelope's values.
func TestTheScreenMissesNothingThatCorrelationFinds(t *testing.T) {
	t.Parallel()
	const threshold, length = DefaultThreshold, 8 * RateHz
	r := rand.New(rand.NewPCG(5, 5))
	found := 0
	for _, name := range slices.Sorted(maps.Keys(poor)) { // each run has the same places
		clip := poor[name]
		c := newScreen(screenLength(len(clip)))
		c.add(0, clip, threshold, always(clip))
		for i := range 12 {
			gain := .6 + .1*float64(i)
			at := r.IntN(length) - len(clip)/8
			sound := Samples(hiss(uint64(i), length))
			scale := gain * .75 * math.Sqrt(energyOf(sound)/length*float64(len(clip))/energyOf(clip))
			for k, v := range clip {
				if at+k >= 0 && at+k < length {
					sound[at+k] += float32(scale) * v
				}
			}
			may, err := c.search(t.Context(), sound, 0, length, length)
			require.NoError(t, err)
			require.NoError(t, Find(context.Background(), sound, []Clip{
				{Load: func(context.Context) ([]float32, error) { return clip, nil }},
			}, Options{}, func(m Result) error {
				if len(m.Matches) > 0 {
					found++
					require.Contains(t, may, 0, "%s at %d, score %v", name, at, m.Matches[0].Score)
				}
				return nil
			}))
		}
	}
	require.Greater(t, found, 20)
}

func TestTheScreenSeesThatNothingIsThere(t *testing.T) {
	t.Parallel()
	sounds := map[string][]float32{"hiss": hiss(9, 20*RateHz), "silence": make([]float32, 20*RateHz)}
	for clip, wave := range poor {
		s := newScreen(screenLength(len(wave)))
		s.add(0, wave, DefaultThreshold, always(wave))
		for name, sound := range sounds {
			may, err := s.search(t.Context(), Samples(sound), 0, len(sound), len(sound))
			require.NoError(t, err)
			require.Empty(t, may, "%s in %s", clip, name)
		}
	}
}

// TestTheScreenCorrelatesTheWholeClip plays clips under a hiss so loud that they reach a score of about
// 0.5: their band alone could belong to a score of 0.6.
func TestTheScreenCorrelatesTheWholeClip(t *testing.T) {
	t.Parallel()
	const length = 8 * RateHz
	for _, name := range []string{"a tone", "two tones", "a thump"} {
		clip := poor[name]
		sound := Samples(hiss(3, length))
		scale := .5 / .87 * math.Sqrt(energyOf(sound)/length*float64(len(clip))/energyOf(clip))
		for k, v := range clip {
			sound[length/2+k] += float32(scale) * v
		}
		for least, want := range map[float64][]int{.4: {0}, DefaultThreshold: nil} {
			s := newScreen(screenLength(len(clip)))
			s.add(0, clip, least, always(clip))
			may, err := s.search(t.Context(), sound, 0, length, length)
			require.NoError(t, err)
			require.Equal(t, want, may, "%s, for a score of %v", name, least)
		}
	}
}

func TestTheBlockOfAScreenHoldsAWindowOrFourClips(t *testing.T) {
	t.Parallel()
	for samples, want := range map[int]int{RateHz / 4: screenFFT, screenFFT/4 + 1: 2 * screenFFT, 9 * RateHz: 1 << 18, 32 * RateHz: screenMost, 33 * RateHz: 0} {
		require.Equal(t, want, screenLength(samples), "%d samples", samples)
	}
}
