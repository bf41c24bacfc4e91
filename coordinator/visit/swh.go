package visit

// swh is the scheduler of Software Heritage as of 2026, for comparison: fixed
// percentages for three pools, none for PoolB3, and failures lengthen the interval.
type swh struct{ Rules }

func (swh) Name() string { return "swh2026" }

// Place puts origins whose date is older than their last success into PoolB3, which
// gets no slots.
func (swh) Place(s State) Place { return placeInGroup(s) }

func (swh) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares gives 40 % to known changes, 40 % to first visits by date and 20 % to
// origins without a date. It does not refill within one call; the caller asks again
// for the slots left over. For fewer than five slots it refills in the order of the
// pools, because a percentage that rounds to 0 would leave them unused.
func (swh) Shares(n int, _ Counts) (shares, refill []Share) {
	shares = sharePerPool(PoolB2, PoolB1, PoolA)
	for i, percent := range []int{40, 40, 20} {
		shares[i].N = n * percent / 100
	}
	if n < 5 {
		return shares, sharePerPool(PoolB2, PoolB1, PoolA)
	}
	return shares, nil
}

// Record differs from Rules.Record as follows: a failure lengthens the interval, the
// target moves by a whole interval after it, failures in a row are counted only while
// they are of one kind, and a target of 0 counts as none.
func (p swh) Record(s State, e Event, position int64) (State, Effect) {
	e = e.clamped()
	if reason := ignoredReason(s, e); reason != "" {
		return s, Effect{Ignored: reason}
	}
	effect := Effect{First: s.LastVisit == Never, Success: e.success()}
	effect.Changed = effect.Success && e.Digest != s.LastDigest
	if s.Target == 0 {
		s.Target = Never
	}
	base := p.targetBase(s, position)
	if !effect.First {
		s.Index = p.nextIndex(s.Index, effect.Changed)
	}
	s.Target = addSeconds(base, p.Interval(s.Index, e.Fudge))
	if effect.Success {
		s = p.learnRate(s, e, effect)
		s.recordSuccess(e)
		return s, effect
	}
	failures := 1
	if notFound := e.Status == NotFound; notFound == (s.LastStatus == NotFound) {
		failures += s.Failures
	}
	s.recordFailure(e, failures, p.Rules)
	return s, effect
}
