package match

import (
	"context"
	"math"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/vote"
)

// core is the search, independent of where the sound comes from: it takes peaks and emits
// findings.
type core struct {
	search  *search
	deduper *deduper
	report  *reporter
	plain   *plain // nil if no clip needs it
	pairs   landmark.Pairs
	sound   verify.Source
}

// newCore returns a search at the start of an episode, whose sound the caller sets. emit gets each
// finding.
func newCore(x *index.Index, o Options, emit func(Finding) error) (*core, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	p, err := newPlain(x, o)
	if err != nil {
		return nil, err
	}
	s := newSearch(x, o)
	return &core{search: s, deduper: newDeduper(x, s.verifier), report: newReporter(x, emit), plain: p}, nil
}

func (c *core) peak(p landmark.Peak) { c.pairs.Push(p, c.pair) }

func (c *core) pair(p landmark.Pair) { c.search.push(p.Landmark()) }

// due returns the frame at which the current stretch can be decided, because all landmarks that
// may belong to a clip in it are then known.
func (c *core) due() int { return c.search.counter.Start() + vote.Stretch + c.search.ahead() }

// decide decides all stretches for which the landmarks before a frame suffice. All of them must
// have been pushed.
func (c *core) decide(ctx context.Context, frame int) error {
	for frame >= c.due() {
		if err := c.advance(ctx, (frame+spectrum.Window/spectrum.Hop)*spectrum.Hop); err != nil {
			return err
		}
	}
	return nil
}

// close ends the episode after length samples and reports all findings that are left: it decides
// stretches until the longest clip that began before the end would have ended.
func (c *core) close(ctx context.Context, length int) error {
	c.pairs.Flush(c.pair)
	c.report.end = length // no place that ends later was reported before
	last := length/spectrum.Hop + c.search.longest + vote.Stretch + c.search.ahead()
	for c.search.counter.Start() < last {
		if err := c.advance(ctx, 0); err != nil {
			return err
		}
	}
	if c.plain != nil {
		places, err := c.plain.close(ctx, c.sound, length)
		if err != nil {
			return err
		}
		c.deduper.add(places)
	}
	return c.reportBefore(math.MaxInt / 2)
}

// advance decides one stretch and reports the findings that are final; the sound can be read up to
// the sample end.
func (c *core) advance(ctx context.Context, end int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	places, err := c.search.advance(c.sound)
	if err != nil {
		return err
	}
	c.deduper.add(places)
	if c.plain != nil {
		places, err := c.plain.advance(ctx, c.sound, end)
		if err != nil {
			return err
		}
		c.deduper.add(places)
	}
	return c.reportBefore(c.decided())
}

// decided returns the sample before which every beginning of a clip is known, by landmarks and by
// plain correlation.
func (c *core) decided() int {
	known := (c.search.counter.Start() - c.search.behind()) * spectrum.Hop
	if c.plain != nil {
		known = min(known, c.plain.stream.Done())
	}
	return known
}

// needed returns the first sample that may still be read; Push forgets those before it. A second
// more than what the search needs is kept, because a place is verified around its beginning.
func (c *core) needed() int {
	first := (c.search.counter.Start()-c.search.behind())*spectrum.Hop - RateHz
	if c.plain != nil {
		first = min(first, c.plain.stream.Needed())
	}
	return first
}

// reportBefore removes duplicates among the places that begin before a sample, and reports the
// rest. No new place may begin before that sample.
func (c *core) reportBefore(before int) error {
	final, open := c.deduper.dedupe(before)
	c.report.add(final)
	return c.report.report(open)
}
