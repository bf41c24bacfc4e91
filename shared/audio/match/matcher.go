package match

import (
	"context"
	"errors"
	"io"
	"math"

	"leasehold/shared/audio/index"
	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/spectrum"
	"leasehold/shared/audio/vote"
)

// Reader is an episode as a stream: mono at RateHz. Read fills some of dst, and returns
// io.EOF, with or after the last samples.
type Reader interface {
	Read(dst []float32) (n int, err error)
}

// Matcher finds the clips of an index in one episode. It is for one goroutine.
type Matcher struct {
	search  *search
	settler *settler
	report  *reporter
	plain   *plain // nil if no clip needs it
	sound   window
	peaks   *landmark.Peaks
	pairs   landmark.Pairs
}

// New returns a Matcher at the start of an episode; it calls emit with each finding, by
// offset, as soon as no other can come before it. What emit returns ends the search.
func New(x *index.Index, o Options, emit func(Finding) error) (*Matcher, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	s := newSearch(x, o)
	return &Matcher{
		search: s, settler: newSettler(x, s.verifier), report: newReporter(x, emit),
		plain: newPlain(x, o), peaks: landmark.NewPeaks(),
	}, nil
}

// Work so far.
func (m *Matcher) Work() Work { return m.search.work }

// Push takes the next samples, of which it keeps a copy as long as they are needed. It
// returns ctx's cause when that ends, or what emit returned.
func (m *Matcher) Push(ctx context.Context, samples []float32) error {
	const piece = 1 << 14 // so that the window holds little more than it must
	for len(samples) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(piece, len(samples))
		if err := m.pushPlain(ctx, samples[:n]); err != nil {
			return err
		}
		m.sound.push(samples[:n])
		m.peaks.Push(samples[:n], m.peak)
		samples = samples[n:]
		known := m.peaks.Decided() - 64 // whose landmarks are all out
		for known >= m.search.counter.Start()+(vote.Stretch+m.search.ahead()) {
			if err := m.advance(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Matcher) peak(p landmark.Peak) { m.pairs.Push(p, m.search.push) }

func (m *Matcher) pushPlain(ctx context.Context, samples []float32) error {
	if m.plain == nil {
		return nil
	}
	places, err := m.plain.push(ctx, samples)
	m.settler.add(places)
	return err
}

// Close ends the episode: all findings that are left are told.
func (m *Matcher) Close(ctx context.Context) error {
	if m.plain != nil {
		places, err := m.plain.close(ctx)
		if err != nil {
			return err
		}
		m.settler.add(places)
	}
	length := m.sound.end()
	m.peaks.Flush(m.peak)
	m.pairs.Flush(m.search.push)
	last := length/spectrum.Hop + m.search.longest + (vote.Stretch + m.search.ahead())
	for m.search.counter.Start() < last {
		if err := m.advance(); err != nil {
			return err
		}
	}
	return m.tell(math.MaxInt / 2)
}

// advance decides one stretch.
func (m *Matcher) advance() error {
	places, err := m.search.advance(&m.sound)
	if err != nil {
		return err
	}
	m.settler.add(places)
	// Nothing will begin before the stretch to come but what is longer than its past.
	known := (m.search.counter.Start() - m.search.behind()) * spectrum.Hop
	m.sound.drop(known - RateHz)
	if m.plain != nil {
		known = min(known, m.plain.done)
	}
	return m.tell(known)
}

// tell settles and reports what begins before a sample.
func (m *Matcher) tell(before int) error {
	final, open := m.settler.settle(before)
	m.report.add(final)
	return m.report.report(open)
}

// Find reads the episode to its end, and calls emit as New says. It returns nil at the
// end; else ctx's cause, the Reader's error, or what emit returned.
func Find(ctx context.Context, x *index.Index, episode Reader, o Options, emit func(Finding) error) error {
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
		if err != nil {
			return err
		}
	}
}

// Held is how many bytes of the episode the Matcher holds: its samples and landmarks.
func (m *Matcher) Held() int {
	n := 4*len(m.sound.samples) + 16*len(m.search.landmarks)
	if m.plain != nil {
		n += 4 * len(m.plain.sound.samples)
	}
	return n
}
