package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/warp"
	"leasehold/shared/fault"
)

func noise(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(.1 * r.NormFloat64())
	}
	return x
}

func built(t testing.TB, clips ...[]float32) *index.Index {
	t.Helper()
	var b index.Builder
	for i, c := range clips {
		require.NoError(t, b.Add(fmt.Sprintf("clip %d", i), c))
	}
	x, err := b.Build()
	require.NoError(t, err)
	return x
}

func TestALookupGivesThePostingsOfEachLandmark(t *testing.T) {
	t.Parallel()
	x := built(t, noise(1, index.RateHz))
	all := landmark.Of(noise(1, 2*index.RateHz)) // the clip, and what has no postings
	require.Greater(t, len(all), 100)
	for _, n := range []int{0, 1, 31, 32, 33, 100} {
		i := 0
		x.Lookup(all[:n], func(l landmark.Landmark, p index.Postings) {
			require.Equal(t, all[i], l)
			require.Equal(t, x.Postings(l.Hash), p)
			i++
		})
		require.Equal(t, n, i)
	}
}

func TestEachLandmarkOfEachVariantIsThere(t *testing.T) {
	t.Parallel()
	clips := [][]float32{noise(1, index.RateHz), noise(2, index.RateHz/2), noise(3, 3*index.RateHz)}
	x := built(t, clips...)
	require.Equal(t, 3, x.Clips())
	require.Len(t, x.Variants(), 17+17+9, "two are short")
	for i, v := range x.Variants() {
		found := 0
		for _, l := range landmark.Of(warp.Play(clips[v.Clip], v.Speed)) {
			p := x.Postings(l.Hash)
			for k := range p.Len() {
				if x.Owner(p.At(k)) == i && int(p.At(k)) == v.Base+l.Frame {
					found++
				}
			}
		}
		require.GreaterOrEqual(t, found, v.Postings*2/5, "variant %+v", v)
		require.Positive(t, v.Postings)
	}
	long := built(t, noise(2, 2*index.RateHz)).Variants()[0]
	require.Greater(t, x.Variants()[x.Own(1)].Postings, long.Postings/2, "a short clip has two alignments")
}

func TestTheStrongestLandmarksOfEachSecondAreIndexed(t *testing.T) {
	t.Parallel()
	const seconds = 20
	clip := noise(1, seconds*index.RateHz)
	for i := range clip[len(clip)/2:] { // a quiet second half has its share all the same
		clip[len(clip)/2+i] /= 10
	}
	x := built(t, clip)
	indexed := map[landmark.Landmark]bool{}
	own := x.Variants()[x.Own(0)]
	for h := range uint32(1 << landmark.HashBits) {
		p := x.Postings(h)
		for k := range p.Len() {
			if x.Owner(p.At(k)) == x.Own(0) {
				indexed[landmark.Landmark{Hash: h, Frame: int(p.At(k)) - own.Base}] = true
			}
		}
	}
	var weakest, strongest [seconds]float32 // of those that are indexed, and of the others
	var number [seconds]int
	for _, p := range landmark.PairsOf(clip) {
		l := p.Landmark()
		k := l.Frame * seconds / own.Frames
		switch {
		case landmark.SameBin(l.Hash):
		case !indexed[l]:
			strongest[k] = max(strongest[k], p.Power())
		default:
			if number[k]++; number[k] == 1 || p.Power() < weakest[k] {
				weakest[k] = p.Power()
			}
		}
	}
	for k := range seconds {
		require.InDelta(t, 27, number[k], 1, "120 times the root of 20, over 20 seconds")
		require.GreaterOrEqual(t, weakest[k], strongest[k])
		require.Positive(t, strongest[k])
	}
}

// The strong landmarks of held notes do not remain, so all are indexed.
func TestAllLandmarksOfHeldNotesAreIndexed(t *testing.T) {
	t.Parallel()
	var melody []float32
	for _, hz := range []float64{262, 330, 392, 523, 392, 330, 294, 262, 330, 392} {
		for i := range index.RateHz / 4 {
			melody = append(melody, float32(.2*math.Copysign(1, math.Sin(2*math.Pi*hz*float64(i)/index.RateHz))))
		}
	}
	all := 0
	for _, l := range landmark.Of(melody) {
		if !landmark.SameBin(l.Hash) {
			all++
		}
	}
	x := built(t, melody)
	require.True(t, x.Plain(0))
	require.Equal(t, all, x.Variants()[0].Postings)
	require.Greater(t, all, 300, "of another clip of its length there are 190")
}

// All goroutines get the same clips, because they are prepared once. A tone with silence behind it
// sounds for as long as 0.9 of its energy.
func TestPlainClipsArePreparedOnce(t *testing.T) {
	t.Parallel()
	tone := make([]float32, 2*index.RateHz)
	for i := range tone[:index.RateHz] {
		tone[i] = float32(.3 * math.Sin(2*math.Pi*440*float64(i)/index.RateHz))
	}
	x := built(t, noise(1, index.RateHz), tone, noise(2, index.RateHz), tone[:index.RateHz/2])
	all := make([]*index.PlainClips, 8)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i], _ = x.PlainClips() })
	}
	wait.Wait()
	for _, p := range all {
		require.Same(t, all[0], p)
	}
	require.Equal(t, []int{1, 3}, all[0].Numbers)
	require.InDeltaSlice(t, []float64{.9 * index.RateHz, .45 * index.RateHz}, []float64{float64(all[0].Sounding[0]), float64(all[0].Sounding[1])}, 20)
}

func TestLandmarksOfATonesOwnBinAreNotIndexed(t *testing.T) {
	t.Parallel()
	clip := noise(1, 3*index.RateHz)
	for i := range clip { // a note each 0.1 s, so that many peaks of a bin follow each other
		if i%800 < 400 {
			clip[i] += float32(.5 * math.Sin(2*math.Pi*440/index.RateHz*float64(i)))
		}
	}
	same := 0
	for _, l := range landmark.Of(clip) {
		if landmark.SameBin(l.Hash) {
			same++
		}
	}
	require.Greater(t, same, 20)
	x := built(t, clip)
	for h := range uint32(1 << landmark.HashBits) {
		if first, second, _ := landmark.Bins(h); first == second {
			require.Zero(t, x.Postings(h).Len())
		}
	}
	require.Positive(t, x.Variants()[0].Postings)
}

func TestAWaveIsThere(t *testing.T) {
	t.Parallel()
	clip := noise(1, 1000)
	clip[7], clip[8] = 3, -3 // beyond full scale
	x := built(t, noise(2, 500), clip)
	require.Equal(t, "clip 1", x.ID(1))
	require.Equal(t, 1000, x.Samples(1))
	for i, v := range x.Wave(1) {
		require.InDelta(t, math.Max(-1, math.Min(1, float64(clip[i]))), v, 1.0/32767)
	}
}

func TestAnIndexIsTheSameInAFile(t *testing.T) {
	t.Parallel()
	x := built(t, noise(1, 3*index.RateHz), noise(2, index.RateHz/2))
	path := filepath.Join(t.TempDir(), "clips.index")
	require.NoError(t, x.Write(path))
	y, err := index.Open(path)
	require.NoError(t, err)
	require.Equal(t, x.Variants(), y.Variants())
	require.Equal(t, x.Wave(1), y.Wave(1))
	require.Equal(t, x.ID(1), y.ID(1))
	for h := range uint32(1 << landmark.HashBits) {
		if !bytes.Equal(x.Postings(h), y.Postings(h)) || x.Hashes().Has(h) != (x.Postings(h).Len() > 0) {
			t.Fatalf("hash %d: %d postings, then %d", h, x.Postings(h).Len(), y.Postings(h).Len())
		}
	}
	require.NoError(t, y.Close())
	require.NoError(t, x.Close())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestAnIndexThatIsBuiltThroughFilesIsTheSame(t *testing.T) {
	t.Parallel()
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "clips.index")
	var memory index.Builder
	files := index.Builder{Dir: dir}
	files.HoldAtMost(5_000)
	for i := range 4 {
		clip := noise(uint64(i), index.RateHz/4*(1+i%2))
		require.NoError(t, memory.Add(fmt.Sprint(i), clip))
		require.NoError(t, files.Add(fmt.Sprint(i), clip))
		if i%2 == 0 {
			continue
		}
		want, err := memory.Build()
		require.NoError(t, err)
		got, err := files.Build()
		require.NoError(t, err)
		image := written(t, want, path)
		require.True(t, bytes.Equal(image, written(t, got, path)), "with %d clips", i+1)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, "the files have no names")
		require.NoError(t, got.Close())
		require.NoError(t, got.Close(), "again returns nil")
	}
	gone := index.Builder{Dir: filepath.Join(dir, "gone")}
	gone.HoldAtMost(1)
	require.ErrorIs(t, gone.Add("a", noise(1, index.RateHz)), os.ErrNotExist)
}

// written returns the bytes that Write stores at path.
func written(t testing.TB, x *index.Index, path string) []byte {
	t.Helper()
	require.NoError(t, x.Write(path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func TestAFileThatIsNoIndexOfThisVersionIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clips.index")
	require.NoError(t, built(t, noise(1, index.RateHz)).Write(path))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	other := append([]byte(nil), whole...)
	other[16]++
	turned := append([]byte(nil), whole...)
	turned[len(turned)/2] ^= 1
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{
		"empty":           {nil, fault.ErrInvalid},
		"another format":  {[]byte("RIFF and so on, a file that is something else entirely, and long"), fault.ErrInvalid},
		"another version": {other, fault.ErrInvalid},
		"cut in half":     {whole[:len(whole)/2], fault.ErrCorrupt},
		"a bit turned":    {turned, fault.ErrCorrupt},
	} {
		require.NoError(t, os.WriteFile(path, c.content, 0o600))
		_, err := index.Open(path)
		require.ErrorIs(t, err, c.want, name)
		var v *index.VersionError
		require.Equal(t, name == "another version", errors.As(err, &v), name)
		if v != nil {
			require.Equal(t, index.VersionError{Got: index.Version + 1, Want: index.Version}, *v)
			require.ErrorContains(t, err, fmt.Sprintf("is of version %d; this program reads version %d", v.Got, v.Want))
		}
	}
	_, err = index.Open(path + ".gone")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAnEmptyIndexAndAnEmptyClip(t *testing.T) {
	t.Parallel()
	require.Zero(t, built(t).Clips())
	x := built(t, nil)
	require.Equal(t, 1, x.Clips())
	require.Empty(t, x.Wave(0))
	require.True(t, x.Plain(0), "it has no landmarks")
}

func TestAClipThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	var b index.Builder
	require.ErrorIs(t, b.Add("long", make([]float32, index.MaxSamples+1)), fault.ErrTooLarge)
}

func BenchmarkAdd(b *testing.B) {
	clip := noise(1, 5*index.RateHz)
	b.ReportAllocs()
	for b.Loop() {
		var x index.Builder
		if err := x.Add("clip", clip); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleBuilder() {
	var b index.Builder
	if err := b.Add("jingle", noise(1, 5*index.RateHz)); err != nil {
		fmt.Println(err)
	}
	x, err := b.Build()
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(x.Clips(), "clip at", len(x.Variants()), "speeds")
	// Output: 1 clip at 9 speeds
}
