package match

import (
	"context"

	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/verify"
)

const (
	// shortScore is the least score of a clip that sounds for less than a second: a thump or a beep
	// has so few independent values that others reach the default threshold by chance. In three
	// hours of speech and music without clips, one drum matched 80 times an hour, between 0.60 and
	// 0.78. A clip 6 dB louder than what is under it has 0.89 (docs/benchmarks.md, Constants of the
	// search).
	shortScore = 0.85
	// monotonous: if so many matches of a clip fill half of a window, they are dropped, because a
	// tone that goes on matches the clip everywhere, and no offset is better than the next.
	monotonous = 4
)

// plain finds the clips that have too few landmarks, by plain correlation (exact.Stream). It only
// decides which of the matches count.
type plain struct {
	options Options
	clips   *index.PlainClips
	stream  *exact.Stream
}

// newPlain returns nil, without an error, if the index has no such clips.
func newPlain(x *index.Index, o Options) (*plain, error) {
	clips, err := x.PlainClips()
	if err != nil || len(clips.Numbers) == 0 {
		return nil, err
	}
	p := &plain{options: o, clips: clips}
	p.stream = clips.Set.NewStream(exact.Options{Threshold: o.Threshold}, p.least)
	return p, nil
}

// least is the least score of clip i of the plain ones, which depends on how long it sounds.
func (p *plain) least(i int) float64 {
	if p.clips.Sounding[i] < RateHz {
		return max(p.options.Threshold, shortScore)
	}
	return p.options.Threshold
}

// advance searches a sound that can be read up to the sample end.
func (p *plain) advance(ctx context.Context, sound verify.Source, end int) (places []place, err error) {
	err = p.stream.Advance(ctx, sound, end, func(w exact.Window) { places = append(places, p.places(w)...) })
	return places, err
}

// close searches the rest of a sound that ends at the sample end.
func (p *plain) close(ctx context.Context, sound verify.Source, end int) (places []place, err error) {
	err = p.stream.Close(ctx, sound, end, func(w exact.Window) { places = append(places, p.places(w)...) })
	return places, err
}

// places returns the matches in a window that count: those with enough score and coverage; none
// if the clip is monotonous there: if there are so many that they fill half of the window, the
// clip fits everywhere, as a steady tone does.
func (p *plain) places(w exact.Window) (places []place) {
	clip, least, filled := p.clips.Numbers[w.Clip], p.least(w.Clip), 0
	for _, m := range w.Matches {
		if m.Score < least || m.Coverage < p.options.MinCoverage {
			continue
		}
		filled += m.Length
		places = append(places, place{
			clip: clip, begin: m.Offset, length: m.Length, first: m.Offset, last: m.Offset + m.Length,
			evidence: plainEvidence(m), score: m.Score, coverage: m.Coverage, speed: 1, how: ByExact,
		})
	}
	if len(places) >= monotonous && filled >= (w.To-w.From)/2 {
		return nil
	}
	return places
}

// plainEvidence is evidence for a match by plain correlation, all of whose blocks fit as well as the
// whole. So a match of the whole clip is surer than the part of it whose landmarks agree.
func plainEvidence(m exact.Match) float64 {
	return verify.Z(m.Score) * float64(m.Length) / verify.BlockSamples
}
