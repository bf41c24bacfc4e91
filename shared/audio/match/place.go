package match

import (
	"math"

	"leasehold/shared/audio/spectrum"
	"leasehold/shared/audio/verify"
	"leasehold/shared/audio/vote"
)

// place is a finding that others may still explain.
type place struct {
	clip        int
	begin       int     // sample of the episode; perhaps negative
	length      int     // samples of the whole clip at its speed
	first, last int     // samples of the episode that are found
	evidence    float64 // to choose by, among places of one clip
	score       float64
	coverage    float64
	speed       float64
	how         How
}

const (
	// minCoverage of a finding by waveform: a shared stretch of a tune is not the tune.
	minCoverage = 0.6
	// A place has minDensity of its variant's landmarks, in minSpread of its eighths, or
	// they say nothing.
	minDensity = 0.15
	minSpread  = 0.6
	// allDense is a share of landmarks that only the clip itself has, or the same
	// notes played again.
	allDense = 0.5
)

// judge decides a hit with what verification says of it. Where the landmarks say
// something, their votes and the waveform's deviations add up, like two independent
// measurements; each vote beyond chance counts as half a deviation.
func (s *search) judge(clip int, h vote.Hit, r verify.Result) (place, bool) {
	density, votes := s.density(h)
	dense := votes > 0
	sure := func(z float64) bool { return verify.Score(z) >= s.options.Threshold }
	score, z := verify.Score(math.Hypot(r.Z, votes)), r.Z
	switch {
	case score < s.options.Threshold:
		return place{}, false
	case r.Coverage >= minCoverage:
	case density >= minDensity && r.Coverage >= .5 && sure(z):
	case dense && h.Pace == 0 && (sure(z) || density >= allDense):
	case dense && h.Pace != 0 && sure(votes):
		return s.byLandmarks(clip, h, verify.Score(votes)), true
	default:
		return place{}, false
	}
	return place{
		clip: clip, begin: r.Begin, length: r.Samples, first: r.First, last: r.Last,
		evidence: evidence(r), score: score, coverage: r.Coverage, speed: r.Speed, how: ByWaveform,
	}, true
}

// density is a hit's share of its variant's landmarks; and, if they are many and all
// over the variant, votes is what they are worth in standard deviations, else 0.
func (s *search) density(h vote.Hit) (density, votes float64) {
	v := s.index.Variants()[h.Variant]
	density = float64(h.Votes) / float64(max(1, v.Postings))
	if density >= minDensity && h.Spread >= minSpread {
		votes = max(0, float64(h.Votes)-vote.Least(v)) / 2
	}
	return density, votes
}

// evidence is the sum of the blocks' deviations: the whole of a loop weighs more than
// the same loop a beat later, though the sum of its curves stands out less.
func evidence(r verify.Result) float64 {
	sum := 0.0
	for _, b := range r.Blocks {
		sum += b.Z
	}
	return sum
}

// byLandmarks is a place whose tempo or pitch was changed, so that no waveform fits.
func (s *search) byLandmarks(clip int, h vote.Hit, score float64) place {
	v := s.index.Variants()[h.Variant]
	length := v.Frames * spectrum.Hop * 1000 / (1000 + h.Pace)
	begin := int(h.Begin * spectrum.Hop)
	return place{
		clip: clip, begin: begin, length: length, first: begin, last: begin + length, evidence: float64(h.Votes) / 2, score: score,
		coverage: h.Spread, speed: float64(s.index.Samples(clip)) / float64(length), how: ByLandmarks,
	}
}
