package index

import (
	"context"

	"leasehold/shared/clips/exact"
)

// soundShare is the share of a clip's energy in the shortest part for which it sounds. The
// recording may last longer: a drum recorded with its echo, or with silence behind it, is as like
// another drum as one without (docs/benchmarks.md, Thumps with a tail).
const soundShare = 0.9

// PlainClips are the clips that a search must look for by plain correlation, prepared for it.
type PlainClips struct {
	Set      *exact.Set
	Numbers  []int // of each clip of Set, in the index
	Sounding []int // samples of the shortest part that has 0.9 of its energy
}

// PlainClips returns the plain clips. They are prepared at the first call, because that takes some
// milliseconds for each and not every index is searched. Any number of goroutines may call it.
func (x *Index) PlainClips() (*PlainClips, error) { return x.plain() }

// preparePlain is PlainClips without memory.
func (x *Index) preparePlain() (*PlainClips, error) {
	p := &PlainClips{}
	var clips []exact.Clip
	for i := range x.Clips() {
		if x.Plain(i) {
			clips, p.Numbers, p.Sounding = append(clips, x.Exact(i)), append(p.Numbers, i), append(p.Sounding, sounding(x.Wave(i)))
		}
	}
	var err error
	p.Set, err = exact.NewSet(context.Background(), clips)
	return p, err
}

// Exact returns clip i for package exact. It can always be loaded while the Index is open.
func (x *Index) Exact(i int) exact.Clip {
	return exact.Clip{ID: x.ID(i), Load: func(context.Context) ([]float32, error) { return x.Wave(i), nil }}
}

// sounding is the number of samples in the shortest part of a clip that has soundShare of its energy.
func sounding(wave []float32) int {
	all := 0.0
	for _, v := range wave {
		all += float64(float64(v) * float64(v))
	}
	shortest, first, part := len(wave), 0, 0.0
	for i, v := range wave {
		part += float64(float64(v) * float64(v))
		for first <= i && part >= soundShare*all {
			shortest = min(shortest, i+1-first)
			part -= float64(float64(wave[first]) * float64(wave[first]))
			first++
		}
	}
	return shortest
}
