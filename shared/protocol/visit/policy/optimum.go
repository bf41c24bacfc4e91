package policy

import "math"

// A RateGroup is a number of origins that change equally often.
type RateGroup struct {
	Rate     float64 // changes per day, above 0
	Origins  float64
	Shortest float64 // days that must pass between two visits
	Interval float64 // days between two visits at the optimum; 0: they are not visited
}

// Optimum returns the largest share of origins that can be fresh at a time if changes come
// at random and so many visits a day are made at fixed intervals, and sets the intervals.
// An origin with x changes between two visits is fresh for a share (1-e^-x)/x of the time.
// At the optimum one more visit gains the same everywhere: 1-e^-x(1+x) = rate·gain; where
// rate·gain is 1 or more no visit is made. No interval is less than RateGroup.Shortest; the visits that such an
// interval spares go to the others.
func Optimum(groups []RateGroup, visits float64) (fresh float64) {
	low, high := -30.0, 30.0 // of the logarithm of the gain
	for range 60 {
		middle := (low + high) / 2
		if needed, _ := visitsAt(groups, math.Exp(middle)); needed > visits {
			low = middle
		} else {
			high = middle
		}
	}
	_, fresh = visitsAt(groups, math.Exp(high))
	return fresh
}

// visitsAt sets the intervals at which one more visit gains so many days, and returns the visits
// per day that they need, and the share of origins that are fresh. Fewer visits are needed for a
// larger gain, which Optimum relies on.
func visitsAt(groups []RateGroup, gain float64) (visits, fresh float64) {
	total := 0.0
	for i := range groups {
		g := &groups[i]
		g.Interval = 0
		total += g.Origins
		if g.Rate*gain >= 1 {
			continue
		}
		g.Interval = max(changesAtGain(g.Rate*gain)/g.Rate, g.Shortest)
		x := g.Rate * g.Interval
		visits += g.Origins / g.Interval
		fresh += g.Origins * -math.Expm1(-x) / x
	}
	return visits, fresh / max(total, 1e-9)
}

// changesAtGain solves 1-e^-x(1+x) = gain for x by bisection, because the left side grows with x;
// gain is above 0 and below 1. The result is above 0, so that callers can divide by it.
func changesAtGain(gain float64) float64 {
	low, high := 0.0, 60.0
	for range 60 {
		if x := (low + high) / 2; 1-math.Exp(-x)*(1+x) < gain {
			low = x
		} else {
			high = x
		}
	}
	return max((low+high)/2, 1e-9)
}
