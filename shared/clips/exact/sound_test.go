package exact_test

import (
	"context"
	"math"
	"math/rand/v2"

	"leasehold/shared/clips/exact"
)

// noise makes n samples of low-passed noise, a sound that occurs only once.
func noise(seed uint64, n int, level float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	out, last := make([]float32, n), 0.0
	for i := range out {
		last = .8*last + r.NormFloat64()
		out[i] = float32(level * last * .6)
	}
	return out
}

// tones makes n samples of the sum of some sines, with a soft start and end.
func tones(n int, hz ...float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		edge := math.Min(1, float64(min(i, n-1-i))/400)
		for _, f := range hz {
			out[i] += float32(.3 * edge * math.Sin(2*math.Pi*f*float64(i)/exact.RateHz))
		}
	}
	return out
}

// mix adds a clip to an episode.
func mix(episode, clip []float32, at int, gain float64) {
	for i, v := range clip {
		if k := at + i; k >= 0 && k < len(episode) {
			episode[k] += float32(gain) * v
		}
	}
}

func loaded(id string, samples []float32) exact.Clip {
	return exact.Clip{ID: id, Load: func(context.Context) ([]float32, error) { return samples, nil }}
}

// find collects the results of all clips.
func find(episode []float32, o exact.Options, clips ...exact.Clip) (map[string]exact.Result, error) {
	results := map[string]exact.Result{}
	err := exact.Find(context.Background(), exact.Samples(episode), clips, o, func(r exact.Result) error {
		results[r.ID] = r
		return nil
	})
	return results, err
}

// offsets of a result.
func offsets(r exact.Result) []int {
	list := []int{}
	for _, m := range r.Matches {
		list = append(list, m.Offset)
	}
	return list
}
