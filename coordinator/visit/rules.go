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
	FirstIndex   int     // of an origin that is new
	Raise, Lower int     // steps of the index after an unchanged and a changed visit
	Fudge        float64 // by how much of itself an interval may vary
	DisableAfter int     // failures in a row

	Cooldown         time.Duration // since an origin was last scheduled
	LostAfter        time.Duration // a visit without an outcome is lost
	FailedCooldown   time.Duration // since a visit that failed
	NotFoundCooldown time.Duration // since one that found nothing

	Ahead time.Duration // how far the clock of an outcome may be ahead of ours

	HostShare   float64       // of one batch, for one host
	HostSlots   int           // visits of one host at a time
	HostGap     time.Duration // between two visits of one host
	NowShare    float64       // of slots, for visits that somebody asked for
	MixShare    float64       // of pool B2's slots, for the smallest lag instead of the largest
	WeightFresh float64       // of the freshness term of the value
	WeightLag   float64       // of its harmonic term

	PriorDays     float64 // between changes, of an origin of which nothing is known
	PriorStrength float64 // changes that the prior counts for
	HalfLifeDays  float64 // of what visits taught of a rate
	FirstShare    float64 // of slots that first visits get at least
	KnownShare    float64 // of slots that other visits get at least
	FailedFactor  float64 // by which each failure in a row lowers the rate
}

// DefaultRules are the thresholds of the specification.
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

// Check refuses rules under which the arithmetic means nothing.
func (r Rules) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("visit rules: "+format+": %w", append(args, fault.ErrInvalid)...)
	}
	if len(r.Intervals) == 0 || r.FirstIndex < 0 || r.FirstIndex >= len(r.Intervals) {
		return bad("%d intervals with first index %d; the index must be one of them", len(r.Intervals), r.FirstIndex)
	}
	for i, days := range r.Intervals {
		if days < 1 || days > 100_000 || i > 0 && days < r.Intervals[i-1] {
			return bad("interval %d is %d days; 1 to 100000 are accepted, none less than the one before", i, days)
		}
	}
	if r.Raise < 0 || r.Lower < 0 || r.DisableAfter < 1 || r.HostSlots < 1 {
		return bad("steps %d and %d, %d failures, %d slots of a host: steps are at least 0, the others 1", r.Raise, r.Lower, r.DisableAfter, r.HostSlots)
	}
	for name, d := range map[string]time.Duration{"cooldown": r.Cooldown, "lost after": r.LostAfter,
		"failed cooldown": r.FailedCooldown, "not-found cooldown": r.NotFoundCooldown, "host gap": r.HostGap, "ahead": r.Ahead} {
		if d < 0 {
			return bad("%s %s is negative", name, d)
		}
	}
	for name, x := range map[string]float64{"fudge": r.Fudge, "host share": r.HostShare, "save-now share": r.NowShare,
		"mix": r.MixShare, "first share": r.FirstShare, "known share": r.KnownShare, "failed factor": r.FailedFactor} {
		if !(x >= 0 && x <= 1) {
			return bad("%s %v; 0 to 1 are accepted", name, x)
		}
	}
	for name, x := range map[string]float64{"prior days": r.PriorDays, "prior strength": r.PriorStrength, "half-life": r.HalfLifeDays} {
		if !(x > 0 && x <= 1e6) {
			return bad("%s %v; above 0 to 10^6 are accepted", name, x)
		}
	}
	if !(r.WeightFresh >= 0 && r.WeightLag >= 0 && r.WeightFresh+r.WeightLag > 0 && r.WeightFresh+r.WeightLag < 1e6) {
		return bad("weights %v and %v; at least one must be above 0", r.WeightFresh, r.WeightLag)
	}
	return nil
}

// Interval is the seconds between visits at an index, varied by fudge, which is
// clamped to ±Rules.Fudge. An index out of the table is clamped too.
func (r Rules) Interval(index int, fudge float64) int64 {
	return stretch(r.Intervals[r.clampIndex(index)], r.clampFudge(fudge))
}

func stretch(days int, fudge float64) int64 {
	return int64(math.Floor(float64(days) * day * (1 + fudge)))
}

func (r Rules) clampIndex(i int) int { return min(max(i, 0), len(r.Intervals)-1) }

func (r Rules) clampFudge(u float64) float64 {
	if math.IsNaN(u) {
		return 0
	}
	return min(max(u, -r.Fudge), r.Fudge)
}

// clampTime keeps a time between the years -6000 and 9999; Never stays.
func clampTime(t int64) int64 {
	if t == Never {
		return Never
	}
	return min(max(t, -Latest), Latest)
}

// plus adds seconds, 0 or more, to a time, up to Latest.
func plus(t, seconds int64) int64 { return min(clampTime(t)+seconds, Latest) }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
