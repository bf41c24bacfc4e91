package simulate

import "leasehold/shared/protocol/visit/policy"

// optimal is the policy of KnownRates: Value with the true rates, 0 after death.
type optimal struct {
	policy.Value
	origins []origin
	burst   float64 // changes that come together; 0: one
}

// Name implements policy.Policy.
func (optimal) Name() string { return KnownRates }

// Place implements policy.Policy with the class of the true rate instead of the estimated one; in
// bursts each counts as one change. The class of an origin that was tried after its death is 0,
// the lowest.
func (p optimal) Place(s policy.State) policy.Place {
	o := &p.origins[s.Key]
	s.Recent = policy.Recent{} // it knows rates and no habits
	place := p.Value.Place(s)
	place.Class -= place.Class % policy.Classes
	switch {
	case s.LastVisit >= o.dies || s.LastScheduled >= o.dies:
	case p.burst > 0:
		place.Class += policy.ClassOf(o.rate / p.burst)
	default:
		place.Class += policy.ClassOf(o.rate)
	}
	return place
}

// Shares implements policy.Policy: no shares are reserved.
func (optimal) Shares(n int, _ policy.Counts) (shares, refill []policy.Share) {
	return []policy.Share{{Pools: []policy.Pool{policy.PoolFirst, policy.PoolKnown, policy.PoolQuiet, policy.PoolSignal, policy.PoolFailing}, N: n}}, nil
}
