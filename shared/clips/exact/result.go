package exact

import (
	"context"
	"time"

	"leasehold/shared/fault"
)

// RateHz is the sample rate of everything in this package.
const RateHz = 8000

// The limits of a clip's length.
const (
	// MinClip: below it there are too few independent samples for a score to mean
	// anything in an hour of speech.
	MinClip = 250 * time.Millisecond
	// MaxClip bounds the memory of one FFT. Clips are jingles, not programmes.
	MaxClip = 2 * time.Minute
)

// DefaultThreshold finds a clip under something up to 2.5 dB louder. Of unrelated
// clips in 15 minutes of speech the best score was 0.54, in a minute of music 0.56
// (docs/benchmarks.md): precision comes first, so the default lies above both.
const DefaultThreshold = 0.6

// defaultGroup is how many clips share one reading of the episode. Sharing saves
// at most half; after eight there is an eighth of that left to save, and results
// come later.
const defaultGroup = 8

// Sound is mono sound at RateHz.
type Sound interface {
	// ReadAt fills dst with the samples from offset on, which may be negative or
	// past the end: silence is there.
	ReadAt(dst []float32, offset int) error
}

// Source is an episode whose length is known.
type Source interface {
	Sound
	Len() int // samples
}

// Samples is a Source in memory.
type Samples []float32

// Len implements Source: the number of samples.
func (s Samples) Len() int { return len(s) }

// ReadAt implements Source; it does not fail.
func (s Samples) ReadAt(dst []float32, offset int) error {
	clear(dst)
	if from := max(0, offset); from < min(len(s), offset+len(dst)) {
		copy(dst[from-offset:], s[from:])
	}
	return nil
}

// Clip is one sound to search for. Find calls Load once, when it begins the clip's group. Load
// returns the clip's samples at RateHz; its error becomes the clip's Result.Err.
type Clip struct {
	ID   string
	Load func(ctx context.Context) ([]float32, error)
}

// Options; the zero value is the default.
type Options struct {
	Threshold float64 // of the score, above 0 and below 1; 0 is DefaultThreshold
	Group     int     // clips, 1 to 64; 0 is defaultGroup
}

// withDefaults returns the options with defaults for zeros; it checks no range.
func (o Options) withDefaults() Options {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if o.Group == 0 {
		o.Group = defaultGroup
	}
	return o
}

// Result is the result of the search for one clip.
type Result struct {
	ID      string
	Matches []Match // by offset
	// Err is the reason why the clip could not be searched: an error of this package, or
	// the error of Load.
	Err error
	// GroupEnds is set on the last result of a group: nothing of the episode has
	// been read for the next one.
	GroupEnds bool
}

// Match is one place where the clip is played.
type Match struct {
	Offset int // samples from the start of the episode, at least 0
	Length int // samples of the clip that lie within the episode
	Score  float64
	// Coverage is the share of the clip's energy, over time and frequency, that is
	// found there: 0.6 to 1.
	Coverage float64
}

// Start is the offset as time.
func (m Match) Start() time.Duration { return samples(m.Offset) }

// Duration is the length as time.
func (m Match) Duration() time.Duration { return samples(m.Length) }

func samples(n int) time.Duration { return time.Duration(n) * (time.Second / RateHz) }

// The faults of a clip. Each is a fault.ErrInvalid or fault.ErrTooLarge too.
var (
	ErrSilent   error = &clipError{fault.ErrInvalid, "silent: nothing to look for"}
	ErrTooShort error = &clipError{fault.ErrInvalid, "too short: expected at least " + MinClip.String()}
	ErrTooLong  error = &clipError{fault.ErrTooLarge, "too long for a clip: expected at most " + MaxClip.String()}
	// ErrLongerThanEpisode is a fault of the pair.
	ErrLongerThanEpisode error = &clipError{fault.ErrInvalid, "longer than the episode"}
)

type clipError struct {
	kind   error
	reason string
}

func (e *clipError) Error() string { return e.reason }
func (e *clipError) Unwrap() error { return e.kind }
