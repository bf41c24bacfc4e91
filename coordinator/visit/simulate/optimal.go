package simulate

import "leasehold/coordinator/visit"

// optimal is the policy of KnownRates: Value with the true rates, 0 after death.
type optimal struct {
	visit.Value
	origins []origin
	burst   float64 // changes that come together; 0: one
}

// Name implements visit.Policy.
func (optimal) Name() string { return KnownRates }

// Place implements visit.Policy with the class of the true rate instead of the estimated one; in
// bursts each counts as one change. The class of an origin that was tried after its death is 0,
// the lowest.
func (p optimal) Place(s visit.State) visit.Place {
	o := &p.origins[s.Key]
	s.Recent = visit.Recent{} // it knows rates and no habits
	place := p.Value.Place(s)
	if place.Class = visit.ClassOf(o.rate); p.burst > 0 {
		place.Class = visit.ClassOf(o.rate / p.burst)
	}
	if s.LastVisit >= o.dies || s.LastScheduled >= o.dies {
		place.Class = 0
	}
	return place
}

// Shares implements visit.Policy: no shares are reserved.
func (optimal) Shares(n int, _ visit.Counts) (shares, refill []visit.Share) {
	return []visit.Share{{Pools: []visit.Pool{visit.PoolFirst, visit.PoolKnown, visit.PoolQuiet, visit.PoolSignal, visit.PoolFailing}, N: n}}, nil
}
