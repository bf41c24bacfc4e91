package policy

// swh is the scheduler of Software Heritage as of 2026, for comparison: fixed
// percentages for three pools, none for PoolB3, and failures lengthen the interval.
type swh struct {
	Rules
	name     string
	percents [3]float64 // of PoolB2, PoolB1 and PoolA
}

func (p swh) Name() string { return p.name }

// Position moves only with origins of PoolA (positionInGroup).
func (p swh) Position(position int64, s State) int64 { return p.positionInGroup(position, s) }

// Place puts origins whose date is older than their last success into PoolB3, which
// gets no slots.
func (swh) Place(s State) Place { return placeInGroup(s) }

func (swh) Worth(p Place, _ Quality, _ int64) float64 { return -float64(p.Ref) }

// Shares gives fixed percentages to known changes, to first visits by date and to origins
// without a date: 40, 40 and 20, or of git 49, 49 and 2. It does not refill within one
// call; the caller asks again for the slots left over. If a percentage of n is less than a slot it
// refills in the order of the pools, because some of the slots may be for a pool without origins.
func (p swh) Shares(n int, c Counts) (shares, refill []Share) {
	shares = sharePerPool(PoolB2, PoolB1, PoolA)
	for i, slots := range splitSlots(n, c.Served, p.percents[:]...) {
		shares[i].N = slots
		if float64(n)*p.percents[i] < 100 {
			refill = sharePerPool(PoolB2, PoolB1, PoolA)
		}
	}
	return shares, refill
}

// Record differs from Rules.Record as follows: a failure lengthens the interval, the target moves
// by a whole interval after it, failures in a row are counted only while they are of one kind,
// and a target of 0 counts as none. An ignored event (ignoredReason) leaves the state as it is.
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
		s = p.learn(s, e, &effect)
		s.recordSuccess(e)
		return s, effect
	}
	failures := 1
	notFound := e.Status == NotFound || e.Status == Gone
	if sameKind := notFound == (s.LastStatus == NotFound); sameKind {
		failures += s.Failures
	}
	s.recordFailure(e, failures, p.Rules)
	return s, effect
}
