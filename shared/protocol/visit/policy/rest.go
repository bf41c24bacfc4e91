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
	Unreachable      = "no connection to its host"
	Disabled         = "disabled"
)

// Rest returns the time from which an origin may be visited, and the reason for the wait; without
// one they are Never and Eligible. A disabled origin waits until Latest. Of several rests the
// longest is returned, and of equal ones the first in this order: a visit under way, Retry-After,
// freshness, then the fixed interval or, without one, the cooldown and the rest after a failure.
func (r Rules) Rest(s State) (until int64, why string) {
	if !s.Enabled() {
		return Latest, Disabled
	}
	until, why = Never, Eligible
	rest := func(since, length int64, reason string) {
		if since == Never {
			return
		}
		if end := addSeconds(since, length); end > until {
			until, why = end, reason
		}
	}
	if s.LastScheduled > s.LastVisit {
		rest(s.LastScheduled, seconds(r.LostAfter), InFlight)
	}
	rest(r.refusalEnd(s), 0, RetryAfter)
	rest(s.FreshUntil, 0, StillFresh)
	if s.Every > 0 {
		rest(s.fixedDue(), 0, fixedInterval)
		return until, why
	}
	rest(s.LastScheduled, r.cooldown(s), absoluteCooldown)
	switch s.LastStatus {
	case Failed:
		rest(s.LastVisit, r.failureRest(s), FailedCooldown)
	case NotFound:
		rest(s.LastVisit, r.failureRest(s), NotFoundCooldown)
	}
	return until, why
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
	wanted := int64(r.RestShare / r.Rate(s) * day)
	if h, ok := s.Habit(); ok {
		wanted = min(wanted, h.Next-h.Spread-s.LastScheduled)
	}
	return min(max(wanted, shortest), longest)
}

// fixedDue returns when an origin with a fixed interval is due: Never before its first
// visit.
func (s State) fixedDue() int64 {
	if s.LastScheduled == Never {
		return Never
	}
	return addSeconds(s.LastScheduled, s.Every)
}

// Why returns Eligible if an origin may be visited at a time, else the reason.
func (r Rules) Why(s State, now int64) string {
	until, why := r.Rest(s)
	if s.Enabled() && now >= until {
		return Eligible
	}
	return why
}
