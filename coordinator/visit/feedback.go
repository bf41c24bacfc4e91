package visit

// Record applies an outcome by the rules of the policy "seed". position is the
// largest target handed out so far; targets of origins that have none count from it.
// If the event is not final, or not newer than the last visit, the state stays as it
// is and Effect.Ignored has the reason.
func (r Rules) Record(s State, e Event, position int64) (State, Effect) {
	e = e.clamped()
	effect := Effect{Ignored: ignoredReason(s, e), First: s.LastVisit == Never, Success: e.success()}
	if effect.Ignored != "" {
		return s, Effect{Ignored: effect.Ignored}
	}
	fudge := r.clampFudge(e.Fudge)
	base := r.targetBase(s, position)
	if !effect.Success {
		s.Target = addSeconds(base, intervalSeconds(r.Intervals[0], fudge))
		s.recordFailure(e, s.Failures+1, r)
		return s, effect
	}
	effect.Changed = e.Digest != s.LastDigest
	s = r.learnRate(s, e, effect)
	if !effect.First {
		s.Index = r.nextIndex(s.Index, effect.Changed)
	}
	s.Target = addSeconds(base, r.Interval(s.Index, fudge))
	s.recordSuccess(e)
	return s, effect
}

// ignoredReason returns why an event is not recorded; empty: it is recorded.
func ignoredReason(s State, e Event) string {
	switch {
	case !e.final():
		return NotFinal
	case e.At <= s.LastVisit:
		return NotNewer
	}
	return ""
}

// targetBase is the time from which the next target counts: the present target, or
// the queue position if the origin has none.
func (r Rules) targetBase(s State, position int64) int64 {
	if s.Target != Never {
		return s.Target
	}
	return min(max(position, -Latest), Latest)
}

func (r Rules) nextIndex(index int, changed bool) int {
	if changed {
		return r.clampIndex(index - r.Lower)
	}
	return r.clampIndex(index + r.Raise)
}

func (s *State) recordSuccess(e Event) {
	s.recordVisit(e, e.Status)
	s.LastSuccess, s.LastDigest, s.Failures = s.LastVisit, e.Digest, 0
}

// recordFailure records a visit without success. failures counts those in a row
// including this one; from Rules.DisableAfter on the origin is disabled.
func (s *State) recordFailure(e Event, failures int, r Rules) {
	status := e.Status
	if status != NotFound {
		status = Failed
	}
	s.recordVisit(e, status)
	s.Failures = failures
	if s.Failures >= r.DisableAfter && s.Enabled() {
		s.Disabled = ByFailures
	}
}

func (s *State) recordVisit(e Event, status Status) {
	s.LastVisit, s.LastStatus, s.NotBefore = e.At, status, Never
	if e.NotBefore > 0 {
		s.NotBefore = e.NotBefore
	}
}

// Listed records that a lister named the origin. Unless the operator disabled it, it
// is enabled again; its failures stay counted, so that one more failure disables it.
// A date older than the known one is ignored.
func Listed(s State, at, lastUpdate int64) State {
	s.LastSeen = max(s.LastSeen, clampTime(at))
	s.LastUpdate = max(s.LastUpdate, clampTime(lastUpdate))
	if s.Disabled != ByOperator {
		s.Disabled = ""
	}
	return s
}

// Unlisted records that a successful full listing did not name the origin.
func Unlisted(s State) State {
	if s.Enabled() {
		s.Disabled = ByLister
	}
	return s
}
