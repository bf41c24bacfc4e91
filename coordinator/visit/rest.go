package visit

// The reasons for which an origin is not visited now, for people.
const (
	Eligible         = "eligible"
	InFlight         = "in flight"
	AbsoluteCooldown = "absolute cooldown"
	FailedCooldown   = "failed cooldown"
	NotFoundCooldown = "not-found cooldown"
	AskedForPatience = "asked for patience"
	Disabled         = "disabled"
)

// Rest returns until when an origin rests, and why; it may be visited from then
// on. An origin that is disabled rests for ever (Latest).
func (r Rules) Rest(s State) (until int64, why string) {
	if !s.Enabled() {
		return Latest, Disabled
	}
	until, why = Never, Eligible
	rest := func(since, length int64, reason string) {
		if since == Never {
			return
		}
		if end := plus(since, length); end > until {
			until, why = end, reason
		}
	}
	if s.LastScheduled > s.LastVisit {
		rest(s.LastScheduled, seconds(r.LostAfter), InFlight)
	}
	rest(s.LastScheduled, seconds(r.Cooldown), AbsoluteCooldown)
	switch s.LastStatus {
	case Failed:
		rest(s.LastVisit, seconds(r.FailedCooldown), FailedCooldown)
	case NotFound:
		rest(s.LastVisit, seconds(r.NotFoundCooldown), NotFoundCooldown)
	}
	rest(s.NotBefore, 0, AskedForPatience)
	return until, why
}

// Why says whether an origin may be visited at a time, or why not.
func (r Rules) Why(s State, now int64) string {
	until, why := r.Rest(s)
	if s.Enabled() && now >= until {
		return Eligible
	}
	return why
}
