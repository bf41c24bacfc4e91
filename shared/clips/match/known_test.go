package match_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/warp"
	"leasehold/shared/fault"
)

// kept is an episode in memory.
type kept struct {
	samples []float32
	read    int // samples
	err     error
}

func (k *kept) ReadAt(dst []float32, offset int) error {
	k.read += len(dst)
	clear(dst)
	if from := max(0, offset); from < min(len(k.samples), offset+len(dst)) {
		copy(dst[from-offset:], k.samples[from:])
	}
	return k.err
}

func (k *kept) known() match.Known {
	return match.Known{Samples: len(k.samples), Landmarks: k.landmarks, Sound: k}
}

func TestAKnownEpisodeHasTheSameFindings(t *testing.T) {
	t.Parallel()
	beep := tune(3, second*3/10)
	x := indexed(t, clipA, clipB, beep)
	e := show(45)
	for i, at := range []int{0, 30001, 4096*64 - 9000, 300000} {
		mix(e, [][]float32{clipA, clipB, beep}[i%3], at, 1)
	}
	want := find(t, x, e, match.Options{})
	require.GreaterOrEqual(t, len(want), 3)
	var got []match.Finding
	k := &kept{samples: e}
	require.NoError(t, match.FindKnown(context.Background(), x, k.known(), match.Options{}, func(f match.Finding) error {
		got = append(got, f)
		return nil
	}))
	require.Equal(t, want, got)
}

func TestAKnownEpisodeIsReadOnlyWhereAClipMayBe(t *testing.T) {
	t.Parallel()
	k := &kept{samples: show(60)}
	none := func(match.Finding) error { return nil }
	require.NoError(t, match.FindKnown(context.Background(), indexed(t, clipA), k.known(), match.Options{}, none))
	require.Less(t, k.read, len(k.samples)/4)
	mix(k.samples, clipA, 99999, 1)
	k.err = errors.New("unreadable")
	require.ErrorIs(t, match.FindKnown(context.Background(), indexed(t, clipA), k.known(), match.Options{}, none), k.err)
	broken := match.Known{Samples: 1, Sound: k, Landmarks: func(landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
		return func(yield func(landmark.Landmark, error) bool) { yield(landmark.Landmark{}, k.err) }
	}}
	require.ErrorIs(t, match.FindKnown(context.Background(), indexed(t, clipA), broken, match.Options{}, none), k.err)
}

func TestExplainSaysTheSameAsFind(t *testing.T) {
	t.Parallel()
	e := in(quiet, 50000, clipB, 1)()
	for i, clip := range [][]float32{clipA, clipB} {
		got, err := match.Explain(t.Context(), indexed(t, clip), &stream{e, 5000}, 50000+200*i, match.Options{})
		require.NoError(t, err)
		require.Equal(t, i == 1, got.Found, "%v", got.Reasons)
		require.GreaterOrEqual(t, len(got.Reasons), 2)
	}
	_, err := match.Explain(t.Context(), indexed(t, clipA), &stream{e, 5000}, 0, match.Options{Threshold: 2})
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = match.Explain(t.Context(), indexed(t, clipA), &stream{e, 5000}, len(e), match.Options{})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestExplainNamesWhereAClipBeginsWhoseSecondHalfIsHeard(t *testing.T) {
	t.Parallel()
	clip := tune(5, 4*second)
	e := show(40)
	mix(e, clip[2*second:], 20*second, 2)
	got, err := match.Explain(t.Context(), indexed(t, clip), &stream{e, 5000}, 20*second, match.Options{})
	require.NoError(t, err)
	require.False(t, got.Found)
	require.Contains(t, got.Conclusion[1], "it would begin as a whole at 0:18.00")
	got, err = match.Explain(t.Context(), indexed(t, clip), &stream{e, 5000}, 5*second, match.Options{})
	require.NoError(t, err)
	require.Contains(t, got.Conclusion[1], "the whole clip would begin")
}

func (k *kept) landmarks(of landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
	return func(yield func(landmark.Landmark, error) bool) {
		for _, l := range landmark.Of(k.samples) {
			if of.Has(l.Hash) && !yield(l, nil) {
				return
			}
		}
	}
}

// Moments of the clip are played out of time: landmarks agree on the place within a quarter of a second, and too
// few within 40 ms to compare its waveform.
func TestTheExplainedPlaceIsNearTheGivenOneAlsoIfTooFewLandmarksAgree(t *testing.T) {
	t.Parallel()
	few := 0
	for seed := range uint64(6) {
		clip, e := noise(seed, 3*second, .1), noise(99, 20*second, .02)
		for i := range 8 {
			piece := clip[i*second/3:][:second/8]
			mix(e, piece, 10*second+i*second/3+(i*5%8-4)*second/40, 1)
		}
		got, err := match.Explain(t.Context(), indexed(t, clip), &stream{e, 5000}, 10*second, match.Options{})
		require.NoError(t, err)
		require.InDelta(t, 10*second, got.Result.Begin, second)
		if got.Outcome == match.FewVotes && got.Hit.Votes > 0 {
			few++
		}
	}
	require.Positive(t, few)
}

// The whole clip would begin two seconds before the episode, so its finding is at 0:00.
func TestAClipWithoutItsHeadIsExplainedAtTheStart(t *testing.T) {
	t.Parallel()
	clip, e := tune(5, 4*second), show(20)
	mix(e, clip, -2*second, 2)
	for _, at := range []int{0, second / 2} {
		got, err := match.Explain(t.Context(), indexed(t, clip), &stream{e, 5000}, at, match.Options{})
		require.NoError(t, err)
		require.True(t, got.Found)
		require.Equal(t, match.Found, got.Outcome)
		require.InDelta(t, -2*second, got.Result.Begin, 2)
	}
}

// gong has a strike and some hiss. It is searched by plain correlation at its own speed, and by its landmarks.
func gong() []float32 {
	gong, hiss := make([]float32, 3*second), noise(51, 3*second, .0005)
	for i := range gong {
		t := float64(i) / second
		for k, hz := range []float64{220, 523, 871, 1360} {
			gong[i] += float32(.2 / float64(k+1) * math.Exp(-t) * math.Sin(2*math.Pi*hz*t))
		}
		gong[i] += hiss[i] * float32(1+200*math.Exp(-25*t))
	}
	return gong
}

func TestAPlainClipIsExplainedByTheStepThatFindsIt(t *testing.T) {
	t.Parallel()
	x := indexed(t, gong())
	require.True(t, x.Plain(0))
	for _, c := range []struct {
		clip []float32
		base func() []float32
		why  string
	}{
		{warp.Play(gong(), 20), func() []float32 { return noise(1, 20*second, .0001) }, "% of its 11 blocks of a quarter of a second match"},
		{gong(), func() []float32 { return show(20) }, "the best correlation within a second is 0.759"},
		{gong(), func() []float32 { return make([]float32, 9*second) }, "the best correlation within a second is 1.000"},
	} {
		got, err := match.Explain(t.Context(), x, &stream{in(c.base, 5*second, c.clip, 1)(), 5000}, 5*second, match.Options{})
		require.NoError(t, err)
		require.True(t, got.Found)
		require.Contains(t, strings.Join(got.Reasons, "\n"), c.why)
	}
}

// A tone that goes on is like a shorter one everywhere, so none of the places counts.
func TestAToneInALongerOneIsExplained(t *testing.T) {
	t.Parallel()
	tone := make([]float32, 30*second)
	for i := range tone {
		tone[i] = float32(.3 * math.Sin(2*math.Pi*1000*float64(i)/second))
	}
	got, err := match.Explain(t.Context(), indexed(t, tone[:second/2]), &stream{tone, 5000}, 9*second, match.Options{})
	require.NoError(t, err)
	require.False(t, got.Found)
	require.Greater(t, got.Exact, .99)
	require.Contains(t, got.Reasons[len(got.Reasons)-1], "but it does not count if the clip fits at many moments")
}

// Find searches an episode up to its break, and Explain does too.
func TestAnEpisodeThatBreaksOffIsExplainedUpToThere(t *testing.T) {
	t.Parallel()
	e := in(quiet, 16*second, clipB, 1)()
	b := &broken{stream{e, 1000}, errors.New("breaks off")}
	got, err := match.Explain(t.Context(), indexed(t, clipB), b, 16*second, match.Options{})
	require.ErrorIs(t, err, b.err)
	require.True(t, got.Found, "%v", got.Lines())
	got, err = match.Explain(t.Context(), indexed(t, clipB), b, 21*second, match.Options{})
	require.ErrorIs(t, err, b.err)
	require.Empty(t, got.Lines())
}
