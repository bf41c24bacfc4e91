package visit

// The results of Rules.Why, as users read them.
const (
	Eligible         = "eligible"
	InFlight         = "in flight"
	absoluteCooldown = "absolute cooldown"
	FailedCooldown   = "failed cooldown"
	NotFoundCooldown = "not-found cooldown"
	RetryAfter       = "Retry-After"
	Disabled         = "disabled"
)

// Rest returns the time from which an origin may be visited, and the reason for the
// wait; without one they are Never and Eligible. A disabled origin waits until Latest.
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
	rest(s.LastScheduled, seconds(r.Cooldown), absoluteCooldown)
	switch s.LastStatus {
	case Failed:
		rest(s.LastVisit, seconds(r.FailedCooldown), FailedCooldown)
	case NotFound:
		rest(s.LastVisit, seconds(r.NotFoundCooldown), NotFoundCooldown)
	}
	rest(s.NotBefore, 0, RetryAfter)
	return until, why
}

// Why returns Eligible if an origin may be visited at a time, else the reason.
func (r Rules) Why(s State, now int64) string {
	until, why := r.Rest(s)
	if s.Enabled() && now >= until {
		return Eligible
	}
	return why
}
