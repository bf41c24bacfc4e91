package policy

// The results of Rules.Why, as users read them.
const (
	Eligible         = "eligible"
	InFlight         = "in flight"
	absoluteCooldown = "absolute cooldown"
	FailedCooldown   = "failed cooldown"
	NotFoundCooldown = "not-found cooldown"
	RetryAfter       = "Retry-After"
	StillFresh       = "fresh by Cache-Control or ttl"
	fixedInterval    = "fixed interval"
	ToldGap          = "told-gap after the last visit"
	Unreachable      = "no connection to its host"
	Disabled         = "disabled"
)

// Rest returns the time from which an origin may be visited, and the reason for the wait; without
// one they are Never and Eligible. A disabled origin waits until Latest. Of several rests the
// longest is returned, and of equal ones the first in this order: a visit under way, Retry-After,
// freshness, then the fixed interval or, without one, the cooldown and the rest after a failure.
// After a report of a change, toldRest replaces those from freshness on if it ends earlier.
func (r Rules) Rest(s State) (until int64, why string) {
	if !s.Enabled() {
		return Latest, Disabled
	}
	l := longest{Never, Eligible}
	if s.LastScheduled > s.LastVisit {
		l.add(s.LastScheduled, seconds(r.LostAfter), InFlight)
	}
	l.add(r.refusalEnd(s), 0, RetryAfter)
	own := r.ownRest(s)
	if told := r.toldRest(s); s.ToldAt != Never && told.until < own.until {
		own = told
	}
	l.add(own.until, 0, own.why)
	return l.until, l.why
}

// longest is the end of the longest of several rests, and its reason.
type longest struct {
	until int64
	why   string
}

// add adds a rest of so many seconds since a time. Never begins none.
func (l *longest) add(since, length int64, reason string) {
	if since == Never {
		return
	}
	if end := addSeconds(since, length); end > l.until {
		l.until, l.why = end, reason
	}
}

// ownRest is the rest that the origin's own pace asks for; a report of a change ends it.
func (r Rules) ownRest(s State) longest {
	l := longest{Never, Eligible}
	l.add(r.freshEnd(s), 0, StillFresh)
	if s.Every > 0 {
		due, reason := r.fixedDue(s)
		l.add(due, 0, reason)
		return l
	}
	l.add(s.LastScheduled, r.cooldown(s), absoluteCooldown)
	switch s.LastStatus {
	case Failed:
		l.add(s.LastVisit, r.failureRest(s), FailedCooldown)
	case NotFound:
		l.add(s.LastVisit, r.failureRest(s), NotFoundCooldown)
	}
	return l
}

// toldRest is the rest of an origin whose change was reported. Each visit in a row that found no change after a
// report doubles it.
func (r Rules) toldRest(s State) longest {
	l := longest{Never, Eligible}
	l.add(s.LastScheduled, seconds(r.ToldGap)<<min(s.ToldFalse, 20), ToldGap)
	return l
}

// cooldown returns for how many seconds an origin rests after it was scheduled. It depends
// on the rate only after a success, because a visit that failed saw no change. One that
// changes regularly rests at most until its next change may come.
func (r Rules) cooldown(s State) int64 {
	shortest, longest := seconds(r.Cooldown), seconds(r.LongestCooldown)
	lastFailed := s.LastSuccess != s.LastVisit
	if shortest >= longest || s.LastScheduled == Never || lastFailed {
		return shortest
	}
	wanted := min(int64(r.RestShare/r.Rate(s)*day), r.Overflow(s))
	if h, ok := s.Habit(); ok {
		wanted = min(wanted, h.Next-h.Spread-s.LastScheduled)
	}
	return min(max(wanted, shortest), longest)
}

// ShortestInterval returns the days between two visits of an origin if each comes as soon as Rest permits, and
// succeeds as the last one did. It is the rest after the last success, even if the next visits failed, and without the
// shorter one just before a regular change. One that failed DisableAfter times in a row is likely to fail again, and
// has the rest of its failures.
func (r Rules) ShortestInterval(s State) float64 {
	if s.Failures >= r.DisableAfter {
		return float64(r.failureRest(s)) / day
	}
	at := s.LastSuccess
	if at == Never {
		at = s.FirstSeen
	}
	after := s
	after.LastScheduled, after.LastVisit, after.LastSuccess = at, at, at
	after.Disabled, after.LastStatus, after.NotBefore, after.Refusals, after.Failures = "", Full, Never, 0, 0
	after.LastUpdate, after.Recent = min(s.LastUpdate, at), Recent{}
	if s.LastVisit != s.LastSuccess {
		after.FreshUntil = Never // a later visit has set it
	}
	until, _ := r.Rest(after)
	return max(float64(until-at)/day, 0)
}

// freshEnd returns until when the server called its answer fresh, but not after the document is likely to lose
// items unseen.
func (r Rules) freshEnd(s State) int64 {
	if s.FreshUntil == Never || s.LastVisit == Never {
		return s.FreshUntil
	}
	return min(s.FreshUntil, addSeconds(s.LastVisit, r.Overflow(s)))
}

// fixedDue returns when an origin with a fixed interval is due, and the reason for the wait: Never before its first
// visit. One whose last visit had no success is tried again when others would be, if that is earlier than the
// interval. That also holds if its host could not be reached, which is not a failure of the origin.
func (r Rules) fixedDue(s State) (due int64, why string) {
	if s.LastScheduled == Never {
		return Never, fixedInterval
	}
	due, why = addSeconds(s.LastScheduled, s.Every), fixedInterval
	if s.LastVisit == Never || s.LastVisit == s.LastSuccess || s.LastScheduled > s.LastVisit {
		return due, why
	}
	if again := addSeconds(s.LastVisit, r.failureRest(s)); again < due {
		due, why = again, FailedCooldown
		if s.LastStatus == NotFound {
			why = NotFoundCooldown
		}
	}
	return due, why
}

// Why returns Eligible if an origin may be visited at a time, else the reason.
func (r Rules) Why(s State, now int64) string {
	until, why := r.Rest(s)
	if s.Enabled() && now >= until {
		return Eligible
	}
	return why
}
