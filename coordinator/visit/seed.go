package visit

// Seed is the policy of the specification: four pools, slots by the share of dated
// origins, targets moved by fixed intervals.
type Seed struct{ Rules }

// Name implements Policy.
func (Seed) Name() string { return "seed" }

// Place implements Policy.
func (Seed) Place(s State) Place { return groupPlace(s) }

// Worth implements Policy: each pool has one queue, so only the order in it counts.
func (Seed) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares implements Policy.
func (p Seed) Shares(n int, c Counts) (shares, refill []Share) {
	split := Split(n, c)
	for _, pool := range groups {
		part := split[pool]
		if pool == PoolB2 {
			easy := int(float64(part) * p.MixShare)
			shares = append(shares, Share{[]Pool{pool}, easy, true})
			part -= easy
		}
		shares = append(shares, Share{Pools: []Pool{pool}, N: part})
	}
	return shares, single(refillOrder...)
}

// unvisited puts those without a target before all targets, in the order in which
// they were first seen.
const unvisited = -1 << 60

// groupPlace orders A by target (none first, then by first sight), B1 by date, B2
// by lag, the largest first, and B3 by target.
func groupPlace(s State) Place {
	p := Place{Pool: Group(s)}
	switch p.Pool {
	case PoolB1:
		p.Ref = s.LastUpdate
	case PoolB2:
		p.Ref = s.LastSuccess - s.LastUpdate
	default:
		p.Ref = s.Target
		if s.Target == Never {
			p.Ref = unvisited + s.FirstSeen
		}
	}
	return p
}
