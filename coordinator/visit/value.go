package visit

import "math"

// Value is the default policy. It visits where a visit is worth most: the index of
// the freshness optimum (Cho and Garcia-Molina 2003; Azar et al. 2018) and that of
// the harmonic penalty (Kolobov et al. 2019), weighted. Both are made of the
// expected number of unseen changes, for which the rate is learned from visits, and
// the quality of dates from their lister's record (noisy signals: arXiv 2502.02430).
type Value struct{ Rules }

// Name implements Policy.
func (Value) Name() string { return "value" }

// Place implements Policy: the queue is the class of the rate. An origin that fails
// is placed as if it changed less.
func (p Value) Place(s State) Place {
	rate := p.Rate(s) * math.Pow(p.FailedFactor, float64(min(s.Failures, 8)))
	place := Place{Class: ClassOf(rate), Ref: s.LastSuccess}
	switch {
	case s.LastSuccess == Never:
		place.Pool, place.Lister, place.Ref = PoolFirst, s.Lister, s.FirstSeen
		if s.Created != Never {
			place.Ref = min(s.Created, s.FirstSeen)
		}
	case s.LastUpdate == Never:
		place.Pool = PoolKnown
	case s.LastUpdate > s.LastSuccess:
		place.Pool, place.Lister = PoolSignal, s.Lister
	default:
		place.Pool, place.Lister = PoolQuiet, s.Lister
	}
	return place
}

// Worth implements Policy. First visits of a lister that has priority come before
// all others.
func (p Value) Worth(w Place, q Quality, now int64) float64 {
	rate, tau := ClassRate(w.Class), max(float64(now-w.Ref)/day, 0)
	fresh, lag := Terms(p.unseen(w, q, now), tau, rate)
	worth := p.WeightFresh*fresh + p.WeightLag*lag
	if w.Pool == PoolFirst && q.FirstVisits {
		worth += Priority
	}
	return worth
}

// Priority is added to the worth, in days, of what comes before all that has none.
const Priority = 1e9

// certain is the expected number of changes that counts as a change for sure.
const certain = 7

// unseen is the expected number of changes since the last success.
func (p Value) unseen(w Place, q Quality, now int64) float64 {
	rate, tau := ClassRate(w.Class), max(float64(now-w.Ref)/day, 0)
	switch w.Pool {
	case PoolFirst:
		return rate*tau + certain
	case PoolKnown:
		return rate * tau
	}
	// Until it was listed, only what the lister overlooks is unseen.
	listed := min(max(float64(q.Listed-w.Ref)/day, 0), tau)
	x := rate*(1-q.Recall)*listed + rate*(tau-listed)
	if w.Pool == PoolSignal {
		x += min(-math.Log1p(-q.Precision), certain)
	}
	return x
}

// Terms returns the two indices, in days, for x expected unseen changes after tau
// days at a rate per day: of freshness and of the harmonic penalty.
func Terms(x, tau, rate float64) (fresh, lag float64) {
	seen := -math.Expm1(-x) // the chance of a change
	fresh = (seen - x*math.Exp(-x)) / rate
	if x > 0 {
		lag = tau * (1 - seen/x)
	}
	return fresh, max(lag, 0)
}

// Fresh is the chance that nothing of an origin is unseen at a time, if its
// lister's dates are of a quality.
func (p Value) Fresh(s State, q Quality, now int64) float64 {
	return math.Exp(-p.unseen(p.Place(s), q, now))
}

// Shares implements Policy: by value, but first visits and others get a share each
// that the other cannot take while it is wanted.
func (p Value) Shares(n int, c Counts) (shares, refill []Share) {
	first := part(n, p.FirstShare, c.Served)
	kept := max(part(n, min(p.FirstShare+p.KnownShare, 1), c.Served), first)
	known := kept - first
	all := []Pool{PoolFirst, PoolKnown, PoolQuiet, PoolSignal}
	return []Share{
		{Pools: all[:1], N: first},
		{Pools: all[1:], N: known},
		{Pools: all, N: n - first - known},
	}, []Share{{Pools: all}}
}

// part is a share of n slots after others were served: in whole slots, such that it
// is exact over many batches, however small they are.
func part(n int, share float64, served int64) int {
	return int(float64(served+int64(n))*share) - int(float64(served)*share)
}
