package match

import (
	"context"

	"leasehold/shared/audio/exact"
	"leasehold/shared/audio/index"
)

const (
	// fewLandmarks: a clip with fewer is looked for by plain correlation. It is so for
	// a pure tone, a thump, and for some of a third of a second; it costs 0.5 CPU
	// seconds for each such clip and hour.
	fewLandmarks = 15
	// plainWindow is how many samples are searched at a time: 131 s.
	plainWindow = 1 << 20
)

// plain finds the clips that landmarks cannot carry. Windows begin at multiples of
// plainWindow, whatever the pieces in which the episode comes.
type plain struct {
	index   *index.Index
	options Options
	clips   []exact.Clip
	numbers []int // of the clips, in the index
	longest int   // samples
	sound   window
	done    int // sample before which all beginnings are known
}

// newPlain returns nil if the index has no such clips.
func newPlain(x *index.Index, o Options) *plain {
	p := &plain{index: x, options: o}
	for i := range x.Clips() {
		if x.Landmarks(i) >= fewLandmarks {
			continue
		}
		load := func(context.Context) ([]float32, error) { return x.Wave(i), nil }
		p.clips = append(p.clips, exact.Clip{ID: x.ID(i), Load: load})
		p.numbers = append(p.numbers, i)
		p.longest = max(p.longest, x.Samples(i))
	}
	if len(p.clips) == 0 {
		return nil
	}
	return p
}

// push takes the next samples, and returns the places that they decide.
func (p *plain) push(ctx context.Context, samples []float32) (places []place, err error) {
	p.sound.push(samples)
	for p.done+plainWindow+2*p.longest <= p.sound.end() {
		found, err := p.search(ctx, p.done+plainWindow)
		if err != nil {
			return nil, err
		}
		places = append(places, found...)
		p.sound.drop(p.done - p.longest)
	}
	return places, nil
}

// close returns the places that are left.
func (p *plain) close(ctx context.Context) ([]place, error) {
	return p.search(ctx, p.sound.end()+1)
}

// search finds the places that begin from done to before a sample, which is then done.
func (p *plain) search(ctx context.Context, before int) (places []place, err error) {
	from := max(0, p.done-p.longest)
	s := section{&p.sound, from, min(p.sound.end(), before+2*p.longest) - from}
	next := 0
	err = exact.Find(ctx, s, p.clips, exact.Options{Threshold: p.options.Threshold}, func(r exact.Result) error {
		clip := p.numbers[next]
		next++
		for _, m := range r.Matches { // a clip with a fault has none
			if begin := from + m.Offset; begin >= p.done && begin < before {
				places = append(places, place{
					clip: clip, begin: begin, length: m.Length, first: begin, last: begin + m.Length,
					evidence: m.Score, score: m.Score, coverage: m.Coverage, speed: 1, how: ByExact,
				})
			}
		}
		return nil
	})
	p.done = before
	return places, err
}

// section is a part of a window, as an episode of its own.
type section struct {
	sound     *window
	from, len int
}

func (s section) Len() int { return s.len }

func (s section) ReadAt(dst []float32, offset int) error { return s.sound.ReadAt(dst, s.from+offset) }
