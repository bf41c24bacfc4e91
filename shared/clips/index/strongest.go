package index

import (
	"cmp"
	"math"
	"slices"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
)

// rootLandmarks is how many landmarks of a second are indexed at most, out of about 210. Of a longer variant they
// are as many as the root of its length is larger, because it has more evidence than it needs. The votes, the index and
// its memory grow with them, and what is found hardly does (docs/benchmarks.md, Strongest landmarks).
const rootLandmarks = 120

// changing returns the pairs without those of one bin, which come from a tone that goes on: they
// are a tenth of those of music, and half of the votes for wrong places.
func changing(pairs []landmark.Pair) []landmark.Pair {
	return slices.DeleteFunc(pairs, func(p landmark.Pair) bool { return landmark.SameBin(p.Landmark().Hash) })
}

// strongest returns the pairs of a variant of so many samples that are indexed, in their order: those whose weaker peak
// has the most power, because it remains when another sound is played too. Each second of the variant has its own
// share, because perhaps only a part of the clip is played.
func strongest(pairs []landmark.Pair, samples int) (all []landmark.Pair) {
	frames := samples/spectrum.Hop + 1
	seconds := float64(frames*spectrum.Hop) / RateHz
	parts := max(1, int(seconds))
	share := int(math.Ceil(rootLandmarks * math.Sqrt(seconds) / float64(parts)))
	for i := range parts {
		n := 0
		for n < len(pairs) && pairs[n].First.Frame*parts < (i+1)*frames {
			n++
		}
		all = append(all, loudest(pairs[:n], share)...)
		pairs = pairs[n:]
	}
	return all
}

// loudest returns the most pairs with the most power, in a new slice in their order.
func loudest(pairs []landmark.Pair, most int) []landmark.Pair {
	order := make([]int, len(pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(pairs[b].Power(), pairs[a].Power()) })
	order = order[:min(most, len(order))]
	slices.Sort(order)
	some := make([]landmark.Pair, len(order))
	for i, k := range order {
		some[i] = pairs[k]
	}
	return some
}

// late returns the pairs of a short clip's wave at another alignment of the frames, without those of its own alignment,
// because few of its landmarks are at both; none of a longer clip.
func late(wave []float32, own []landmark.Pair) []landmark.Pair {
	if len(wave) >= shortClip {
		return nil
	}
	there := map[landmark.Landmark]bool{}
	for _, p := range own {
		there[p.Landmark()] = true
	}
	pairs := changing(landmark.PairsOf(append(make([]float32, spectrum.Hop/2), wave...)))
	return slices.DeleteFunc(pairs, func(p landmark.Pair) bool {
		l := p.Landmark()
		return there[l] || there[landmark.Landmark{Hash: l.Hash, Frame: l.Frame - 1}]
	})
}
