package audio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"leasehold/shared/audio/exact"
	"leasehold/shared/audio/index"
	"leasehold/shared/audio/match"
)

// Clip is one sound to look for: mono, at RateHz.
type Clip struct {
	ID      string // by which findings name it
	Samples []float32
}

// Finding is one place where a clip is played.
type Finding = match.Finding

// Options of a search; the zero value is the default.
type Options = match.Options

// Source is an episode as a stream, mono at RateHz: a Stream, or one of your own.
type Source = match.Reader

// Index is the clips to look for. Add them, then Match as many episodes as there are, in
// any number of goroutines; what is added later is not found by a Match that has begun.
// Beyond some 16 MB of clips it is in files without names in the system's own folder for
// them, which are gone with it.
type Index struct {
	mu      sync.Mutex // guards builder and built
	builder index.Builder
	built   *index.Index // nil when clips were added since
}

// NewIndex returns an Index without clips.
func NewIndex() *Index { return &Index{} }

// Add takes a clip; it keeps a copy. A clip in which there is nothing to look for is
// refused: exact.ErrSilent, exact.ErrTooShort or exact.ErrTooLong.
func (x *Index) Add(c Clip) error {
	if err := exact.Check(c.Samples); err != nil {
		return fmt.Errorf("clip %s: %w", c.ID, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.built = nil
	return x.builder.Add(c.ID, c.Samples)
}

// Build returns the index of what was added so far, for package match, or to be written
// to a file. Match calls it.
func (x *Index) Build() (*index.Index, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.built == nil {
		built, err := x.builder.Build()
		if err != nil {
			return nil, err
		}
		x.built = built
	}
	return x.built, nil
}

// Match finds the clips in an episode, and yields each finding as soon as no other can
// come before it, about a minute of sound later. An error is yielded once, as the last:
// ctx's cause, the Source's, or fault.ErrInvalid for Options outside their range. Memory
// depends on the clips and not on the length of the episode.
func (x *Index) Match(ctx context.Context, episode Source, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		built, err := x.Build()
		if err != nil {
			yield(Finding{}, err)
			return
		}
		stopped := false
		err = match.Find(ctx, built, episode, o, func(f Finding) error {
			if stopped = !yield(f, nil); stopped {
				return errStopped
			}
			return nil
		})
		if err != nil && !stopped {
			yield(Finding{}, err)
		}
	}
}

// errStopped ends a search of which nobody wants more.
var errStopped = errors.New("stopped by the caller")
