package visits

import (
	"math"
	"slices"
)

// The upper bounds of the distributions of the metrics.
var (
	tookBounds = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800} // seconds
	sizeBounds = []float64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}                      // bytes
	// ageBounds are in seconds: a minute to a year.
	ageBounds = []float64{60, 300, 1800, 3600, 6 * 3600, 86400, 3 * 86400, 7 * 86400, 30 * 86400, 90 * 86400, 365 * 86400}
)

// A Distribution counts numbers up to each of its bounds.
type Distribution struct {
	Bounds []float64 // ascending and inclusive; shared, so callers must not change them
	UpTo   []uint64  // how many numbers are at most the bound of the same index
	Count  uint64    // of all numbers
	Sum    float64
}

func newDistribution(bounds []float64) Distribution {
	return Distribution{Bounds: bounds, UpTo: make([]uint64, len(bounds))}
}

// add counts a number; NaN and infinities are left out.
func (d *Distribution) add(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	for i, bound := range d.Bounds {
		if x <= bound {
			d.UpTo[i]++
		}
	}
	d.Count++
	d.Sum += x
}

// clone returns a copy with counts of its own.
func (d Distribution) clone() Distribution {
	d.UpTo = slices.Clone(d.UpTo)
	return d
}
