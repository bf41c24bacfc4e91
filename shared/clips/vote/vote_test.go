package vote_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/vote"
)

func noise(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(.1 * r.NormFloat64())
	}
	return x
}

func indexed(t testing.TB, clips ...[]float32) *index.Index {
	t.Helper()
	var b index.Builder
	for _, c := range clips {
		require.NoError(t, b.Add("clip", c))
	}
	x, err := b.Build()
	require.NoError(t, err)
	return x
}

// candidates of an episode, all stretches.
func candidates(x *index.Index, episode []landmark.Landmark, frames int) []vote.Candidate {
	var all []vote.Candidate
	c := vote.NewCounter(x)
	next := 0
	for c.Start() < frames+vote.Stretch {
		first := next
		for next < len(episode) && episode[next].Frame < c.Start()+vote.Stretch {
			next++
		}
		c.Push(episode[first:next])
		c.Decide(func(v vote.Candidate) { all = append(all, v) })
	}
	return all
}

// refined is the Hit of one candidate.
func refined(x *index.Index, c vote.Candidate, episode []landmark.Landmark) (hit vote.Hit) {
	vote.NewRefiner(x).Refine([]vote.Candidate{c}, episode, func(h vote.Hit) { hit = h })
	return hit
}

func TestWhatACandidateIsDependsOnNoOther(t *testing.T) {
	t.Parallel()
	const rate = index.RateHz
	x := indexed(t, noise(1, 2*rate), noise(2, 4*rate), noise(3, rate))
	episode := noise(9, 30*rate)
	copy(episode[3*rate:], noise(2, 4*rate))
	copy(episode[9*rate:], noise(1, 2*rate))
	copy(episode[10*rate:], noise(2, 4*rate))
	all := landmark.Of(episode)
	together := candidates(x, all, len(episode)/64)
	require.Greater(t, len(together), 3)
	var hits []vote.Hit
	r := vote.NewRefiner(x)
	for range 2 { // the second time with what the first one left
		hits = hits[:0]
		slices.SortStableFunc(together, func(a, b vote.Candidate) int { return a.Variant - b.Variant })
		r.Refine(together, all, func(h vote.Hit) { hits = append(hits, h) })
		for i, c := range together {
			require.Equal(t, refined(x, c, all), hits[i])
		}
	}
}

func TestEachBeginningIsACandidateWhereverStretchesEnd(t *testing.T) {
	t.Parallel()
	const rate = index.RateHz
	clip := noise(1, 2*rate)
	x := indexed(t, noise(2, rate), clip, noise(3, 5*rate))
	for _, begin := range []int{0, 9, 3900, 4090, 4096, 4700} { // frames
		episode := noise(9, 42*rate)
		copy(episode[begin*64:], clip)
		all := landmark.Of(episode)
		found := 0
		for _, c := range candidates(x, all, len(episode)/64) {
			if c.Variant != x.Own(1) {
				continue
			}
			if h := refined(x, c, all); math.Abs(h.Begin-float64(begin)) < 1 {
				found++
				require.Greater(t, h.Votes, x.Variants()[c.Variant].Postings/4)
				require.Equal(t, 1.0, h.Spread)
				require.Zero(t, h.Pace)
				require.Len(t, h.Marks, h.Votes)
			}
		}
		require.Equal(t, 1, found, "at frame %d", begin)
	}
}

func TestWhatIsDecidedOfAClipDependsOnNoOther(t *testing.T) {
	t.Parallel()
	const rate = index.RateHz
	clip, others := noise(1, rate), [][]float32{noise(2, 3*rate), noise(3, rate), noise(4, 7*rate)}
	episode := noise(9, 15*rate)
	copy(episode[5*rate:], clip)
	all := landmark.Of(episode)
	alone := candidates(indexed(t, clip), all, len(episode)/64)
	x := indexed(t, slices.Concat([][]float32{clip}, others)...)
	first := slices.DeleteFunc(candidates(x, all, len(episode)/64), func(c vote.Candidate) bool { return x.Variants()[c.Variant].Clip != 0 })
	require.Equal(t, alone, first)
	require.NotEmpty(t, alone)
}

// TestVotesAreCountedHoweverManyWait pushes one landmark until its cell is full, and then far more often than a
// block's list is long.
func TestVotesAreCountedHoweverManyWait(t *testing.T) {
	t.Parallel()
	clip := noise(1, index.RateHz)
	x, of := indexed(t, clip), landmark.Of(clip)
	first := slices.IndexFunc(of, func(l landmark.Landmark) bool { return x.Postings(l.Hash).Len() > 0 })
	one := of[first : first+1]
	full := candidates(x, slices.Repeat(one, 300), len(clip)/64)
	require.NotEmpty(t, full)
	require.Equal(t, full, candidates(x, slices.Repeat(one, 200_000), len(clip)/64))
}

func TestAnotherTempoIsAnotherPace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ seconds, pace int }{{8, 30}, {8, -40}, {30, 25}, {30, -36}, {30, 14}} {
		clip := noise(1, c.seconds*index.RateHz)
		x := indexed(t, clip)
		var episode []landmark.Landmark
		for _, l := range landmark.Of(clip) {
			episode = append(episode, landmark.Landmark{Hash: l.Hash, Frame: 500 + int(float64(l.Frame)*1000/float64(1000+c.pace)+.5)})
		}
		h := refined(x, vote.Candidate{Variant: x.Own(0), Frame: 500}, episode)
		require.False(t, h.Fine())
		require.InDelta(t, c.pace, h.Pace, 1)
		require.InDelta(t, 500, h.Begin, 1)
		require.Greater(t, h.Votes, x.Variants()[0].Postings*3/4)
	}
}

func TestASpeedBetweenTwoVariantsIsAFinePace(t *testing.T) {
	t.Parallel()
	clip := noise(1, 15*index.RateHz)
	x := indexed(t, clip)
	var episode []landmark.Landmark
	for _, l := range landmark.Of(clip) {
		episode = append(episode, landmark.Landmark{Hash: l.Hash, Frame: 500 + int(float64(l.Frame)/1.004+.5)})
	}
	h := refined(x, vote.Candidate{Variant: x.Own(0), Frame: 500}, episode)
	require.Equal(t, 4, h.Pace)
	require.Greater(t, h.Votes, x.Variants()[0].Postings*3/4)
	require.Less(t, h.First, 60)
	require.Greater(t, h.Last, 1700)
}

func TestLeastGrowsWithTheLandmarks(t *testing.T) {
	t.Parallel()
	last := 0.0
	for _, n := range []int{0, 30, 120, 1300} {
		least := vote.Least(index.Variant{Postings: n})
		require.Greater(t, least, last)
		last = least
	}
	require.Less(t, last, 12.0)
}

// The variants of 300 clips are in several blocks.
func TestCandidatesOfAClipDoNotDependOnOtherClips(t *testing.T) {
	t.Parallel()
	clip := noise(1, index.RateHz)
	var few, many index.Builder
	for i := range 300 {
		require.NoError(t, many.Add("other", noise(uint64(10+i), index.RateHz/8)))
	}
	for _, b := range []*index.Builder{&few, &many} {
		require.NoError(t, b.Add("clip", clip))
	}
	alone, err := few.Build()
	require.NoError(t, err)
	among, err := many.Build()
	require.NoError(t, err)
	episode := noise(2, 50*index.RateHz)
	copy(episode[3*index.RateHz:], clip)
	copy(episode[40*index.RateHz:], clip)
	all, others := landmark.Of(episode), len(among.Variants())-len(alone.Variants())
	want := candidates(alone, all, len(episode)/64)
	require.GreaterOrEqual(t, len(want), 2)
	var got []vote.Candidate
	for _, c := range candidates(among, all, len(episode)/64) {
		c.Variant -= others
		if c.Variant >= 0 {
			got = append(got, c)
		}
	}
	require.Equal(t, want, got)
}

func BenchmarkPush(b *testing.B) {
	var clips [][]float32
	for i := range 50 {
		clips = append(clips, noise(uint64(i), 5*index.RateHz))
	}
	x, all := indexed(b, clips...), landmark.Of(noise(99, 30*index.RateHz))
	for b.Loop() {
		c := vote.NewCounter(x)
		c.Push(all)
		c.Decide(func(vote.Candidate) {})
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*120, "s/hour")
}

func ExampleCounter() {
	clip := noise(1, index.RateHz)
	var b index.Builder
	if err := b.Add("clip", clip); err != nil {
		fmt.Println(err)
	}
	x, err := b.Build()
	if err != nil {
		fmt.Println(err)
	}
	episode := append(make([]float32, 64*250), clip...) // after two seconds
	votes := vote.NewCounter(x)
	votes.Push(landmark.Of(episode))
	votes.Decide(func(c vote.Candidate) {
		if v := x.Variants()[c.Variant]; v.Speed == 0 {
			fmt.Println("perhaps", (c.Frame*8+500)/1000, "s")
		}
	})
	// Output: perhaps 2 s
}
