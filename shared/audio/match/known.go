package match

import (
	"context"
	"iter"

	"leasehold/shared/audio/index"
	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/verify"
)

// Known is an episode whose landmarks are known already.
type Known struct {
	Samples   int                         // its length
	Landmarks iter.Seq[landmark.Landmark] // in the order of time
	// Sound is read where candidates are verified, and nowhere else; but all of it, if a
	// clip has too few landmarks.
	Sound verify.Source
}

// FindKnown does what Find does, and finds the same, without a spectrum of the episode:
// it takes some milliseconds an hour and what verification takes. The error is ctx's
// cause, Sound's, or what emit returned.
func FindKnown(ctx context.Context, x *index.Index, e Known, o Options, emit func(Finding) error) error {
	c, err := newCore(x, o, emit)
	if err != nil {
		return err
	}
	c.sound = e.Sound
	next := c.due()
	for l := range e.Landmarks {
		if l.Frame >= next {
			if err := c.decide(ctx, l.Frame); err != nil {
				return err
			}
			next = c.due()
		}
		c.search.push(l)
	}
	return c.close(ctx, e.Samples)
}
