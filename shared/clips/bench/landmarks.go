package bench

import (
	"context"
	"io"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
)

// Landmarks is the method of package match, which Leasehold uses.
type Landmarks struct {
	Options match.Options
	clips   *index.Index
}

// RateHz is match.RateHz.
func (*Landmarks) RateHz() int { return match.RateHz }

// Index builds the inverted index.
func (l *Landmarks) Index(_ context.Context, clips []Clip) (err error) {
	var b index.Builder
	for _, c := range clips {
		if err := b.Add(c.ID, c.Wave); err != nil {
			return err
		}
	}
	l.clips, err = b.Build()
	return err
}

// Match reads the episode as a stream, as a worker does.
func (l *Landmarks) Match(ctx context.Context, episode []float32) ([]Found, error) {
	var all []Found
	rest := stream(episode)
	err := match.Find(ctx, l.clips, &rest, l.Options, func(f match.Finding) error {
		all = append(all, Found{
			Clip: f.ID, OffsetS: f.Start().Seconds(), DurationS: f.Duration().Seconds(),
			Coverage: f.Coverage, Score: f.Score, Speed: f.Speed,
		})
		return nil
	})
	return all, err
}

// stream is an episode as a match.Reader.
type stream []float32

// Read implements match.Reader: the next samples, and io.EOF with the last ones.
func (s *stream) Read(dst []float32) (int, error) {
	n := copy(dst, *s)
	*s = (*s)[n:]
	if len(*s) == 0 {
		return n, io.EOF
	}
	return n, nil
}
