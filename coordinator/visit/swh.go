package visit

// SWH is the scheduler of Software Heritage as of 2026, to compare with: fixed
// weights for three pools, no last resort, a failure that lengthens the interval.
type SWH struct{ Rules }

// Name implements Policy.
func (SWH) Name() string { return "swh2026" }

// Place implements Policy. Origins whose dates are not newer than their last
// success are in a pool that gets no slots.
func (SWH) Place(s State) Place { return groupPlace(s) }

// Worth implements Policy.
func (SWH) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares implements Policy: 40 % for known changes, 40 % for first visits by date,
// 20 % for what has no date. It never refills within one call; the caller asks
// again for what is left. Where so few are left that a pool's would round to
// nothing, which would stop it, they go to the pools in order.
func (SWH) Shares(n int, _ Counts) (shares, refill []Share) {
	shares = single(PoolB2, PoolB1, PoolA)
	for i, percent := range []int{40, 40, 20} {
		shares[i].N = n * percent / 100
	}
	if n < 5 {
		return shares, single(PoolB2, PoolB1, PoolA)
	}
	return shares, nil
}

// Record implements Policy. It differs from the seed's: a failure is followed by a
// whole, longer interval, only failures of one kind are counted together, and a
// target of 0 counts as none.
func (p SWH) Record(s State, e Event, position int64) (State, Effect) {
	e = e.clamped()
	if reason := ignored(s, e); reason != "" {
		return s, Effect{Ignored: reason}
	}
	effect := Effect{First: s.LastVisit == Never, Success: e.success()}
	effect.Changed = effect.Success && e.Digest != s.LastDigest
	if s.Target == 0 {
		s.Target = Never
	}
	from := p.from(s, position)
	if !effect.First {
		s.Index = p.step(s.Index, effect.Changed)
	}
	s.Target = plus(from, p.Interval(s.Index, e.Fudge))
	if effect.Success {
		s = p.learn(s, e, effect)
		s.succeed(e)
		return s, effect
	}
	count := 1
	if same := e.Status == NotFound; same == (s.LastStatus == NotFound) {
		count += s.Failures
	}
	s.fail(e, count, p.Rules)
	return s, effect
}
