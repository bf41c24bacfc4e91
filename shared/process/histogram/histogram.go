// Package histogram counts durations by their length, as plain numbers that a metrics
// endpoint can expose.
//
// Invariant: each observed duration is in exactly one bucket and in the sum. A snapshot taken while durations are
// observed may miss the latest ones in either.
package histogram

import (
	"sync/atomic"
	"time"
)

// Histogram counts durations. Its methods may be called concurrently.
type Histogram struct {
	bounds []time.Duration // ascending
	counts []atomic.Uint64 // by bound, and above the last one
	sum    atomic.Int64    // nanoseconds
}

// New returns an empty histogram with ascending upper bounds of buckets, which are inclusive.
func New(bounds ...time.Duration) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for i < len(h.bounds) && d > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Snapshot is the content of a histogram at one moment.
type Snapshot struct {
	Count   uint64
	Sum     time.Duration
	Buckets map[time.Duration]uint64 // durations up to each bound
}

// Snapshot returns the durations so far.
func (h *Histogram) Snapshot() Snapshot {
	s := Snapshot{Sum: time.Duration(h.sum.Load()), Buckets: map[time.Duration]uint64{}}
	for i := range h.counts {
		s.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			s.Buckets[h.bounds[i]] = s.Count
		}
	}
	return s
}
