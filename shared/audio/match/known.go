package match

import (
	"context"
	"iter"

	"leasehold/shared/audio/index"
	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/verify"
)

// Known is an episode whose peaks are known already.
type Known struct {
	Samples int                     // its length
	Peaks   iter.Seq[landmark.Peak] // in the order of landmark.Peaks
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
	for p := range e.Peaks {
		// All peaks up to the one before are known, and so are the landmarks that
		// begin half a second earlier.
		if err := c.decide(ctx, p.Frame-landmark.MaxFrames-1); err != nil {
			return err
		}
		c.peak(p)
	}
	return c.close(ctx, e.Samples)
}
