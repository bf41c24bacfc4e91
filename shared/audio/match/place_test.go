package match

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/audio/index"
	"leasehold/shared/audio/verify"
	"leasehold/shared/audio/vote"
)

// judging returns a search for one clip of four seconds, and how many landmarks it has.
func judging(t *testing.T) (s *search, landmarks int) {
	t.Helper()
	clip := make([]float32, 4*RateHz)
	for i := range clip {
		hz := 300 + 150*float64(i/1600*7%13) // another tone each 0.2 s
		clip[i] = float32(.3 * math.Sin(2*math.Pi*hz*float64(i)/RateHz))
	}
	var b index.Builder
	require.NoError(t, b.Add("a", clip))
	x, err := b.Build()
	require.NoError(t, err)
	o, err := Options{}.check()
	require.NoError(t, err)
	s = newSearch(x, o)
	return s, x.Variants()[x.Own(0)].Postings
}

func TestFewBlocksAtAnotherSpeedMustStandOutMore(t *testing.T) {
	t.Parallel()
	s, landmarks := judging(t)
	for _, c := range []struct {
		name  string
		z     float64
		run   int
		speed float64
		want  Outcome
	}{
		{"its own speed", 8, 2, 1, Found},
		{"as good as its own speed", 8, 2, 1.001, Found},
		{"another speed", 9.9, 2, 1.02, Weak},
		{"another speed, one block", 9.9, 1, .97, Weak},
		{"another speed, clearer", 10.1, 2, .98, Found},
		{"another speed, many blocks", 8, 5, .98, Found},
	} {
		r := verify.Result{Z: c.z, Run: c.run, RunCoverage: 1, Coverage: 1, Speed: c.speed, Blocks: make([]verify.Block, 5)}
		_, got := s.judge(0, vote.Hit{Variant: s.index.Own(0), Votes: landmarks / 10}, r)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestAPartWithoutItsLandmarksIsAnotherSound(t *testing.T) {
	t.Parallel()
	s, landmarks := judging(t)
	for _, c := range []struct {
		name     string
		coverage float64
		votes    int
		want     Outcome
	}{
		{"some blocks, next to no landmarks", .8, landmarks / 25, NoTrace},
		{"some blocks and their landmarks", .8, landmarks / 10, Found},
		{"all blocks, masked landmarks", 1, landmarks / 25, Found},
	} {
		r := verify.Result{Z: 15, Run: 8, RunCoverage: 1, Coverage: c.coverage, Speed: 1, Blocks: make([]verify.Block, 10)}
		_, got := s.judge(0, vote.Hit{Variant: s.index.Own(0), Votes: c.votes}, r)
		require.Equal(t, c.want, got, c.name)
	}
}
