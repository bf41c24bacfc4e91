package simulate

import (
	"cmp"
	"math"
	"slices"

	"leasehold/shared/protocol/visit/policy"
)

// limits are freshness values with which a world's results are compared. Both are known
// without a run.
type limits struct {
	optimum     float64 // of the best fixed frequencies, after the warm-up; 0: the world has no closed form
	clairvoyant float64 // of as many visits at the best times
}

// warmUp is the part of the time that Result.Steady leaves out.
const warmUp = 1.0 / 3

// ratesPerE is the number of classes of rates, and of lengths, per factor e.
const ratesPerE = 50

// limitsOf computes the limits of a world, with so many visits a day (capacity). It consumes the
// world's changes, so the world cannot be used afterwards.
func limitsOf(w *world, capacity float64) limits {
	l := limits{}
	warm := start + int64(warmUp*float64(w.end-start))
	if w.stationary() {
		rates := map[int]float64{} // alive seconds by class
		for _, o := range w.origins {
			if alive := float64(min(o.dies, w.end) - max(o.born, warm)); alive > 0 {
				rates[int(math.Round(ratesPerE*math.Log(o.rate)))] += alive
			}
		}
		l.optimum = optimalFreshness(rates, capacity*float64(w.end-warm))
	}
	l.clairvoyant = clairvoyant(w, capacity*float64(w.end-start)/day)
	return l
}

// optimalFreshness is policy.Optimum of origins by class of rate. alive has their seconds,
// visits is the visits per day times seconds.
func optimalFreshness(alive map[int]float64, visits float64) float64 {
	var groups []policy.RateGroup
	for class, seconds := range alive {
		groups = append(groups, policy.RateGroup{Rate: math.Exp(float64(class) / ratesPerE), Origins: seconds})
	}
	slices.SortFunc(groups, func(a, b policy.RateGroup) int { return cmp.Compare(a.Rate, b.Rate) })
	return policy.Optimum(groups, visits)
}

// clairvoyant returns the largest freshness that so many visits could give a policy that knows
// every change in advance and may visit at any time: each visit makes an origin fresh from one
// change to the next, so the longest of these times are chosen. The time to the first change
// needs no visit. No policy can reach it in general. Lengths are rounded up to classes, so the
// result is never too small. It consumes the changes of w.
func clairvoyant(w *world, visits float64) float64 {
	lengths := map[int]float64{} // number by class of length
	alive, fresh := 0.0, 0.0
	for key := range w.origins {
		o := &w.origins[key]
		born, until := max(o.born, start), min(o.dies, w.end)
		if until <= born {
			continue
		}
		alive += float64(until - born)
		from := born
		if o.born < start { // it was visited before the start
			w.advance(o, born)
			from = min(o.next, until)
			fresh += float64(from - born)
		}
		// advance draws o.next, and notes unseen changes, which are not used here.
		for from < until {
			w.advance(o, from)
			to := min(o.next, until)
			lengths[int(math.Ceil(ratesPerE*math.Log(float64(to-from))))]++
			from = to
			w.unseen.clear(&o.unseen)
		}
		w.unseen.clear(&o.unseen)
	}
	const longest = 3.2e10 // seconds, a thousand years: no gap is longer
	for class := int(ratesPerE * math.Log(longest)); class >= 0 && visits > 0; class-- {
		taken := min(lengths[class], visits)
		visits -= taken
		fresh += taken * math.Exp(float64(class)/ratesPerE)
	}
	return min(fresh/math.Max(alive, 1), 1)
}
