package match

import (
	"context"
	"fmt"
	"math"
	"slices"

	"leasehold/shared/audio/exact"
	"leasehold/shared/audio/index"
	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/spectrum"
	"leasehold/shared/audio/verify"
	"leasehold/shared/audio/vote"
)

// Explanation says how a clip fares at a place.
type Explanation struct {
	Clip      string
	Speed     float64 // of the variant that fares best
	Landmarks int     // of that variant
	Least     int     // votes that a candidate needs
	Hit       vote.Hit
	Result    verify.Result
	Threshold float64
	Score     float64 // of waveform and landmarks together
	Exact     float64 // the best plain correlation, of a clip with few landmarks
	Found     bool
	Reasons   []string // one step of the search each, for people
}

// Explain says how clip number i fares within a second of a sample of a sound, which is
// the episode or a part of it.
func Explain(x *index.Index, i int, sound []float32, at int, o Options) (Explanation, error) {
	o, err := o.check()
	if err != nil {
		return Explanation{}, err
	}
	s := newSearch(x, o)
	source := &window{samples: sound}
	all := landmark.Of(sound)
	var best Explanation
	for n, v := range x.Variants() {
		if v.Clip != i || x.Landmarks(i) < fewLandmarks && n != x.Own(i) {
			continue
		}
		h := s.nearest(n, all, at)
		begin := at
		if h.Votes > 0 {
			begin = int(h.Begin * spectrum.Hop)
		}
		r, err := s.verifier.Explain(n, begin, source)
		if err != nil {
			return best, err
		}
		_, found := s.judge(i, h, r)
		_, votes := s.density(h)
		e := Explanation{
			Clip: x.ID(i), Speed: 1 + float64(v.Speed)/1000, Landmarks: v.Postings, Least: int(vote.Least(v) + .999),
			Hit: h, Result: r, Threshold: o.Threshold, Score: verify.Score(math.Hypot(r.Z, votes)), Found: found && float64(h.Votes) >= vote.Least(v),
		}
		if best.Clip == "" || e.better(best) {
			best = e
		}
	}
	if x.Landmarks(i) < fewLandmarks {
		if err := best.correlate(x, i, source, at); err != nil {
			return best, err
		}
	}
	best.reason()
	return best, nil
}

// correlate does for one clip and a second around a sample what plain does.
func (e *Explanation) correlate(x *index.Index, i int, sound *window, at int) error {
	clip := exact.Clip{ID: e.Clip, Load: func(context.Context) ([]float32, error) { return x.Wave(i), nil }}
	least := exact.Options{Threshold: .05}
	e.Found = false
	return exact.Find(context.Background(), section{sound, 0, sound.end()}, []exact.Clip{clip}, least, func(r exact.Result) error {
		for _, m := range r.Matches {
			if abs(m.Offset-at) <= RateHz && m.Score > e.Exact {
				e.Exact, e.Found = m.Score, m.Score >= e.Threshold
				e.Result.Begin = m.Offset
			}
		}
		return nil
	})
}

// nearest is the best hit of a variant within a second of a sample.
func (s *search) nearest(variant int, all []landmark.Landmark, at int) vote.Hit {
	var best vote.Hit
	const step = 32 // frames
	var candidates []vote.Candidate
	for d := -RateHz; d <= RateHz; d += step * spectrum.Hop {
		candidates = append(candidates, vote.Candidate{Variant: variant, Frame: (at + d) / spectrum.Hop})
	}
	s.refiner.Refine(candidates, all, func(h vote.Hit) {
		if h.Votes > best.Votes || best.Votes == 0 {
			best = h
		}
	})
	best.Marks = slices.Clone(best.Marks)
	return best
}

func (e Explanation) better(than Explanation) bool {
	if e.Found != than.Found {
		return e.Found
	}
	return float64(e.Hit.Votes)/20+e.Result.Z > float64(than.Hit.Votes)/20+than.Result.Z
}

// reason fills in the steps.
func (e *Explanation) reason() {
	say := func(format string, args ...any) { e.Reasons = append(e.Reasons, fmt.Sprintf(format, args...)) }
	say("at %.0f %% of speed the clip has %d landmarks", 100*e.Speed, e.Landmarks)
	if e.Landmarks < fewLandmarks {
		say("fewer than %d: it is looked for by plain correlation, at its own speed", fewLandmarks)
		say("the best correlation within a second, with most of the clip there, is %.3f; %.3f is the threshold", e.Exact, e.Threshold)
		e.conclude(say)
		return
	}
	switch {
	case e.Hit.Votes < e.Least:
		say("%d of them are heard at one place, and %d are needed: the place is not looked at", e.Hit.Votes, e.Least)
	default:
		say("%d of them are heard at one place, in %.0f %% of its eighths; %d make a candidate", e.Hit.Votes, 100*e.Hit.Spread, e.Least)
	}
	if e.Hit.Pace != 0 {
		say("they agree at a tempo that differs by %.1f %%: tempo or pitch was changed", float64(e.Hit.Pace)/10)
	}
	say("the waveform's peak is %.1f standard deviations high; with the landmarks that is a score of %.3f, and %.3f is the threshold",
		e.Result.Z, e.Score, e.Threshold)
	say("%.0f %% of its %d blocks match on their own; %.0f %% are needed, if the landmarks are few", 100*e.Result.Coverage, len(e.Result.Blocks), 100*minCoverage)
	e.conclude(say)
}

func (e *Explanation) conclude(say func(string, ...any)) {
	if e.Found {
		say("so it is found")
	} else {
		say("so it is not found")
	}
}
