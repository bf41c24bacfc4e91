package match

import (
	"context"

	"leasehold/shared/audio/exact"
	"leasehold/shared/audio/index"
	"leasehold/shared/audio/verify"
)

const (
	// shortScore is the least score of a clip that sounds for less than a second: a thump or a beep has so few
	// independent values that others reach the default threshold by chance. In three hours of
	// speech and music without clips, one drum matched 80 times an hour, between 0.60 and 0.78. A clip
	// that is 6 dB louder than what is under it has 0.89 (docs/benchmarks.md, Constants of the search).
	shortScore = 0.85
	// A clip sounds for as long as the shortest part that has soundShare of its energy. The recording may
	// last longer: a drum that is recorded with its echo, or with silence behind it, is as like another
	// drum as one without (docs/benchmarks.md, Thumps with a tail).
	soundShare = 0.9
	// monotonous: if so many matches of a clip fill half of a window, they are dropped, because a
	// tone that goes on matches the clip everywhere, and no offset is better than the next.
	monotonous = 4
)

// plain finds the clips that have too few landmarks, by plain correlation (exact.Stream). It only
// decides which clips those are, and which of the matches count.
type plain struct {
	options Options
	stream  *exact.Stream
	numbers []int     // of the clips, in the index
	least   []float64 // score of each
}

// newPlain returns nil, without an error, if the index has no such clips. The error is that of
// exact.NewStream.
func newPlain(x *index.Index, o Options) (*plain, error) {
	p := &plain{options: o}
	var clips []exact.Clip
	for i := range x.Clips() {
		if x.Plain(i) {
			c := exactClip(x, i)
			c.Least = plainThreshold(x.Wave(i), o)
			clips, p.numbers, p.least = append(clips, c), append(p.numbers, i), append(p.least, c.Least)
		}
	}
	if len(clips) == 0 {
		return nil, nil
	}
	var err error
	p.stream, err = exact.NewStream(context.Background(), clips, exact.Options{Threshold: o.Threshold})
	return p, err
}

// exactClip is a clip of the index; it is always there.
func exactClip(x *index.Index, clip int) exact.Clip {
	return exact.Clip{ID: x.ID(clip), Load: func(context.Context) ([]float32, error) { return x.Wave(clip), nil }}
}

// advance searches a sound that can be read up to the sample end. The error is that of the search.
func (p *plain) advance(ctx context.Context, sound verify.Source, end int) (places []place, err error) {
	err = p.stream.Advance(ctx, sound, end, func(w exact.Window) { places = append(places, p.places(w)...) })
	return places, err
}

// close searches the rest of a sound that ends at the sample end. The error is that of the search.
func (p *plain) close(ctx context.Context, sound verify.Source, end int) (places []place, err error) {
	err = p.stream.Close(ctx, sound, end, func(w exact.Window) { places = append(places, p.places(w)...) })
	return places, err
}

// places returns the matches in a window that count: those with enough score and coverage; none
// if the clip is monotonous there: if there are so many that they fill half of the window, the
// clip fits everywhere, as a steady tone does.
func (p *plain) places(w exact.Window) (places []place) {
	clip, filled := p.numbers[w.Clip], 0
	for _, m := range w.Matches {
		if m.Score < p.least[w.Clip] || m.Coverage < p.options.MinCoverage {
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

// plainThreshold is the least score of a clip that is searched by plain correlation.
func plainThreshold(wave []float32, o Options) float64 {
	if sounding(wave) < RateHz {
		return max(o.Threshold, shortScore)
	}
	return o.Threshold
}

// sounding is the number of samples in the shortest part of a clip that has soundShare of its energy.
func sounding(wave []float32) int {
	all := 0.0
	for _, v := range wave {
		all += float64(float64(v) * float64(v))
	}
	shortest, first, part := len(wave), 0, 0.0
	for i, v := range wave {
		part += float64(float64(v) * float64(v))
		for first <= i && part >= soundShare*all {
			shortest = min(shortest, i+1-first)
			part -= float64(float64(wave[first]) * float64(wave[first]))
			first++
		}
	}
	return shortest
}
