package match

import (
	"context"
	"errors"
	"io"
	"runtime"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
)

// Reader is an episode as a stream: mono at RateHz. Read fills some of dst, and returns
// io.EOF, with or after the last samples.
type Reader interface {
	Read(dst []float32) (n int, err error)
}

// Matcher finds the clips of an index in one episode. It is for one goroutine.
type Matcher struct {
	core  *core
	sound *window
	peaks *landmark.Peaks
}

// New returns a Matcher at the start of an episode; it calls emit with each finding, by
// offset, as soon as no other can come before it. An error of emit ends the search.
func New(x *index.Index, o Options, emit func(Finding) error) (*Matcher, error) {
	c, err := newCore(x, o, emit)
	if err != nil {
		return nil, err
	}
	m := &Matcher{core: c, sound: &window{}, peaks: landmark.NewPeaks()}
	c.sound = m.sound
	return m, nil
}

// Work returns the cost of the search so far.
func (m *Matcher) Work() Work { return m.core.search.work }

// Held is how many bytes of the episode the Matcher holds: its samples and landmarks.
func (m *Matcher) Held() int { return 4*len(m.sound.samples) + 16*len(m.core.search.landmarks) }

// Push takes the next samples, and keeps a copy of them as long as they are needed. It
// returns ctx's cause if ctx ends, or the error of emit.
func (m *Matcher) Push(ctx context.Context, samples []float32) error {
	const piece = 1 << 14 // so that the window holds little more than it must
	for len(samples) > 0 {
		n := min(piece, len(samples))
		m.sound.push(samples[:n])
		m.peaks.Push(samples[:n], m.core.peak)
		samples = samples[n:]
		decided := m.peaks.Decided()
		m.core.pairs.Pass(decided, m.core.pair)
		if err := m.core.decide(ctx, decided-landmark.MaxFrames-1); err != nil {
			return err
		}
		m.sound.drop(m.core.needed())
	}
	return nil
}

// Close ends the episode and emits all findings that are left.
func (m *Matcher) Close(ctx context.Context) error {
	m.peaks.Flush(m.core.peak)
	return m.core.close(ctx, m.sound.end())
}

// Find reads the episode to its end, and calls emit as a Matcher of New does. It returns nil at
// the end; else ctx's cause, the Reader's error, or the error of emit. If the Reader fails, Find
// first emits all findings up to there.
func Find(ctx context.Context, x *index.Index, episode Reader, o Options, emit func(Finding) error) error {
	defer runtime.KeepAlive(x) // postings do not refer to it
	m, err := New(x, o, emit)
	if err != nil {
		return err
	}
	buf := make([]float32, 1<<14)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := episode.Read(buf)
		if pushErr := m.Push(ctx, buf[:n]); pushErr != nil {
			return pushErr
		}
		if errors.Is(err, io.EOF) {
			return m.Close(ctx)
		}
		if err != nil && ctx.Err() == nil {
			return errors.Join(err, m.Close(ctx))
		}
		if err != nil {
			return err
		}
	}
}
