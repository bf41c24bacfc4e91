package match

import (
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

// judge decides a hit with what verification says of it.
func (s *search) judge(clip int, h vote.Hit, r verify.Result) (place, bool) {
	v := s.index.Variants()[h.Variant]
	density := float64(h.Votes) / float64(max(1, v.Postings))
	dense := density >= minDensity && h.Spread >= minSpread
	byVotes := verify.Score((float64(h.Votes) - vote.Least(v)) / 2)
	enough := byVotes >= s.options.Threshold
	sure, whole := r.Score >= s.options.Threshold, r.Coverage >= minCoverage
	switch {
	case sure && (whole || dense && h.Pace == 0 || density >= minDensity && r.Coverage >= .5):
	case dense && enough && (whole || density >= allDense && h.Pace == 0):
		// A few tones alike say little by their waveform, but much by their landmarks.
		r.Score = byVotes
	case dense && enough && h.Pace != 0:
		return s.byLandmarks(clip, h, byVotes), true
	default:
		return place{}, false
	}
	return place{
		clip: clip, begin: r.Begin, length: r.Samples, first: r.First, last: r.Last,
		evidence: evidence(r), score: r.Score, coverage: r.Coverage, speed: r.Speed, how: ByWaveform,
	}, true
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
// Each vote beyond chance counts as half a standard deviation.
func (s *search) byLandmarks(clip int, h vote.Hit, score float64) place {
	v := s.index.Variants()[h.Variant]
	length := v.Frames * spectrum.Hop * 1000 / (1000 + h.Pace)
	begin := int(h.Begin * spectrum.Hop)
	return place{
		clip: clip, begin: begin, length: length, first: begin, last: begin + length, evidence: float64(h.Votes) / 2, score: score,
		coverage: h.Spread, speed: float64(s.index.Samples(clip)) / float64(length), how: ByLandmarks,
	}
}
