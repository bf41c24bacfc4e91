package visit

// unvisited is added to the time of the first sight of an origin without a target,
// because it then precedes every target, and the earlier seen precedes the later.
const unvisited = -1 << 60

// onePool is the part that the policies "legacy" and "roundrobin" share: one queue,
// from which the smallest ref is visited first.
type onePool struct{ Rules }

func (onePool) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares gives all slots to the one pool, so there is nothing to refill.
func (onePool) Shares(n int, _ Counts) (shares, refill []Share) {
	return []Share{{Pools: []Pool{poolAll}, N: n}}, nil
}

// placeBy returns the place of an origin due at a time; Never comes first.
func (onePool) placeBy(s State, due int64) Place {
	if due == Never {
		due = unvisited + s.FirstSeen
	}
	return Place{Pool: poolAll, Ref: due}
}

// legacy is the loop that Software Heritage had before swh2026: one queue by due
// time. Every visit divided the interval, changed or not, so that all intervals went
// to the minimum.
type legacy struct{ onePool }

func (legacy) Name() string { return "legacy" }

func (p legacy) Place(s State) Place { return p.placeBy(s, s.Target) }

// Record sets the target to the interval after the visit; after a failure, to the smallest
// interval. The index decreases with each success, whether or not there was a change.
func (p legacy) Record(s State, e Event, position int64) (State, Effect) {
	index := s.Index
	s, effect := p.Rules.Record(s, e, position)
	if effect.Ignored != "" {
		return s, effect
	}
	s.Index = index
	next := 0
	if effect.Success {
		s.Index = p.clampIndex(index - 1)
		next = s.Index
	}
	s.Target = addSeconds(s.LastVisit, p.Interval(next, e.Fudge))
	return s, effect
}

// RoundRobin visits the origin whose last visit is longest ago.
type RoundRobin struct{ onePool }

// Name implements Policy.
func (RoundRobin) Name() string { return "roundrobin" }

// Place implements Policy: the origin with the earliest last visit comes first.
func (p RoundRobin) Place(s State) Place { return p.placeBy(s, s.LastVisit) }
