package match

import (
	"context"

	"leasehold/shared/audio/exact"
	"leasehold/shared/audio/index"
	"leasehold/shared/audio/verify"
)

const (
	// plainWindow is how many samples are searched at a time: 16 s.
	plainWindow = 1 << 17
	// shortScore is the least score of a clip below a second: a thump or a beep has so few
	// independent values that others reach the default threshold by chance. In three hours of
	// speech and music without clips, one drum matched 80 times an hour, between 0.60 and 0.78.
	shortScore = 0.8
	// monotonous: if so many matches of a clip fill half of a window, they are dropped, because a
	// tone that goes on matches the clip everywhere, and no offset is better than the next.
	monotonous = 4
)

// plain finds the clips that have too few landmarks, by plain correlation. Windows begin at
// multiples of plainWindow, so that findings do not depend on the pieces in which the episode
// comes.
type plain struct {
	index   *index.Index
	options Options
	clips   []exact.Clip
	coarse  *coarse
	finder  exact.Finder
	numbers []int // of the clips, in the index
	longest int   // samples
	done    int   // sample before which all beginnings are known
}

// newPlain returns nil if the index has no such clips.
func newPlain(x *index.Index, o Options) *plain {
	p := &plain{index: x, options: o}
	var waves [][]float32
	for i := range x.Clips() {
		if !x.Plain(i) {
			continue
		}
		load := func(context.Context) ([]float32, error) { return x.Wave(i), nil }
		p.clips = append(p.clips, exact.Clip{ID: x.ID(i), Load: load})
		p.numbers = append(p.numbers, i)
		waves = append(waves, x.Wave(i))
		p.longest = max(p.longest, x.Samples(i))
	}
	if len(p.clips) == 0 {
		return nil
	}
	p.coarse = newCoarse(waves, o.Threshold)
	return p
}

// advance searches all windows that are complete in a sound that can be read up to a sample.
func (p *plain) advance(ctx context.Context, sound verify.Source, end int) (places []place, err error) {
	for p.done+plainWindow+2*p.longest <= end {
		found, err := p.search(ctx, sound, p.done+plainWindow, p.done+plainWindow+2*p.longest)
		if err != nil {
			return nil, err
		}
		places = append(places, found...)
	}
	return places, nil
}

// close searches the rest of a sound that ends at a sample.
func (p *plain) close(ctx context.Context, sound verify.Source, end int) ([]place, error) {
	places, err := p.advance(ctx, sound, end)
	if err != nil {
		return nil, err
	}
	last, err := p.search(ctx, sound, end+1, end)
	return append(places, last...), err
}

// search finds the places that begin from done to before the sample before, in a sound that ends
// at the sample end, and sets done to before.
func (p *plain) search(ctx context.Context, sound verify.Source, before, end int) (places []place, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	clips, numbers, err := p.present(sound, before, end)
	if err != nil {
		return nil, err
	}
	from := max(0, p.done-p.longest)
	s := section{sound, from, end - from}
	next := 0
	err = p.finder.Find(ctx, s, clips, exact.Options{Threshold: p.options.Threshold}, func(r exact.Result) error {
		clip := numbers[next]
		next++
		own, filled := len(places), 0
		for _, m := range r.Matches { // a clip with a fault has none
			if begin := from + m.Offset; begin >= p.done && begin < before && m.Score >= plainThreshold(p.index, clip, p.options) && m.Coverage >= p.options.MinCoverage {
				filled += m.Length
				places = append(places, place{
					clip: clip, begin: begin, length: m.Length, first: begin, last: begin + m.Length,
					evidence: m.Score, score: m.Score, coverage: m.Coverage, speed: 1, how: ByExact,
				})
			}
		}
		if len(places)-own >= monotonous && filled >= (min(before, end)-p.done)/2 {
			places = places[:own]
		}
		return nil
	})
	p.done = before
	return places, err
}

// present returns the clips that may begin from done to before a sample.
func (p *plain) present(sound verify.Source, before, end int) (clips []exact.Clip, numbers []int, err error) {
	may, err := p.coarse.search(sound, p.done-p.longest/2, before, end)
	for i, m := range may {
		if m {
			clips, numbers = append(clips, p.clips[i]), append(numbers, p.numbers[i])
		}
	}
	return clips, numbers, err
}

// plainThreshold is the least score of a clip that is searched by plain correlation.
func plainThreshold(x *index.Index, clip int, o Options) float64 {
	if x.Samples(clip) < RateHz {
		return max(o.Threshold, shortScore)
	}
	return o.Threshold
}

// section is a part of a sound, as an episode of its own.
type section struct {
	sound     verify.Source
	from, len int
}

func (s section) Len() int { return s.len }

func (s section) ReadAt(dst []float32, offset int) error { return s.sound.ReadAt(dst, s.from+offset) }
