package policy

// Record applies an outcome by the rules of the policy "seed", and returns the state after it.
// position is the largest target handed out so far; targets of origins that have none count from
// it. If the event is not final, or not newer than the last visit, the state stays as it is and
// Effect.Ignored has the reason.
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
	s = r.learn(s, e, &effect)
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

// TargetAfterVisit returns the target of an origin that another policy has scheduled so far: the interval of its
// index after its last visit, and Never before its first.
func (r Rules) TargetAfterVisit(s State) int64 {
	if s.LastVisit == Never {
		return Never
	}
	return addSeconds(s.LastVisit, r.Interval(s.Index, 0))
}

// Position returns the largest target handed out so far.
func (r Rules) Position(position int64, s State) int64 {
	if s.Target == Never {
		return position
	}
	return max(position, s.Target)
}

// nextIndex returns the index after a visit: smaller, so that visits are more frequent, if the visit
// saw a change (changed), else larger.
func (r Rules) nextIndex(index int, changed bool) int {
	if changed {
		return r.clampIndex(index - r.Lower)
	}
	return r.clampIndex(index + r.Raise)
}

// recordSuccess records a visit with success: it ends the failures in a row, and dates count from
// it again.
func (s *State) recordSuccess(e Event) {
	s.recordVisit(e, e.Status)
	switch {
	case e.Digest != s.LastDigest:
		s.ToldFalse = 0
	case s.Dates > 0:
		s.ToldFalse = min(s.ToldFalse+1, mostDates)
	}
	s.LastSuccess, s.LastDigest, s.Failures, s.Dates = s.LastVisit, e.Digest, 0, 0
	if !e.Unmodified {
		s.LastRead = s.LastVisit
	}
}

// recordFailure records a visit without success. failures counts those in a row including this one. The origin is
// disabled if its server called it gone, or after too many failures (givesUp); an already disabled one keeps its
// reason.
func (s *State) recordFailure(e Event, failures int, r Rules) {
	status := Failed
	if e.Status == NotFound || e.Status == Gone {
		status = NotFound
	}
	s.recordVisit(e, status)
	s.Failures = failures
	switch {
	case !s.Enabled():
	case e.Status == Gone:
		s.Disabled = ByGone
	case r.givesUp(*s, e.At):
		s.Disabled = ByFailures
	}
}

// recordVisit records what all visits have in common. A Retry-After and a time of freshness count
// until the next visit only.
func (s *State) recordVisit(e Event, status Status) {
	s.LastVisit, s.LastStatus, s.NotBefore, s.Refusals = e.At, status, Never, 0
	if e.NotBefore > 0 {
		s.NotBefore = e.NotBefore
	}
	s.FreshUntil = Never
	if e.FreshUntil > 0 {
		s.FreshUntil = e.FreshUntil
	}
}

// AfterRefusal takes back the failure that a policy recorded for a visit that ended with a
// Retry-After, because the server works and says when to come back, or for one that did not reach
// its host. It counts the Retry-After, if there is one. The rest stays.
func AfterRefusal(before, after State) State {
	after.Failures, after.LastStatus, after.Disabled = before.Failures, before.LastStatus, before.Disabled
	after.Refusals = before.Refusals
	if after.NotBefore != Never {
		after.Refusals++
	}
	return after
}

// mostDates limits State.Dates.
const mostDates = 1000

// Listed records that a lister named the origin. Unless the operator disabled it, it
// is enabled again; its failures stay counted, so that one more failure disables it. One
// that its server called gone is enabled again only if the lister dates a change since.
// A date older than the known one is ignored, and so is any date if others tell of the origin's
// changes (Told). Any other date later than the last success, if there was one, is a report of a change
// (ToldAt).
func Listed(s State, at, lastUpdate int64) State {
	s.LastSeen = max(s.LastSeen, clampTime(at))
	if !s.Told && s.addDate(clampTime(lastUpdate)) && s.LastSuccess != Never && s.LastUpdate > s.LastSuccess {
		s.noteTold(at)
	}
	switch s.Disabled {
	case ByOperator:
	case ByGone:
		if s.LastUpdate > s.LastVisit {
			s.Disabled = ""
		}
	default:
		s.Disabled = ""
	}
	return s
}

// addDate notes a date of a change, and reports whether it is newer than the known one; else it is ignored. Dates
// counts those after the last success.
func (s *State) addDate(at int64) (newer bool) {
	if at <= s.LastUpdate {
		return false
	}
	s.LastUpdate = at
	if at > s.LastSuccess {
		s.Dates = min(s.Dates+1, mostDates)
	}
	return true
}

// noteTold notes that a change was reported at a time, unless an earlier report waits for a visit.
func (s *State) noteTold(at int64) {
	if s.ToldAt == Never {
		s.ToldAt = clampTime(at)
	}
}

// Tell records a report of a change of the origin, such as one of a forge's webhook. It
// counts as a date. From then on the dates of its lister are ignored, because its quality
// is another. Reports change nothing while an earlier one waits for a visit.
func Tell(s State, at int64) State {
	if s.Told && s.ToldAt != Never {
		return s
	}
	if !s.Told {
		s.Told, s.LastUpdate, s.Dates = true, Never, 0
	}
	s.addDate(clampTime(at))
	s.noteTold(at)
	return s
}

// TellersID stands for those who report changes where a lister is named.
const TellersID int32 = -1

// DatedBy returns who dates the origin: its lister, or TellersID.
func (s State) DatedBy() int32 {
	if s.Told {
		return TellersID
	}
	return s.Lister
}

// Unlisted records that a successful full listing did not name the origin, which disables it. An already disabled
// one keeps its reason.
func Unlisted(s State) State {
	if s.Enabled() {
		s.Disabled = ByLister
	}
	return s
}
