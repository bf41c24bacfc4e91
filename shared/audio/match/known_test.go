package match_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/match"
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
