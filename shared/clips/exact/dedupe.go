package exact

import (
	"cmp"
	"slices"
	"sort"

	"leasehold/shared/clips/spectrum"
)

// maxMatches bounds the matches of one clip in one episode; the best are reported. A clip played
// more often is a test tone.
const maxMatches = 10000

// dedupe chooses from the candidates, best first, those that the places chosen before do not
// explain, and returns them by position; nil if none is significant, at most maxMatches. The FFT
// is the scanner's.
func (t *template) dedupe(f *spectrum.FFT, threshold float64) []place {
	floor := t.places.floor()
	open := slices.DeleteFunc(t.places.places, func(p place) bool { return p.score < floor })
	if len(open) == 0 {
		return nil
	}
	slices.SortStableFunc(open, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	self := t.selfCorrelation(f)
	var chosen []place // by position
	for _, p := range open {
		if len(chosen) == maxMatches {
			break
		}
		if i, ok := t.unexplained(p, chosen, self, threshold); ok {
			chosen = slices.Insert(chosen, i, p)
		}
	}
	return chosen
}

// unexplained reports whether p reaches the threshold without the contribution of the chosen
// places within a clip's length of it, and returns its index among them, which are ordered by
// position. self is the clip's correlation with itself. A place nearer than closest to a chosen
// one is explained.
func (t *template) unexplained(p place, chosen []place, self []float32, threshold float64) (int, bool) {
	n := len(t.wave)
	index := sort.Search(len(chosen), func(i int) bool { return chosen[i].at >= p.at })
	rest := p.product
	first := sort.Search(len(chosen), func(i int) bool { return chosen[i].at > p.at-n })
	for _, c := range chosen[first:] {
		d := max(c.at-p.at, p.at-c.at)
		if c.at > p.at && d >= n {
			break
		}
		if d <= t.closest() {
			return 0, false
		}
		rest -= float64(c.product * float64(self[d]))
	}
	// The product divided by the score is the window's own size, with the sign of the place.
	return index, rest/(p.product/p.score) >= threshold
}
