package match_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/match"
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
	x := indexed(t, clipA, clipB)
	e := in(quiet, 50000, clipB, 1)()
	for clip, at := range map[int]int{0: 50000, 1: 50200} {
		got, err := match.Explain(x, clip, e, at, match.Options{})
		require.NoError(t, err)
		require.Equal(t, clip == 1, got.Found, "%v", got.Reasons)
		require.GreaterOrEqual(t, len(got.Reasons), 4)
	}
	_, err := match.Explain(x, 0, e, 0, match.Options{Threshold: 2})
	require.Error(t, err)
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
