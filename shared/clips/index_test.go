package clips_test

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
	"leasehold/shared/fault"
)

// samples is a Source that ends with an error.
type samples struct {
	rest []float32
	err  error
}

func (s *samples) Read(dst []float32) (int, error) {
	n := copy(dst, s.rest)
	s.rest = s.rest[n:]
	if len(s.rest) > 0 {
		return n, nil
	}
	return n, s.err
}

func TestClipsInWhichThereIsNothingToLookForAreRefused(t *testing.T) {
	t.Parallel()
	x := clips.NewIndex()
	level := make([]float32, clips.RateHz)
	for i := range level {
		level[i] = .5
	}
	require.ErrorIs(t, x.Add(clips.Clip{ID: "silent", Samples: make([]float32, clips.RateHz)}), exact.ErrSilent)
	require.ErrorIs(t, x.Add(clips.Clip{ID: "offset", Samples: level}), exact.ErrSilent)
	require.ErrorIs(t, x.Add(clips.Clip{ID: "short", Samples: rustle(1, 1)[:1600]}), exact.ErrTooShort)
	require.ErrorIs(t, x.Add(clips.Clip{ID: "long", Samples: rustle(1, 121)}), exact.ErrTooLong)
	for range x.Match(t.Context(), &samples{rustle(2, 5), io.EOF}, clips.Options{}) {
		t.Error("something is found without a clip")
	}
}

func TestManyEpisodesAtOnceAndClipsInBetween(t *testing.T) {
	t.Parallel()
	x := clips.NewIndex()
	for round := range 2 {
		clip := rustle(uint64(round), 1)
		require.NoError(t, x.Add(clips.Clip{ID: "c", Samples: clip}))
		episode := rustle(9, 20)
		for at := range round + 1 {
			copy(episode[(3+at*5)*clips.RateHz:], rustle(uint64(at), 1))
		}
		var searches sync.WaitGroup
		for range 3 {
			searches.Go(func() {
				n := 0
				for _, err := range x.Match(context.Background(), &samples{episode, io.EOF}, clips.Options{}) {
					if err != nil {
						t.Error(err)
					}
					n++
				}
				if n != round+1 {
					t.Errorf("%d findings in round %d", n, round)
				}
			})
		}
		searches.Wait()
	}
}

func TestMatchEndsWithAnErrorOrWhenNobodyWantsMore(t *testing.T) {
	t.Parallel()
	x, clip := clips.NewIndex(), rustle(1, 1)
	require.NoError(t, x.Add(clips.Clip{ID: "c", Samples: clip}))
	broken := errors.New("broken")
	last := func(s clips.Source, o clips.Options) (err error) {
		for _, err = range x.Match(t.Context(), s, o) {
		}
		return err
	}
	require.ErrorIs(t, last(&samples{nil, broken}, clips.Options{}), broken)
	require.ErrorIs(t, last(&samples{nil, io.EOF}, clips.Options{Threshold: math.NaN()}), fault.ErrInvalid)
	n := 0
	for _, err := range x.Match(t.Context(), &samples{append(clip, clip...), broken}, clips.Options{}) {
		if n++; n <= 2 {
			require.NoError(t, err, "what is played before the break is found")
		} else {
			require.ErrorIs(t, err, broken)
		}
	}
	require.Equal(t, 3, n)
	n = 0
	for _, err := range x.Match(t.Context(), &samples{append(clip, clip...), io.EOF}, clips.Options{}) {
		require.NoError(t, err)
		n++
		break
	}
	require.Equal(t, 1, n)
}
