package exact

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/spectrum"
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

// wide has a part of its energy at one frequency and the rest at another.
func wide(hz, share, rest float64) []float32 {
	x, y := sines(.5, 8, hz), sines(.5, 8, rest)
	for i := range x {
		x[i] += float32(math.Sqrt((1-share)/share)) * y[i]
	}
	return x
}

// filtered returns a clip whose spectrum is multiplied by gain.
func filtered(x []float32, gain func(hz float64) float64) []float32 {
	const n = 1 << 15
	f := spectrum.NewFFT(n)
	y, bins := make([]float32, n), make([]complex64, n/2+1)
	copy(y, x)
	f.Forward(bins, y)
	for k := range bins {
		bins[k] *= complex(float32(gain(float64(k)*RateHz/n)/n), 0)
	}
	f.Inverse(y, bins)
	return y[:len(x)]
}

// TestTheScreenMissesNothingThatCorrelationFinds plays each clip under a hiss so loud that the
// score is about the threshold, wherever it lies between the envelope's values: as it is, by
// telephone, and with 6 dB less below or above 2 kHz.
func TestTheScreenMissesNothingThatCorrelationFinds(t *testing.T) {
	t.Parallel()
	const threshold, length = DefaultThreshold, 8 * RateHz
	clips := maps.Clone(poor)
	clips["two bands"], clips["a kick and a hat"] = wide(1000, .6, 3300), wide(120, .55, 3000)
	clips["a long chord"] = sines(3, .5, 220, 277, 330, 440)
	plays := map[string]func(hz float64) float64{
		"as it is":     func(float64) float64 { return 1 },
		"by telephone": func(hz float64) float64 { return level(hz > 300 && hz < 3400, 0) },
		"less treble":  func(hz float64) float64 { return level(hz < 2000, .5) },
		"less bass":    func(hz float64) float64 { return level(hz > 2000, .5) },
	}
	r := rand.New(rand.NewPCG(5, 5))
	found := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(clips)) { // each run has the same places
		clip := clips[name]
		c := screenOf(clip, threshold)
		for _, way := range slices.Sorted(maps.Keys(plays)) {
			played := filtered(clip, plays[way])
			for i := range 18 {
				sound, at := under(played, energyOf(clip), .6*math.Pow(1.12, float64(i)), hiss(uint64(i), length), r)
				may := searched(t, c, sound)
				require.NoError(t, Find(context.Background(), sound, []Clip{{Load: always(clip)}}, Options{}, func(m Result) error {
					if len(m.Matches) > 0 {
						found[way]++
						require.Contains(t, may, 0, "%s %s at %d, score %v", name, way, at, m.Matches[0].Score)
					}
					return nil
				}))
			}
		}
	}
	for way := range plays {
		require.Greater(t, found[way], 10, way)
	}
}

// screenOf returns the screen of one clip, whose places must have a score.
func screenOf(clip []float32, score float64) *screen {
	n := screenLength(len(clip))
	s, o := newScreen(n), newOutliner(n).of(clip)
	s.include(0, &o, score, always(clip))
	return s
}

// searched returns the clips of a screen that may begin in a sound.
func searched(t *testing.T, s *screen, sound Samples) []int {
	t.Helper()
	first, last := s.reads(0, len(sound))
	around, energies := make([]float32, last-first), sums{}
	require.NoError(t, sound.ReadAt(around, first))
	energies.set(around, first)
	may, err := s.search(t.Context(), sound, &energies, 0, len(sound), len(sound))
	require.NoError(t, err)
	return may
}

// level returns 1 within a band, and outside the level there.
func level(within bool, outside float64) float64 {
	if within {
		return 1
	}
	return outside
}

// under plays a clip at a random place, which may lie partly outside, under a sound with the energy
// of the clip at a gain of 0.75.
func under(clip []float32, energy, gain float64, sound []float32, r *rand.Rand) (Samples, int) {
	at := r.IntN(len(sound)) - len(clip)/8
	scale := gain * .75 * math.Sqrt(energyOf(sound)/float64(len(sound))*float64(len(clip))/energy)
	for k, v := range clip {
		if at+k >= 0 && at+k < len(sound) {
			sound[at+k] += float32(scale) * v
		}
	}
	return sound, at
}

// TestAFewBandsHoldATone checks how many bands a clip has, and how many of them its core.
func TestAFewBandsHoldATone(t *testing.T) {
	t.Parallel()
	clips := maps.Clone(poor)
	clips["two bands"], clips["a long hum"] = wide(1000, .6, 3300), sines(8, 0, 100, 200)
	type width struct{ hz, bands int }
	for name, want := range map[string][2]width{
		"a tone": {{125, 1}, {500, 2}}, "two tones": {{125, 2}, {500, 2}}, "a hum": {{31, 2}, {125, 2}}, "a long hum": {{16, 2}, {31, 2}},
		"a thump": {{125, 1}, {500, 1}}, "two bands": {{125, 2}, {500, 3}}, "a hiss": {{125, 14}},
	} {
		n := screenLength(len(clips[name]))
		o := newOutliner(n).of(clips[name])
		var got [2]width
		for i, p := range []part{o.core, o.most} {
			if len(p.list) > 0 {
				got[i] = width{int(math.Round(float64(len(p.list[0].spectrum)*RateHz) / float64(n))), len(p.list)}
				assert.GreaterOrEqual(t, p.share, [2]float64{coreShare, mostShare}[i], name)
			}
		}
		assert.Equal(t, want, got, name)
	}
}

func TestTheScreenSeesThatNothingIsThere(t *testing.T) {
	t.Parallel()
	sounds := map[string][]float32{"hiss": hiss(9, 20*RateHz), "silence": make([]float32, 20*RateHz)}
	for clip, wave := range poor {
		s := screenOf(wave, DefaultThreshold)
		for name, sound := range sounds {
			require.Empty(t, searched(t, s, sound), "%s in %s", clip, name)
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
			require.Equal(t, want, searched(t, screenOf(clip, least), sound), "%s, for a score of %v", name, least)
		}
	}
}

// unread is a sound that must not be read.
type unread struct{ t *testing.T }

func (u unread) ReadAt([]float32, int) error {
	u.t.Error("the sound was read")
	return nil
}

func TestASilentClipIsNotSearchedFor(t *testing.T) {
	t.Parallel()
	clips, err := NewSet(t.Context(), []Clip{{Load: always(hiss(1, RateHz)[:0])}, {Load: always(make([]float32, RateHz))}})
	require.NoError(t, err)
	s := clips.NewStream(Options{}, func(int) float64 { return DefaultThreshold })
	require.NoError(t, s.Close(t.Context(), unread{t}, 3*StreamWindow, func(Window) { t.Error("it was found") }))
	require.Equal(t, 3*StreamWindow+1, s.Done())
}

func TestTheBlockOfAScreenHoldsAWindowOrFourClips(t *testing.T) {
	t.Parallel()
	for samples, want := range map[int]int{RateHz / 4: 1 << 15, 1<<13 + 1: 1 << 18, 9 * RateHz: 1 << 18, 32 * RateHz: 1 << 19, 33 * RateHz: 0} {
		require.Equal(t, want, screenLength(samples), "%d samples", samples)
	}
}
