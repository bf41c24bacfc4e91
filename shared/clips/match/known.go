package match

import (
	"context"
	"iter"
	"runtime"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/verify"
)

// Known is an episode whose landmarks are known already.
type Known struct {
	Samples int // its length
	// Landmarks yields the landmarks with the given hashes in the order of time; it ends after
	// an error.
	Landmarks func(of landmark.Hashes) iter.Seq2[landmark.Landmark, error]
	// Sound is read only where candidates are verified; if a clip has too few landmarks, all of
	// it is read.
	Sound verify.Source
}

// FindKnown does what Find does, and finds the same, without a spectrum of the episode: it takes
// some milliseconds per hour of episode, plus the time of verification. An error of Landmarks,
// Sound or emit ends it, and is returned. Memory depends on the clips alone.
func FindKnown(ctx context.Context, x *index.Index, e Known, o Options, emit func(Finding) error) error {
	defer runtime.KeepAlive(x) // postings do not refer to it
	c, err := newCore(x, o, emit)
	if err != nil {
		return err
	}
	c.sound = e.Sound
	next := c.due()
	for l, err := range e.Landmarks(x.Hashes()) {
		if err != nil {
			return err
		}
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
