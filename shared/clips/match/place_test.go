package match

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/vote"
)

// tones returns four seconds of tones.
func tones() []float32 {
	clip := make([]float32, 4*RateHz)
	for i := range clip {
		hz := 300 + 150*float64(i/1600*7%13) // another tone each 0.2 s
		clip[i] = float32(.3 * math.Sin(2*math.Pi*hz*float64(i)/RateHz))
	}
	return clip
}

// noise returns so many seconds of it.
func noise(seconds int) []float32 {
	clip, r := make([]float32, seconds*RateHz), rand.New(rand.NewPCG(1, 7))
	for i := range clip {
		clip[i] = float32(.1 * r.NormFloat64())
	}
	return clip
}

// judging returns a search for one clip, and how many landmarks it has.
func judging(t *testing.T, clip []float32) (s *search, landmarks int) {
	t.Helper()
	var b index.Builder
	require.NoError(t, b.Add("a", clip))
	x, err := b.Build()
	require.NoError(t, err)
	o, err := Options{}.check()
	require.NoError(t, err)
	s = newSearch(x, o)
	return s, x.Variants()[x.Own(0)].Postings
}

// judged is a hit of the clip with the result of its verification, and the outcome that it must
// have.
type judged struct {
	name   string
	result verify.Result
	oneOf  int // one of so many landmarks of the clip agrees
	want   Outcome
}

// requireOutcomes judges hits of one clip.
func requireOutcomes(t *testing.T, all ...judged) {
	t.Helper()
	s, landmarks := judging(t, tones())
	for _, c := range all {
		_, got := s.judge(0, vote.Hit{Variant: s.index.Own(0), Votes: landmarks / c.oneOf}, c.result)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestFewBlocksAtAnotherSpeedMustStandOutMore(t *testing.T) {
	t.Parallel()
	at := func(speed, z float64, run int) verify.Result {
		return verify.Result{Z: z, Run: run, RunCoverage: 1, Coverage: 1, Speed: speed, Blocks: make([]verify.Block, 5)}
	}
	requireOutcomes(t,
		judged{"its own speed", at(1, 8, 2), 10, Found},
		judged{"as good as its own speed", at(1.001, 8, 2), 10, Found},
		judged{"another speed", at(1.02, 9.9, 2), 10, Weak},
		judged{"another speed, one block", at(.97, 9.9, 1), 10, Weak},
		judged{"another speed, clearer", at(.98, 10.1, 2), 10, Found},
		judged{"another speed, many blocks", at(.98, 8, 5), 10, Found},
	)
}

func TestAPartWithoutItsLandmarksIsAnotherSound(t *testing.T) {
	t.Parallel()
	covering := func(share float64) verify.Result {
		return verify.Result{Z: 15, Run: 8, RunCoverage: 1, Coverage: share, Speed: 1, Blocks: make([]verify.Block, 10)}
	}
	requireOutcomes(t,
		judged{"some blocks, next to no landmarks", covering(.8), 25, NoTrace},
		judged{"some blocks and their landmarks", covering(.8), 10, Found},
		judged{"all blocks, masked landmarks", covering(1), 25, Found},
	)
}

func TestAtAnotherTempoFewerLandmarksCountIfTheyAreNearlyEverywhere(t *testing.T) {
	t.Parallel()
	s, landmarks := judging(t, noise(60))
	for _, c := range []struct {
		name          string
		pace          int
		share, spread float64
		want          Outcome
	}{
		{"few in all eighths", -30, .07, 1, Found},
		{"few in seven eighths", -30, .07, .875, Found},
		{"few in six eighths", -30, .07, .75, Weak},
		{"too few", -30, .04, 1, Weak},
		{"many in five eighths", -30, .2, .625, Found},
		{"the clip's own tempo", 0, .07, 1, Weak},
	} {
		h := vote.Hit{Variant: s.index.Own(0), Votes: int(c.share * float64(landmarks)), Spread: c.spread, Pace: c.pace}
		_, got := s.judge(0, h, verify.Result{Z: 2, Speed: 1, Blocks: make([]verify.Block, 5)})
		require.Equal(t, c.want, got, c.name)
	}
}

// A clip whose waveform was changed, as by another pitch, has some blocks that match, and most of its landmarks.
func TestLandmarksThatAreSureTellHowMuchOfTheClipIsThere(t *testing.T) {
	t.Parallel()
	s, landmarks := judging(t, noise(3))
	for _, c := range []struct {
		name          string
		share, spread float64
		want          Outcome
	}{
		{"some landmarks in six eighths", .3, .75, Found},
		{"few landmarks in six eighths", .07, .75, Weak},
		{"some landmarks in half of the clip", .3, .5, Weak},
	} {
		h := vote.Hit{Variant: s.index.Own(0), Votes: int(c.share * float64(landmarks)), Spread: c.spread}
		_, got := s.judge(0, h, verify.Result{Z: 7.4, Run: 2, RunCoverage: 1, Coverage: .4, Speed: 1, Blocks: make([]verify.Block, 5)})
		require.Equal(t, c.want, got, c.name)
	}
}
