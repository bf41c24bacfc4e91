package visit

// Legacy is the loop that Software Heritage had before: one queue by due time, and
// an interval that was divided after every visit, changed or not, so that it
// always went to the minimum.
type Legacy struct{ Rules }

// Name implements Policy.
func (Legacy) Name() string { return "legacy" }

// Place implements Policy.
func (Legacy) Place(s State) Place { return dueFirst(s) }

// Worth implements Policy.
func (Legacy) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares implements Policy.
func (Legacy) Shares(n int, _ Counts) (shares, refill []Share) {
	return []Share{{Pools: []Pool{PoolAll}, N: n}}, nil
}

// Record implements Policy: due again after the interval, counted from the visit; a
// failure is due after the smallest.
func (p Legacy) Record(s State, e Event, position int64) (State, Effect) {
	index := s.Index
	s, effect := p.Rules.Record(s, e, position)
	if effect.Ignored != "" {
		return s, effect
	}
	s.Index = index
	if effect.Success {
		s.Index = p.clampIndex(index - 1)
	}
	s.Target = plus(s.LastVisit, p.Interval(s.Index, e.Fudge))
	if !effect.Success {
		s.Target = plus(s.LastVisit, p.Interval(0, e.Fudge))
	}
	return s, effect
}

// dueFirst is one queue by target, those without one first.
func dueFirst(s State) Place {
	if s.Target == Never {
		return Place{Pool: PoolAll, Ref: unvisited + s.FirstSeen}
	}
	return Place{Pool: PoolAll, Ref: s.Target}
}

// RoundRobin visits whoever waits longest.
type RoundRobin struct{ Rules }

// Name implements Policy.
func (RoundRobin) Name() string { return "roundrobin" }

// Place implements Policy.
func (RoundRobin) Place(s State) Place {
	if s.LastVisit == Never {
		return Place{Pool: PoolAll, Ref: unvisited + s.FirstSeen}
	}
	return Place{Pool: PoolAll, Ref: s.LastVisit}
}

// Worth implements Policy.
func (RoundRobin) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares implements Policy.
func (RoundRobin) Shares(n int, _ Counts) (shares, refill []Share) {
	return []Share{{Pools: []Pool{PoolAll}, N: n}}, nil
}
