package vote_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/vote"
)

// naive is what Counter's documentation describes, with a table of all cells of all variants.
type naive struct {
	index *index.Index
	votes []map[int]int // by variant and cell; a cell is 32 frames in which the variant would begin
	start int
}

const naiveCell = 32

func (c *naive) push(landmarks []landmark.Landmark) {
	for _, l := range landmarks {
		postings := c.index.Postings(l.Hash)
		for i := range postings.Len() {
			owner := c.index.Owner(postings.At(i))
			begin := l.Frame - (int(postings.At(i)) - c.index.Variants()[owner].Base)
			c.votes[owner][int(math.Floor(float64(begin)/naiveCell))]++
		}
	}
}

// decide takes the beginnings whose variant has passed: those before the stretch's end by the variant's length, and
// by three cells. A cell holds 255 votes.
func (c *naive) decide() (all []vote.Candidate) {
	for i, v := range c.index.Variants() {
		if len(c.votes[i]) == 0 {
			continue
		}
		pad := (v.Frames+naiveCell-1)/naiveCell + 3
		first, last := c.start/naiveCell-pad, (c.start+vote.Stretch)/naiveCell // the cells before last
		of := func(cell int) int { return min(255, c.votes[i][cell]) }
		two := func(cell int) int { return of(cell) + of(cell+1) }
		total := 0
		for k := first; k < last; k++ {
			total += of(k)
		}
		mean := 2 * float64(total) / float64(last-first)
		least := max(vote.Least(v), mean+6*math.Sqrt(mean))
		for k := first + 1; k <= first+vote.Stretch/naiveCell; k++ {
			if n := two(k); float64(n) >= least && n > two(k-1) && n >= two(k+1) {
				all = append(all, vote.Candidate{Variant: i, Frame: (k + 1) * naiveCell, Votes: n})
			}
		}
	}
	c.start += vote.Stretch
	return all
}

// TestTheCounterCountsAsANaiveOne has clips of several lengths whose variants are in two blocks,
// and episodes of played clips, of one landmark repeated, and of landmarks by chance.
func TestTheCounterCountsAsANaiveOne(t *testing.T) {
	t.Parallel()
	clips := [][]float32{noise(1, 5*index.RateHz), noise(2, index.RateHz), noise(3, index.RateHz/3), noise(4, 700), noise(5, 12*index.RateHz)}
	for i := range 60 {
		clips = append(clips, noise(uint64(10+i), index.RateHz/4))
	}
	x := indexed(t, clips...)
	require.Greater(t, len(x.Variants()), 1024)
	var of [][]landmark.Landmark
	var known []landmark.Landmark
	for _, clip := range clips {
		of = append(of, landmark.Of(clip))
		for _, l := range of[len(of)-1] {
			if x.Hashes().Has(l.Hash) {
				known = append(known, l)
			}
		}
	}
	frame := rapid.IntRange(0, 3*vote.Stretch)
	rapid.Check(t, func(t *rapid.T) {
		var episode []landmark.Landmark
		for range rapid.IntRange(0, 8).Draw(t, "pieces") {
			at, one := frame.Draw(t, "frame"), rapid.SampledFrom(known).Draw(t, "landmark")
			switch rapid.IntRange(0, 3).Draw(t, "piece") {
			case 0, 1:
				clip := of[rapid.IntRange(0, len(of)-1).Draw(t, "clip")]
				if rapid.Bool().Draw(t, "ends with a stretch") {
					at = (at/vote.Stretch+1)*vote.Stretch - clip[len(clip)-1].Frame - at%200
				}
				for _, l := range clip[rapid.IntRange(0, len(clip)).Draw(t, "from"):] {
					episode = append(episode, landmark.Landmark{Hash: l.Hash, Frame: max(0, at+l.Frame)})
				}
			case 2:
				step := rapid.IntRange(0, 40).Draw(t, "step")
				for i := range rapid.IntRange(0, 600).Draw(t, "times") {
					episode = append(episode, landmark.Landmark{Hash: one.Hash, Frame: at + i*step})
				}
			case 3:
				within, next := rapid.IntRange(1, 5000).Draw(t, "within"), rapid.IntRange(0, len(known)-1).Draw(t, "next")
				for i := range rapid.IntRange(0, 3000).Draw(t, "by chance") {
					episode = append(episode, landmark.Landmark{Hash: known[(next+i*i*7)%len(known)].Hash, Frame: at + i*i*31%within})
				}
			}
		}
		slices.SortStableFunc(episode, func(a, b landmark.Landmark) int { return cmp.Compare(a.Frame, b.Frame) })
		simple := naive{index: x, votes: make([]map[int]int, len(x.Variants()))}
		for i := range simple.votes {
			simple.votes[i] = map[int]int{}
		}
		counter := vote.NewCounter(x)
		for rest := episode; counter.Start() < 6*vote.Stretch || len(rest) > 0; {
			n := 0
			for n < len(rest) && rest[n].Frame < counter.Start()+vote.Stretch {
				n++
			}
			part := rapid.IntRange(0, n).Draw(t, "pushed first")
			counter.Push(rest[:part])
			counter.Push(rest[part:n])
			simple.push(rest[:n])
			var got []vote.Candidate
			counter.Decide(func(c vote.Candidate) { got = append(got, c) })
			require.Equal(t, simple.decide(), got)
			rest = rest[n:]
		}
	})
}
