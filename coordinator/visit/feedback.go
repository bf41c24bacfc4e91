package visit

// Record applies an outcome by the rules of the seed. position is the queue
// position: the largest target handed out so far. An event that is not final, or
// not newer than the last visit, changes nothing.
func (r Rules) Record(s State, e Event, position int64) (State, Effect) {
	e = e.clamped()
	effect := Effect{Ignored: ignored(s, e), First: s.LastVisit == Never, Success: e.success()}
	if effect.Ignored != "" {
		return s, Effect{Ignored: effect.Ignored}
	}
	fudge := r.clampFudge(e.Fudge)
	from := r.from(s, position)
	if !effect.Success {
		s.Target = plus(from, stretch(r.Intervals[0], fudge))
		s.fail(e, s.Failures+1, r)
		return s, effect
	}
	effect.Changed = e.Digest != s.LastDigest
	s = r.learn(s, e, effect)
	if !effect.First {
		s.Index = r.step(s.Index, effect.Changed)
	}
	s.Target = plus(from, r.Interval(s.Index, fudge))
	s.succeed(e)
	return s, effect
}

func ignored(s State, e Event) string {
	switch {
	case !e.final():
		return NotFinal
	case e.At <= s.LastVisit:
		return NotNewer
	}
	return ""
}

// from is what a target is counted from: itself, or the queue position.
func (r Rules) from(s State, position int64) int64 {
	if s.Target != Never {
		return s.Target
	}
	return min(max(position, -Latest), Latest)
}

func (r Rules) step(index int, changed bool) int {
	if changed {
		return r.clampIndex(index - r.Lower)
	}
	return r.clampIndex(index + r.Raise)
}

func (s *State) succeed(e Event) {
	s.visited(e, e.Status)
	s.LastSuccess, s.LastDigest, s.Failures = s.LastVisit, e.Digest, 0
}

// fail notes a failure, the count-th in a row.
func (s *State) fail(e Event, count int, r Rules) {
	status := e.Status
	if status != NotFound {
		status = Failed
	}
	s.visited(e, status)
	s.Failures = count
	if s.Failures >= r.DisableAfter && s.Enabled() {
		s.Disabled = ByFailures
	}
}

func (s *State) visited(e Event, status Status) {
	s.LastVisit, s.LastStatus, s.NotBefore = e.At, status, Never
	if e.NotBefore > 0 {
		s.NotBefore = e.NotBefore
	}
}

// Listed says that a lister named the origin: it takes part again, with its
// failures still counted, so that it is probed once. An older date is ignored.
func Listed(s State, at, lastUpdate int64) State {
	s.LastSeen = max(s.LastSeen, clampTime(at))
	s.LastUpdate = max(s.LastUpdate, clampTime(lastUpdate))
	if s.Disabled != ByOperator {
		s.Disabled = ""
	}
	return s
}

// Missed says that a full listing which ended well did not name the origin.
func Missed(s State) State {
	if s.Enabled() {
		s.Disabled = ByLister
	}
	return s
}
