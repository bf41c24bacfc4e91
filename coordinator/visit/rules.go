package visit

import (
	"fmt"
	"math"
	"time"

	"leasehold/shared/fault"
)

// Rules are the thresholds that all policies share.
type Rules struct {
	Intervals    []int   // days between visits, by index
	FirstIndex   int     // index of a new origin
	Raise, Lower int     // steps of the index after an unchanged and a changed visit
	Fudge        float64 // largest share by which an interval varies
	DisableAfter int     // failures in a row that disable an origin

	Cooldown         time.Duration // wait after an origin was scheduled
	LostAfter        time.Duration // wait for an outcome before the visit counts as lost
	FailedCooldown   time.Duration // wait after a visit that failed
	NotFoundCooldown time.Duration // wait after a visit that found no origin

	Ahead time.Duration // by how much the date of an outcome may exceed our clock

	HostShare   float64       // largest share of a batch for one host
	HostSlots   int           // concurrent visits of one host
	HostGap     time.Duration // minimum time between two visits of one host
	NowShare    float64       // share of the slots for visits that users requested
	MixShare    float64       // share of pool B2's slots for the smallest lag instead of the largest
	WeightFresh float64       // weight of the freshness term of the value
	WeightLag   float64       // weight of its harmonic (lag) term

	PriorDays     float64 // days between changes of an unknown origin
	PriorStrength float64 // weight of the prior, in changes
	HalfLifeDays  float64 // after which an observation counts half for the rate
	FirstShare    float64 // smallest share of the slots for first visits
	KnownShare    float64 // smallest share of the slots for other visits
	FailedFactor  float64 // factor on the rate for each failure in a row
}

// DefaultRules returns the thresholds that apply unless --visit-rules changes them.
func DefaultRules() Rules {
	return Rules{
		Intervals:  []int{1, 1, 2, 2, 2, 4, 16, 64, 256, 1024, 4096},
		FirstIndex: 4, Raise: 1, Lower: 2, Fudge: 0.1, DisableAfter: 3,
		Cooldown: 12 * time.Hour, LostAfter: 7 * 24 * time.Hour,
		FailedCooldown: 14 * 24 * time.Hour, NotFoundCooldown: 31 * 24 * time.Hour,
		Ahead:     5 * time.Minute,
		HostShare: 0.5, HostSlots: 4, HostGap: time.Second, NowShare: 0.1,
		WeightFresh: 1, WeightLag: 1,
		PriorDays: 30, PriorStrength: 0.3, HalfLifeDays: 180,
		FirstShare: 0.2, KnownShare: 0.4, FailedFactor: 0.25,
	}
}

// Check returns fault.ErrInvalid, with the rule and the accepted range, if a rule is
// out of range; the arithmetic of this package relies on these ranges.
func (r Rules) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("visit rules: "+format+": %w", append(args, fault.ErrInvalid)...)
	}
	if len(r.Intervals) == 0 || r.FirstIndex < 0 || r.FirstIndex >= len(r.Intervals) {
		return bad("first index %d: want 0 to %d (the number of intervals less one)", r.FirstIndex, len(r.Intervals)-1)
	}
	for i, days := range r.Intervals {
		if days < 1 || days > 100_000 || i > 0 && days < r.Intervals[i-1] {
			return bad("interval %d is %d days: want 1 to 100000, not less than the interval before it", i, days)
		}
	}
	if r.Raise < 0 || r.Lower < 0 || r.DisableAfter < 1 || r.HostSlots < 1 {
		return bad("raise %d, lower %d, disable-after %d, host-slots %d: want at least 0, 0, 1 and 1", r.Raise, r.Lower, r.DisableAfter, r.HostSlots)
	}
	for name, d := range map[string]time.Duration{"cooldown": r.Cooldown, "lost after": r.LostAfter,
		"failed cooldown": r.FailedCooldown, "not-found cooldown": r.NotFoundCooldown, "host gap": r.HostGap, "ahead": r.Ahead} {
		if d < 0 {
			return bad("%s %s: want 0 or more", name, d)
		}
	}
	for name, x := range map[string]float64{"fudge": r.Fudge, "host share": r.HostShare, "save-now share": r.NowShare,
		"mix": r.MixShare, "first share": r.FirstShare, "known share": r.KnownShare, "failed factor": r.FailedFactor} {
		if !(x >= 0 && x <= 1) {
			return bad("%s %v: want 0 to 1", name, x)
		}
	}
	for name, x := range map[string]float64{"prior days": r.PriorDays, "prior strength": r.PriorStrength, "half-life": r.HalfLifeDays} {
		if !(x > 0 && x <= 1e6) {
			return bad("%s %v: want more than 0, at most 10^6", name, x)
		}
	}
	if !(r.WeightFresh >= 0 && r.WeightLag >= 0 && r.WeightFresh+r.WeightLag > 0 && r.WeightFresh+r.WeightLag < 1e6) {
		return bad("weight-fresh %v and weight-lag %v: want 0 or more each, a sum above 0 and below 10^6", r.WeightFresh, r.WeightLag)
	}
	return nil
}

// Interval returns the seconds between visits at an index, changed by the share
// fudge. Both are clamped: index to the table, fudge to ±Rules.Fudge.
func (r Rules) Interval(index int, fudge float64) int64 {
	return intervalSeconds(r.Intervals[r.clampIndex(index)], r.clampFudge(fudge))
}

func intervalSeconds(days int, fudge float64) int64 {
	return int64(math.Floor(float64(days) * day * (1 + fudge)))
}

func (r Rules) clampIndex(i int) int { return min(max(i, 0), len(r.Intervals)-1) }

func (r Rules) clampFudge(u float64) float64 {
	if math.IsNaN(u) {
		return 0
	}
	return min(max(u, -r.Fudge), r.Fudge)
}

// clampTime limits a time to the years -6000 to 9999, so that sums of times do not
// overflow; Never stays Never.
func clampTime(t int64) int64 {
	if t == Never {
		return Never
	}
	return min(max(t, -Latest), Latest)
}

// addSeconds adds seconds, 0 or more, to a time; the result is at most Latest.
func addSeconds(t, seconds int64) int64 { return min(clampTime(t)+seconds, Latest) }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
