package bench

import (
	"context"

	"leasehold/shared/clips/exact"
)

// Exact is normalised cross-correlation over the whole waveform. It is slow, and the
// reference for clips that are played at their own speed.
type Exact struct {
	Threshold float64 // 0 is exact.DefaultThreshold
	clips     []exact.Clip
}

// RateHz is exact.RateHz.
func (*Exact) RateHz() int { return exact.RateHz }

// Index only keeps the clips. It never fails.
func (e *Exact) Index(_ context.Context, clips []Clip) error {
	for _, c := range clips {
		e.clips = append(e.clips, exact.Clip{ID: c.ID, Load: func(context.Context) ([]float32, error) { return c.Wave, nil }})
	}
	return nil
}

// Match correlates every clip with every sample of the episode. The error is the first of a clip,
// or ctx's cause.
func (e *Exact) Match(ctx context.Context, episode []float32) ([]Found, error) {
	var all []Found
	err := exact.Find(ctx, exact.Samples(episode), e.clips, exact.Options{Threshold: e.Threshold}, func(r exact.Result) error {
		for _, m := range r.Matches {
			all = append(all, Found{Clip: r.ID, OffsetS: m.Start().Seconds(), DurationS: m.Duration().Seconds(), Score: m.Score})
		}
		return r.Err
	})
	return all, err
}
