package match_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/warp"
)

var (
	unusualFirst = flag.Uint64("match.seed", 1, "first seed of the test of unusual episodes")
	unusual      = flag.Uint64("match.unusual", 6, "episodes in the test of unusual episodes")
)

// unusualClips are short and long, of noise and of notes, alike and within each other, and some that are searched by
// plain correlation.
var unusualClips = sync.OnceValue(func() [][]float32 {
	bar, long := tune(7, second*3/4), tune(21, 7*second)
	thump := make([]float32, second)
	for i := range thump {
		thump[i] = float32(.3 * math.Exp(-8*float64(i)/second) * math.Sin(2*math.Pi*150*float64(i)/second))
	}
	return [][]float32{
		clipA, clipB, long, long[2*second : 4*second], clipA, slices.Concat(bar, bar, bar), noise(22, second/4, .2), tune(23, second*2/5),
		gong(), sine(1000, second*3/10), sine(440, 2*second), thump, slices.Concat(make([]float32, second), noise(24, second/2, .2), make([]float32, second)),
	}
})

var unusualIndex = sync.OnceValue(func() *index.Index { return indexed(panics{}, unusualClips()...) })

// panics is a test that cannot go on.
type panics struct{}

func (panics) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panics) FailNow()                          { panic("failed") }

func sine(hz float64, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(.3 * math.Sin(2*math.Pi*hz*float64(i)/second))
	}
	return x
}

// piece returns a part of an unusual episode, of up to a few seconds; silence may be longer.
func piece(r *rand.Rand) []float32 {
	n := r.IntN(1 + int(3*second*r.Float64()*r.Float64()))
	loud := math.Pow(10, -3*r.Float64())
	switch r.IntN(12) {
	case 0:
		if r.IntN(3) == 0 {
			n = r.IntN(80 * second)
		}
		return make([]float32, n)
	case 1:
		return noise(r.Uint64(), n, loud)
	case 2:
		return sine([]float64{1000, 440, 20, 3999, 700.3}[r.IntN(5)], n)
	case 3: // an offset from zero
		return slices.Repeat([]float32{float32(loud)}, n)
	case 4: // clipped
		x := tune(r.Uint64N(30), n)
		for i, v := range x {
			x[i] = float32(math.Copysign(float64(min(1, 2*loud)), float64(v)))
		}
		return x
	case 5: // the ends of the range that decode lets through, and of the range of numbers
		return noise(r.Uint64(), n, []float64{20, 1e-6, 1e-30, 1e-42}[r.IntN(4)])
	}
	clips := unusualClips()
	x := slices.Clone(clips[r.IntN(len(clips))])
	switch r.IntN(6) {
	case 0:
		x = warp.Play(x, r.IntN(2*warp.MaxSpeed+1)-warp.MaxSpeed)
	case 1:
		from := r.IntN(len(x))
		x = x[from : from+r.IntN(len(x)-from+1)]
	case 2:
		x = slices.Repeat(x, r.IntN(6))
	case 3:
		mix(x, noise(r.Uint64(), len(x), loud), 0, 1)
	}
	gain := float32(math.Pow(10, -1.5*r.Float64()))
	for i := range x {
		x[i] *= gain
	}
	if r.IntN(4) == 0 {
		slices.Reverse(x)
	}
	return x
}

// unusualEpisode is up to a dozen pieces one after the other, some over a background.
func unusualEpisode(r *rand.Rand) (e []float32) {
	for range r.IntN(12) {
		e = append(e, piece(r)...)
	}
	if r.IntN(3) == 0 {
		mix(e, noise(r.Uint64(), len(e), .02*r.Float64()), 0, 1)
	}
	return e
}

// uneven is a stream that gives another number of samples each time.
type uneven struct {
	samples []float32
	random  *rand.Rand
}

func (u *uneven) Read(dst []float32) (int, error) {
	if len(u.samples) == 0 {
		return 0, io.EOF
	}
	n := copy(dst[:u.random.IntN(1+u.random.IntN(len(dst)))+1], u.samples)
	u.samples = u.samples[n:]
	return n, nil
}

// TestUnusualEpisodes has episodes that are made of silence, tones, noise, offsets and clips at random. Findings do not
// depend on how the episode comes, on other clips or on whether its landmarks are known, and Explain agrees with them.
func TestUnusualEpisodes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	require.NoError(t, unusualIndex().Write(path))
	stored, err := index.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stored.Close()) })
	for seed := range *unusual {
		seed += *unusualFirst
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			e, x := unusualEpisode(r), unusualIndex()
			want := find(t, x, e, match.Options{})
			t.Log(len(e), played(want))
			requireSound(t, x, want, len(e))
			var got []match.Finding
			emit := func(f match.Finding) error { got = append(got, f); return nil }
			require.NoError(t, match.Find(context.Background(), x, &uneven{e, r}, match.Options{}, emit))
			require.Equal(t, want, got, "in other pieces")
			got = nil
			require.NoError(t, match.FindKnown(context.Background(), stored, (&kept{samples: e}).known(), match.Options{}, emit))
			require.Equal(t, want, got, "with known landmarks, and the index of a file")
			clip := r.IntN(x.Clips())
			alone := indexed(t, unusualClips()[clip])
			own := slices.DeleteFunc(append([]match.Finding{}, want...), func(f match.Finding) bool { return f.Clip != clip })
			for i := range own {
				own[i].Clip, own[i].ID, own[i].Within = 0, "a", ""
			}
			require.Equal(t, own, append([]match.Finding{}, find(t, alone, e, match.Options{})...), "alone")
			if len(e) > 0 {
				requireExplained(t, alone, e, own, r)
			}
		})
	}
}

// requireSound fails unless the findings are ordered and within their ranges.
func requireSound(t *testing.T, x *index.Index, found []match.Finding, length int) {
	t.Helper()
	last := 0
	for _, f := range found {
		require.GreaterOrEqual(t, f.Offset, last)
		last = f.Offset
		require.Positive(t, f.Length)
		require.LessOrEqual(t, f.Offset+f.Length, length, "%+v", f)
		require.True(t, f.Score >= match.DefaultThreshold && f.Score <= 1, "%+v", f)
		require.True(t, f.Coverage >= match.DefaultMinCoverage && f.Coverage <= 1, "%+v", f)
		require.True(t, f.Speed > .93 && f.Speed < 1.07, "%+v", f)
		require.True(t, 0 <= f.PartFrom && f.PartFrom < f.PartTo && f.PartTo <= x.Samples(f.Clip), "%+v", f)
	}
}

// requireExplained fails unless Explain finds the clip of an index where Find does, and nowhere else.
func requireExplained(t *testing.T, x *index.Index, e []float32, found []match.Finding, r *rand.Rand) {
	t.Helper()
	at := r.IntN(len(e))
	if len(found) > 0 && r.IntN(3) > 0 {
		at = min(len(e)-1, found[r.IntN(len(found))].Offset)
	}
	want := slices.ContainsFunc(found, func(f match.Finding) bool { return max(f.Offset-at, at-f.Offset) <= second })
	got, err := match.Explain(t.Context(), x, &uneven{e, r}, at, match.Options{})
	require.NoError(t, err)
	require.Equal(t, want, got.Found, "at %d: %v, %v", at, played(found), got.Lines())
	if !x.Plain(0) {
		require.Equal(t, want, got.Outcome == match.Found, "at %d: %v, %v", at, played(found), got.Lines())
	}
}
