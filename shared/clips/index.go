package clips

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
)

// Clip is one sound to look for: mono, at RateHz.
type Clip struct {
	ID      string // names the clip in findings
	Samples []float32
}

// Finding is one place in an episode where a clip is played.
type Finding = match.Finding

// Options of a search; the zero value is the default.
type Options = match.Options

// Source is an episode as a stream, mono at RateHz: a Stream, or the caller's own type.
type Source = match.Reader

// Index holds the clips to look for. Add the clips, then Match any number of episodes, in
// any number of goroutines. A Match that has begun does not find clips that are added later.
// If the clips exceed about 16 MB, the rest is in unnamed files in the system's temporary
// folder. The system removes them when the Index is gone.
type Index struct {
	mu      sync.Mutex // guards builder and built
	builder index.Builder
	built   *index.Index // nil if clips were added since the last Build
}

// NewIndex returns an Index without clips.
func NewIndex() *Index { return &Index{} }

// Add adds a copy of a clip. It refuses a clip that cannot be searched for, with exact.ErrSilent,
// exact.ErrTooShort or exact.ErrTooLong, and fails with fault.ErrTooLarge for a long id or a full
// index. After any other error, which comes from writing a file, the Index must not be used.
func (x *Index) Add(c Clip) error {
	if err := exact.Check(c.Samples); err != nil {
		return fmt.Errorf("clip %s: %w", c.ID, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.built = nil
	return x.builder.Add(c.ID, c.Samples)
}

// Build returns the index of the clips that were added so far, for package match or for
// index.Write. Match calls it. It keeps the result until another clip is added.
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

// Match finds the clips in an episode. It yields each finding as soon as no other can
// come before it, about a minute of sound later. If the search fails, the last pair has
// the error: ctx's cause, the Source's error, or fault.ErrInvalid if Options are outside
// their range. Memory depends on the clips and not on the length of the episode.
func (x *Index) Match(ctx context.Context, episode Source, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		built, err := x.Build()
		if err != nil {
			yield(Finding{}, err)
			return
		}
		stopped := false
		err = match.Find(ctx, built, episode, o, func(f Finding) error {
			stopped = !yield(f, nil)
			if stopped {
				return errStopped
			}
			return nil
		})
		if err != nil && !stopped {
			yield(Finding{}, err)
		}
	}
}

// errStopped ends the search if the consumer stopped iterating.
var errStopped = errors.New("stopped by the caller")
