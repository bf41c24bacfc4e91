package match

import (
	"math"

	"leasehold/shared/clips/spectrum"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/vote"
)

// place is a finding, unless another place turns out to explain it.
type place struct {
	clip        int
	begin       int     // sample of the episode; perhaps negative
	length      int     // samples of the whole clip at its speed
	first, last int     // samples of the episode that are found
	evidence    float64 // the deduper prefers the place of a clip with the most
	score       float64
	coverage    float64
	speed       float64
	how         How
}

const (
	// mostly is the coverage at which a waveform is the clip's, even if its score is helped by
	// landmarks. Below, a part must be sure by itself: a shared stretch of a tune is not the tune.
	mostly = 0.6
	// minPart is how many blocks of a part must match on their own, 1 s, and runShare their share
	// of it: a tune that shares its drums matches here and there.
	minPart  = RateHz/verify.BlockSamples + 1
	runShare = 0.75
	// A place's landmarks count only if they are at least minDensity of its variant's landmarks and
	// lie in at least minSpread of its eighths: five, because half of a clip may be shared with
	// others. Other values of all these constants: docs/benchmarks.md, Constants of the search.
	minDensity = 0.15
	minSpread  = 0.6
	// At another tempo or pitch fewer landmarks stay, and changed sound moves the rest by a frame or a bin.
	// There they also count from pacedDensity on, if they lie in pacedSpread of the eighths, all but one: those of other
	// music that shares a loop do not (docs/benchmarks.md, Other tempo and pitch).
	pacedDensity = 0.05
	pacedSpread  = 0.875
	// If less than nearlyAll of the blocks match, then at least traceDensity of the landmarks must agree, as
	// they do where a part of the clip is played: other music with the same drums has their waveform and not
	// the landmarks of the tune. On the development set this rejects a third of the findings in another cut
	// of the same music, and 1 % of the right ones (docs/benchmarks.md, Few landmarks and other speeds).
	nearlyAll    = 0.875
	traceDensity = 0.05
	// At another speed than the clip's own (by more than ownSpeed: a clock is off by less than 0.1 %, and
	// the blocks of half a second tell the speed to 0.05 %), a place of at most fewBlocks matching blocks
	// loses speedsZ deviations, because chance has sixteen speeds to choose from. In clip-free hours the
	// number of such places falls by e for each 0.7 to 0.92 deviations (docs/benchmarks.md), and ln 16
	// times 0.92 is 2.6. With more than fewBlocks, chance does not reach the threshold at any speed.
	ownSpeed  = 0.002
	fewBlocks = 4
	speedsZ   = 2.5
)

// Outcome is the decision on a place that the search considered.
type Outcome string

// The outcomes, by the step that decided.
const (
	Found       Outcome = "found"
	FewVotes    Outcome = "few votes"    // too few landmarks agree
	Crowded     Outcome = "crowded"      // too many better places of the clip within half a minute
	Beside      Outcome = "beside"       // within a tenth of a second of a better place
	Weak        Outcome = "weak"         // the score is below the threshold
	LittleOfIt  Outcome = "little"       // too small a part of the clip is there
	NoTrace     Outcome = "no trace"     // a part matches, without its landmarks
	Repeat      Outcome = "repeat"       // another place explains it, since the clip repeats itself
	NotVerified Outcome = "not verified" // the gate: three blocks do not correlate
)

// judge decides a hit by its landmarks and the result of its verification, and returns the place if
// the outcome is Found. If the landmarks count (see density), their votes and the waveform's
// deviations add up like two independent measurements; each vote beyond chance counts as half a
// deviation. If one of the two is sure alone, the landmarks also tell how much of the clip is
// there. The first case that applies decides: landmarks alone if tempo or pitch was changed, then
// the score, then the coverage, then the trace of landmarks.
func (s *search) judge(clip int, h vote.Hit, r verify.Result) (place, Outcome) {
	density, votes := s.density(h)
	z := deviations(r)
	sure := func(z float64) bool { return verify.Score(z) >= s.options.Threshold }
	score := s.score(h, r)
	coverage := r.Coverage
	dense := votes > 0 && h.Fine() && (sure(z) || sure(votes))
	if dense {
		coverage = max(coverage, h.Spread)
	}
	part := sure(z) && r.Run >= minPart && r.RunCoverage >= runShare
	switch {
	case votes > 0 && !h.Fine() && sure(votes) && r.Coverage < mostly:
		return s.byLandmarks(clip, h, verify.Score(votes)), Found
	case score < s.options.Threshold && r.Blocks == nil:
		return place{}, NotVerified
	case score < s.options.Threshold:
		return place{}, Weak
	case coverage < s.options.MinCoverage, coverage < mostly && !part && !dense:
		return place{}, LittleOfIt
	case r.Coverage < nearlyAll && density < traceDensity:
		return place{}, NoTrace
	}
	return place{
		clip: clip, begin: r.Begin, length: r.Samples, first: r.First, last: r.Last,
		evidence: evidence(r), score: score, coverage: coverage, speed: r.Speed, how: ByWaveform,
	}, Found
}

// score is the score of the waveform and the landmarks together.
func (s *search) score(h vote.Hit, r verify.Result) float64 {
	_, votes := s.density(h)
	return verify.Score(math.Hypot(deviations(r), votes))
}

// deviations is a result's Z, less what chance gains by the number of speeds.
func deviations(r verify.Result) float64 {
	if r.Run <= fewBlocks && math.Abs(r.Speed-1) > ownSpeed {
		return max(0, r.Z-speedsZ)
	}
	return r.Z
}

// density returns a hit's share of its variant's landmarks. If they are many and spread over the
// variant, votes is their worth in standard deviations, else 0; at another tempo or pitch those that
// are spread over nearly all of it may be fewer. A variant without postings has share 0.
func (s *search) density(h vote.Hit) (density, votes float64) {
	v := s.index.Variants()[h.Variant]
	density = float64(h.Votes) / float64(max(1, v.Postings))
	if density >= minDensity && h.Spread >= minSpread || density >= pacedDensity && h.Spread >= pacedSpread && !h.Fine() {
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

// byLandmarks returns the place of a hit whose tempo or pitch was changed, so that no waveform
// fits: its beginning and its length follow from the landmarks. Pace is never near -1000, because
// it is at most vote's largest pace.
func (s *search) byLandmarks(clip int, h vote.Hit, score float64) place {
	v := s.index.Variants()[h.Variant]
	length := v.Frames * spectrum.Hop * 1000 / (1000 + h.Pace)
	begin := beginOf(h)
	return place{
		clip: clip, begin: begin, length: length, first: begin, last: begin + length, evidence: float64(h.Votes) / 2, score: score,
		coverage: h.Spread, speed: float64(s.index.Samples(clip)) / float64(length), how: ByLandmarks,
	}
}
