package exact_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/exact"
)

// byDefault is the least score of each clip.
func byDefault(int) float64 { return exact.DefaultThreshold }

// matchesOf streams a sound in pieces, and returns the matches of each clip.
func matchesOf(t *testing.T, sound exact.Samples, clips []exact.Clip, piece int) [][]exact.Match {
	t.Helper()
	set, err := exact.NewSet(t.Context(), clips)
	require.NoError(t, err)
	s := set.NewStream(exact.Options{}, byDefault)
	found := make([][]exact.Match, len(clips))
	add := func(w exact.Window) {
		for _, m := range w.Matches {
			require.GreaterOrEqual(t, m.Offset, w.From)
			require.LessOrEqual(t, m.Offset, w.To)
			found[w.Clip] = append(found[w.Clip], m)
		}
	}
	for end := piece; end < len(sound); end += piece {
		require.NoError(t, s.Advance(t.Context(), sound[:end], end, add))
	}
	require.NoError(t, s.Close(t.Context(), sound, len(sound), add))
	return found
}

// TestAStreamFindsEachPlaceOnceInAnyPieces plays clips across the ends of windows, at the start of
// the sound and at its end.
func TestAStreamFindsEachPlaceOnceInAnyPieces(t *testing.T) {
	t.Parallel()
	waves := [][]float32{tones(2*second, 440, 660), noise(2, second, .1), tones(second, 1000)}
	sound := exact.Samples(noise(1, 3*exact.StreamWindow, .03))
	places := [][]int{{0, 2*exact.StreamWindow - second}, {exact.StreamWindow - 1, 2*exact.StreamWindow + 2*second}, {len(sound) - second}}
	var clips []exact.Clip
	for i, wave := range waves {
		clips = append(clips, loaded("", wave))
		for _, at := range places[i] {
			for k, v := range wave {
				sound[at+k] += v
			}
		}
	}
	whole := matchesOf(t, sound, clips, len(sound))
	for i, want := range places {
		var got []int
		for _, m := range whole[i] {
			got = append(got, m.Offset)
		}
		require.Equal(t, want, got, "clip %d", i)
	}
	require.Equal(t, whole, matchesOf(t, sound, clips, 30011))
}

// windowsOf streams a sound in pieces, and returns the windows in which the first clip has matches.
func windowsOf(t *testing.T, sound exact.Samples, clips ...exact.Clip) (all []exact.Window) {
	t.Helper()
	set, err := exact.NewSet(t.Context(), clips)
	require.NoError(t, err)
	s := set.NewStream(exact.Options{}, byDefault)
	add := func(w exact.Window) {
		if w.Clip == 0 {
			all = append(all, w)
		}
	}
	for end := 0; end < len(sound); end += 100_000 {
		require.NoError(t, s.Advance(t.Context(), sound[:end], end, add))
	}
	require.NoError(t, s.Close(t.Context(), sound, len(sound), add))
	return all
}

// A longer clip beside it keeps the rest of the sound for Close, whose length differs.
func TestTheWindowsOfAClipDoNotDependOnOtherClips(t *testing.T) {
	t.Parallel()
	clip, longer, longest := loaded("", tones(second/2, 440)), loaded("", noise(4, 5*second, .1)), loaded("", noise(5, 90*second, .1))
	for _, rest := range []int{0, 3 * second, 4*second + 1, 9 * second, 15 * second} {
		sound := exact.Samples(tones(2*exact.StreamWindow+rest, 440))
		want := windowsOf(t, sound, clip)
		require.GreaterOrEqual(t, len(want), 2)
		require.Equal(t, want, windowsOf(t, sound, clip, longer), "%d samples more", rest)
		require.Equal(t, want, windowsOf(t, sound, clip, longest), "%d samples more", rest)
	}
}

// All places in a tone are equally good, so rounding chooses. It must not depend on the samples
// beyond the searched part, which are there or not yet.
func TestMatchesInAToneDoNotDependOnThePiecesOfTheSound(t *testing.T) {
	t.Parallel()
	clips := []exact.Clip{loaded("", sine(2*second)), loaded("", sine(second*3/10)), loaded("", noise(4, 5*second, .1))}
	sound := exact.Samples(sine(3*exact.StreamWindow + 7*second))
	want := matchesOf(t, sound, clips, len(sound))
	require.NotEmpty(t, want[0])
	for _, piece := range []int{10_007, 16_384, 100_000} {
		require.Equal(t, want, matchesOf(t, sound, clips, piece))
	}
}

// sine makes n samples of a tone that begins and ends at once.
func sine(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(.3 * math.Sin(2*math.Pi*440*float64(i)/second))
	}
	return x
}
