package policy

import (
	"math"
	"time"
)

// ForPolicy returns the rules with the rests after failures that a policy prescribes, unless r already has others
// than the defaults. "seed" rests for the smallest interval, as its document prescribes; the schedulers of
// Software Heritage have their own rests. Neither grows, and the number of failures alone disables an origin. All
// other policies have the defaults. A second call changes nothing.
func (r Rules) ForPolicy(policy string) Rules {
	d := DefaultRules()
	var failed, notFound time.Duration
	switch policy {
	case "seed":
		failed = time.Duration(r.Intervals[0]) * 24 * time.Hour
		notFound = failed
	case "swh2026", "swh2026-git", "legacy":
		failed, notFound = 14*24*time.Hour, 31*24*time.Hour
	default:
		return r
	}
	if r.FailedCooldown == d.FailedCooldown {
		r.FailedCooldown = failed
	}
	if r.NotFoundCooldown == d.NotFoundCooldown {
		r.NotFoundCooldown = notFound
	}
	if r.FailedGrowth == d.FailedGrowth {
		r.FailedGrowth = 1
	}
	if r.DisableSpan == d.DisableSpan {
		r.DisableSpan = 0
	}
	return r
}

// failureRest returns for how many seconds an origin rests after its latest visit, which
// failed: the cooldown of its kind of failure, times FailedGrowth for each failure in a row
// before it, and at most LongestFailed unless the cooldown itself is longer.
func (r Rules) failureRest(s State) int64 {
	first := r.FailedCooldown
	if s.LastStatus == NotFound {
		first = r.NotFoundCooldown
	}
	grown := first.Seconds() * math.Pow(r.FailedGrowth, float64(min(max(s.Failures-1, 0), 64)))
	return int64(min(grown, max(r.LongestFailed, first).Seconds()))
}

// refusalEnd returns until when an origin rests after a Retry-After; Never without one. After the
// first of several in a row it is the end that the server named. Each further one makes the rest
// longer as a failure does, because two origins that refuse whenever their host may be visited
// would keep it from all others.
func (r Rules) refusalEnd(s State) int64 {
	if s.NotBefore == Never || s.Refusals <= 1 {
		return s.NotBefore
	}
	asked := float64(s.NotBefore - s.LastVisit)
	grown := asked * math.Pow(r.FailedGrowth, float64(min(s.Refusals-1, 64)))
	return addSeconds(s.LastVisit, int64(min(grown, max(r.LongestFailed.Seconds(), asked))))
}

// givesUp reports whether a failure at a time disables an origin: it is one of at least
// DisableAfter in a row, and the last success, or without one the first sight, is at least
// DisableSpan ago.
func (r Rules) givesUp(s State, at int64) bool {
	since := s.LastSuccess
	if since == Never {
		since = s.FirstSeen
	}
	long := since == Never || clampTime(at)-clampTime(since) >= seconds(r.DisableSpan)
	return s.Failures >= r.DisableAfter && long
}
