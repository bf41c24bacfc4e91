package match

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/vote"
	"leasehold/shared/fault"
)

// Explanation is the result of each step of the search for a clip at a place, up to the step
// that decided.
type Explanation struct {
	Attempt        // the place that came nearest to being found
	Clip           string
	Speed          float64 // of the variant that fares best
	Landmarks      int     // of that variant
	Least          int     // votes that a candidate needs
	Threshold      float64
	minCoverage    float64
	Exact          float64 // the best plain correlation, of a clip with few landmarks
	Found          bool
	how            How      // of the finding at the place; "" if there is none
	Elsewhere      int      // sample at which the clip is found to begin, if it is not found at the place but around it; else -1
	Reasons        []string // one line for each step of the search, for people
	Conclusion     []string // whether it is found, and the time to give instead
	plain          bool
	tonal          bool // a plain clip has enough landmarks, but is made of a few tones or of held ones
	plainThreshold float64
	Sound          []float32 // the part of the episode around the place
	From           int       // sample of the episode at which Sound begins
}

// shown is how much of the episode is shown before and after the clip.
const shown = 4 * RateHz

// Explain searches an episode for the first clip of an index, as Find does, until all places within
// a second of the sample at are decided, and returns the reasons. The index should hold that clip
// alone. If the episode ends before the sample, it fails with fault.ErrInvalid. If the Reader fails
// behind the sample, the Explanation covers the episode up to there, and the error is the Reader's.
func Explain(ctx context.Context, x *index.Index, episode Reader, at int, o Options) (Explanation, error) {
	e := Explanation{Clip: x.ID(0), From: max(0, at-shown) / spectrum.Hop * spectrum.Hop, Elsewhere: -1}
	seen := observer{at: at, clip: x.Samples(0), explanation: &e}
	m, err := New(x, o, seen.finding)
	if err != nil {
		return e, err
	}
	m.core.search.trace = seen.attempt
	m.core.deduper.trace = seen.repeated
	readErr, err := m.explain(ctx, episode, at, &e)
	if err != nil {
		return e, err
	}
	e.Attempt = seen.best(Attempt{
		Hit:     vote.Hit{Variant: x.Own(0)},
		Result:  verify.Result{Begin: at, Speed: 1},
		Outcome: FewVotes,
		begin:   at,
	})
	e.setLimits(m, x)
	if e.plain {
		if err := e.correlate(x, at); err != nil {
			return e, err
		}
		if found := seen.correlated; found.Score > e.Exact {
			e.Exact, e.Result.Begin = found.Score, found.Offset
		}
	}
	e.reason()
	return e, readErr
}

// observer notes what a search for one clip tries and finds near a sample of the episode.
type observer struct {
	at, clip    int // the sample; the samples of the clip
	explanation *Explanation
	attempts    []Attempt
	correlated  Finding // the best one by plain correlation
}

// near reports whether a clip that begins at a sample is within a second of the place. A Finding
// does not begin before the episode, so neither does the place.
func (o *observer) near(begin int) bool { return abs(max(0, begin)-max(0, o.at)) <= RateHz }

// finding notes a finding. One by landmarks tells how the clip is found, even if plain correlation
// finds it too.
func (o *observer) finding(f Finding) error {
	e := o.explanation
	switch {
	case !o.near(f.Offset):
		if f.Offset < o.at && o.at < f.Offset+o.clip+RateHz {
			e.Elsewhere = f.Offset
		}
	case f.How != ByExact:
		e.Found, e.how = true, f.How
	default:
		e.Found, e.how = true, cmp.Or(e.how, ByExact)
		if f.Score > o.correlated.Score {
			o.correlated = f
		}
	}
	return nil
}

func (o *observer) attempt(a Attempt) {
	if o.near(a.begin) {
		o.attempts = append(o.attempts, a)
	}
}

// repeated notes that the deduper dropped a place, because a better one of the clip is next to it.
// Attempts are by landmarks only, so a place by plain correlation changes nothing.
func (o *observer) repeated(p place) {
	for i := range o.attempts {
		if a := &o.attempts[i]; a.Outcome == Found && a.begin == p.begin && p.how != ByExact {
			a.Outcome = Repeat
		}
	}
}

// best returns the attempt that came nearest to being found; none if there was no better one.
func (o *observer) best(none Attempt) Attempt {
	best := none
	for _, a := range o.attempts {
		if a.better(best) {
			best = a
			best.Result.Begin = a.begin // a place whose waveform was not compared has no other result
		}
	}
	return best
}

// setLimits sets what an attempt must reach to be found, for its variant of the clip.
func (e *Explanation) setLimits(m *Matcher, x *index.Index) {
	e.Threshold, e.minCoverage = m.core.search.options.Threshold, m.core.search.options.MinCoverage
	v := x.Variants()[e.Hit.Variant]
	e.Speed, e.Landmarks, e.Least = 1+float64(v.Speed)/1000, v.Postings, int(math.Ceil(vote.Least(v)))
	e.tonal = x.Variants()[x.Own(0)].Postings >= index.FewLandmarks
	e.plain = x.Plain(0)
	if e.plain {
		e.plainThreshold = m.core.plain.least(0)
	}
}

// explain reads the episode until all places that may overlap a clip at the sample at are decided,
// and keeps the part of the episode around it in e.Sound. broken is the Reader's error if it fails
// behind that sample.
func (m *Matcher) explain(ctx context.Context, episode Reader, at int, e *Explanation) (broken, err error) {
	length := m.core.search.index.Samples(0) * 11 / 10
	buf, position := make([]float32, 1<<14), 0
	for m.core.decided() < at+RateHz+3*length {
		n, readErr := episode.Read(buf)
		if low, high := max(0, e.From-position), min(n, at+length+shown-position); low < high {
			e.Sound = append(e.Sound, buf[low:high]...)
		}
		position += n
		if err := m.Push(ctx, buf[:n]); err != nil {
			return nil, err
		}
		switch {
		case errors.Is(readErr, io.EOF) && position <= at:
			return nil, fmt.Errorf("it ends before %s: %w", clock(at), fault.ErrInvalid)
		case errors.Is(readErr, io.EOF):
			return nil, m.Close(ctx)
		case readErr != nil && position <= at:
			return nil, readErr
		case readErr != nil:
			return readErr, m.Close(ctx)
		}
	}
	return nil, m.core.reportBefore(math.MaxInt / 2)
}

// correlate finds the best plain correlation within a second of a sample, and keeps its score in
// Exact; it stays 0 if none reaches 0.05.
func (e *Explanation) correlate(x *index.Index, at int) error {
	return exact.Find(context.Background(), exact.Samples(e.Sound), []exact.Clip{x.Exact(0)}, exact.Options{Threshold: .05}, func(r exact.Result) error {
		for _, m := range r.Matches {
			if abs(e.From+m.Offset-at) <= RateHz && m.Score > e.Exact {
				e.Exact = m.Score
				e.Result.Begin = e.From + m.Offset
			}
		}
		return nil
	})
}

// better reports whether an attempt came nearer to being found than another: a found one does,
// else the one with more votes and deviations; 20 votes weigh as much as one deviation.
func (a Attempt) better(than Attempt) bool {
	if (a.Outcome == Found) != (than.Outcome == Found) {
		return a.Outcome == Found
	}
	return float64(a.Hit.Votes)/20+a.Result.Z > float64(than.Hit.Votes)/20+than.Result.Z
}
