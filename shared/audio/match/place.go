package match

import (
	"leasehold/shared/audio/spectrum"
	"leasehold/shared/audio/verify"
	"leasehold/shared/audio/vote"
)

// place is a finding that others may still explain.
type place struct {
	clip        int
	begin       int // sample of the episode; perhaps negative
	length      int // samples of the whole clip at its speed
	first, last int // samples of the episode that are found
	z           float64
	score       float64
	coverage    float64
	speed       float64
	how         How
}

// judge decides a hit with what verification says of it.
func (s *search) judge(clip int, h vote.Hit, r verify.Result) (place, bool) {
	if r.Score >= s.options.Threshold && r.Coverage >= minCoverage {
		return place{
			clip: clip, begin: r.Begin, length: r.Samples, first: r.First, last: r.Last,
			z: r.Z, score: r.Score, coverage: r.Coverage, speed: r.Speed, how: ByWaveform,
		}, true
	}
	return s.byLandmarks(clip, h)
}

// byLandmarks decides a hit on its votes alone: they must be many, and all over the
// clip. Each vote beyond what chance gives counts as half a standard deviation.
func (s *search) byLandmarks(clip int, h vote.Hit) (place, bool) {
	v := s.index.Variants()[h.Variant]
	z := (float64(h.Votes) - leastVotes - float64(v.Postings)/votesPer) / 2
	score := verify.Score(z)
	if score < s.options.Threshold || h.Spread < .75 {
		return place{}, false
	}
	length := v.Frames * spectrum.Hop * 1000 / (1000 + h.Pace)
	begin := int(h.Begin * spectrum.Hop)
	return place{
		clip: clip, begin: begin, length: length, first: begin, last: begin + length, z: z, score: score,
		coverage: h.Spread, speed: float64(s.index.Samples(clip)) / float64(length), how: ByLandmarks,
	}, true
}
