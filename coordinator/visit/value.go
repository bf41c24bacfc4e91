package visit

import "math"

// Value is the default policy. The value of a visit is a weighted sum of the index of
// the freshness optimum (Cho and Garcia-Molina 2003; Azar et al. 2018) and the index
// of the harmonic penalty (Kolobov et al. 2019). Both depend on the expected number
// of unseen changes, which follows from the rate, learned from visits, and from the
// quality of the lister's dates (noisy signals: arXiv 2502.02430).
type Value struct{ Rules }

// Name implements Policy.
func (Value) Name() string { return "value" }

// Place returns the queue of the origin's pool and rate class. Each failure in a row,
// up to 8, multiplies the rate by FailedFactor.
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

// Worth returns the value in days. First visits of a lister with priority get
// firstVisitBonus in addition.
func (p Value) Worth(w Place, q Quality, now int64) float64 {
	rate, tau := ClassRate(w.Class), max(float64(now-w.Ref)/day, 0)
	fresh, lag := Terms(p.unseenChanges(w, q, now), tau, rate)
	worth := p.WeightFresh*fresh + p.WeightLag*lag
	if w.Pool == PoolFirst && q.FirstVisits {
		worth += firstVisitBonus
	}
	return worth
}

// firstVisitBonus, in days, exceeds every value without it.
const firstVisitBonus = 1e9

// certain is the expected number of changes that counts as a sure change.
const certain = 7

// unseenChanges is the expected number of changes since the last success.
func (p Value) unseenChanges(w Place, q Quality, now int64) float64 {
	rate, tau := ClassRate(w.Class), max(float64(now-w.Ref)/day, 0)
	switch w.Pool {
	case PoolFirst:
		return rate*tau + certain
	case PoolKnown:
		return rate * tau
	}
	// Up to the last listing only changes that the lister did not date are unseen.
	listed := min(max(float64(q.Listed-w.Ref)/day, 0), tau)
	x := rate*(1-q.Recall)*listed + rate*(tau-listed)
	if w.Pool == PoolSignal {
		x += min(-math.Log1p(-q.Precision), certain)
	}
	return x
}

// Terms returns the index of freshness and the index of the harmonic penalty, both in
// days, for x expected unseen changes after tau days at rate changes per day.
func Terms(x, tau, rate float64) (fresh, lag float64) {
	changed := -math.Expm1(-x) // the probability of at least one change
	fresh = (changed - x*math.Exp(-x)) / rate
	if x > 0 {
		lag = tau * (1 - changed/x)
	}
	return fresh, max(lag, 0)
}

// Fresh returns the probability that an origin has no unseen change at a time.
func (p Value) Fresh(s State, q Quality, now int64) float64 {
	return math.Exp(-p.unseenChanges(p.Place(s), q, now))
}

// Shares reserves FirstShare of the slots for first visits and KnownShare for other
// visits, so that neither starves the other; the best of all pools get the rest.
func (p Value) Shares(n int, c Counts) (shares, refill []Share) {
	first := slotsOf(n, p.FirstShare, c.Served)
	reserved := max(slotsOf(n, min(p.FirstShare+p.KnownShare, 1), c.Served), first)
	known := reserved - first
	all := []Pool{PoolFirst, PoolKnown, PoolQuiet, PoolSignal}
	return []Share{
		{Pools: all[:1], N: first},
		{Pools: all[1:], N: known},
		{Pools: all, N: n - first - known},
	}, []Share{{Pools: all}}
}

// slotsOf returns a share of n slots, in whole slots, when served slots were given out
// before. The sum over batches is exact, because each batch gets the difference of
// two rounded totals; so a share of less than a slot gets one now and then.
func slotsOf(n int, share float64, served int64) int {
	return int(float64(served+int64(n))*share) - int(float64(served)*share)
}
