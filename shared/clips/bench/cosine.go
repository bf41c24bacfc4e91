package bench

import (
	"context"
	"math"
)

const (
	cosineRateHz = 22050 // at this rate longLook is 23 ms
	anchorS      = .125  // length of the clip's loudest part; both comparisons begin at its start
	shortLook    = 50    // samples
	longLook     = 500
	shortCosine  = .6
	longCosine   = .9
)

// Cosine is the search that Leasehold was written to replace, as a baseline of cost. At every
// sample of the episode it computes the cosine of 50 samples, from the start of the clip's loudest
// eighth of a second on. If it is 0.6 or more, it computes the cosine of 500 samples, where 0.9 or
// more is a finding. If findings touch, it keeps the best one.
type Cosine struct{ clips []anchored }

// anchored is a clip and the sample at which its loudest part begins.
type anchored struct {
	Clip
	at int
}

// RateHz is 22,050.
func (*Cosine) RateHz() int { return cosineRateHz }

// Index finds the anchor of each clip. It never fails.
func (c *Cosine) Index(_ context.Context, clips []Clip) error {
	for _, clip := range clips {
		c.clips = append(c.clips, anchored{clip, loudest(clip.Wave)})
	}
	return nil
}

// loudest returns the start of the loudest stretch of anchorS that has longLook after it; 0 if
// the sound is shorter.
func loudest(x []float32) int {
	const length = cosineRateHz / 8
	best, at, sum := -1.0, 0, 0.0
	for i, v := range x {
		sum += float64(v) * float64(v)
		if i >= length {
			sum -= float64(x[i-length]) * float64(x[i-length])
		}
		if from := i - length + 1; from >= 0 && from+longLook <= len(x) && sum > best {
			best, at = sum, from
		}
	}
	return at
}

// Match searches for one clip after the other; clips that are too short to be compared are not
// found.
func (c *Cosine) Match(ctx context.Context, episode []float32) ([]Found, error) {
	var all []Found
	for _, clip := range c.clips {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if clip.at+longLook <= len(clip.Wave) {
			all = append(all, clip.search(episode)...)
		}
	}
	return all, nil
}

// search returns the places of one clip in an episode. The short comparison rules out most
// samples before the long one. Findings less than longLook apart are one; the best of them
// counts. The clip has longLook samples after its anchor, which Match checks.
func (a anchored) search(episode []float32) []Found {
	var all []Found
	short, long := a.Wave[a.at:][:shortLook], a.Wave[a.at:][:longLook]
	last := -longLook
	for i := 0; i+longLook <= len(episode); i++ {
		if cosine(short, episode[i:]) < shortCosine {
			continue
		}
		score := cosine(long, episode[i:])
		if score < longCosine {
			continue
		}
		f := Found{Clip: a.ID, OffsetS: float64(i-a.at) / cosineRateHz, DurationS: float64(len(a.Wave)) / cosineRateHz, Score: score}
		switch {
		case i-last >= longLook:
			all = append(all, f)
		case score > all[len(all)-1].Score:
			all[len(all)-1] = f
		}
		last = i
	}
	return all
}

// cosine returns the cosine of the angle between x and the first len(x) samples of y, which has
// as many; 0 if one of them is silent.
func cosine(x, y []float32) float64 {
	var xy, xx, yy float32
	y = y[:len(x)]
	for i, v := range x {
		xy += v * y[i]
		xx += v * v
		yy += y[i] * y[i]
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return float64(xy) / math.Sqrt(float64(xx)*float64(yy))
}
