package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

	// A scheduled origin rests for RestShare of the expected time between its changes, but at least for Cooldown,
	// and at most for the longer of LongestCooldown and Cooldown.
	Cooldown         time.Duration
	LongestCooldown  time.Duration
	RestShare        float64
	MaxLag           time.Duration // longest time between two visits of an origin that answers, if slots suffice; 0: any
	ToldGap          time.Duration // shortest time between two visits after reports of changes
	LostAfter        time.Duration // wait for an outcome before the visit counts as lost
	FailedCooldown   time.Duration // wait after a visit that failed
	NotFoundCooldown time.Duration // wait after a visit that found no origin
	LongestFailed    time.Duration // longest wait that FailedGrowth leads to
	FailedGrowth     float64       // factor on these waits for each failure in a row before
	DisableSpan      time.Duration // without a success, until failures disable an origin

	Ahead time.Duration // by how much the date of an outcome may exceed our clock

	HostShare   float64       // largest share of a batch for one host
	HostSlots   int           // concurrent visits of one host
	HostGap     time.Duration // minimum time between two visits of one host
	LongestGap  time.Duration // larger Crawl-delays of robots.txt are cut to it
	NowShare    float64       // share of the slots for visits that users requested
	MixShare    float64       // share of pool B2's slots for the smallest lag instead of the largest
	WeightFresh float64       // weight of the freshness term of the value
	WeightLag   float64       // weight of its harmonic (lag) term

	PriorDays     float64 // days between changes of an unknown origin
	PriorStrength float64 // weight of the prior, in changes
	HorizonDays   float64 // how far ahead the freshness that a visit gains counts: at this age 37 %
	HalfLifeDays  float64 // after which an observation counts half for the rate
	FirstShare    float64 // smallest share of the slots for first visits
	KnownShare    float64 // smallest share of the slots for other visits
	FirstOrder    string  // of first visits: one of FirstOrders
	ForkWeight    float64 // factor on the value of forks
	FailedFactor  float64 // factor on the value for each failure in a row
}

// The orders of first visits: the origin that was created first, the one whose last update
// is longest ago, or the one with the most recent update.
const (
	ByCreation = "created"
	ByUpdate   = "updated"
	ByActivity = "activity"
)

// FirstOrders are the orders of first visits, the default first.
var FirstOrders = []string{ByCreation, ByUpdate, ByActivity}

// DefaultRules returns the thresholds that apply unless --visit-rules changes them. Check accepts
// them.
func DefaultRules() Rules {
	return Rules{
		Intervals:  []int{1, 1, 2, 2, 2, 4, 16, 64, 256, 1024, 4096},
		FirstIndex: 4, Raise: 1, Lower: 2, Fudge: 0.1, DisableAfter: 3,
		Cooldown: 12 * time.Hour, RestShare: 0.05, MaxLag: 30 * 24 * time.Hour, ToldGap: time.Minute, LostAfter: 7 * 24 * time.Hour,
		FailedCooldown: time.Hour, NotFoundCooldown: 2 * 24 * time.Hour, LongestFailed: 7 * 24 * time.Hour, FailedGrowth: 2,
		DisableSpan: 14 * 24 * time.Hour,
		Ahead:       5 * time.Minute,
		HostShare:   0.5, HostSlots: 4, HostGap: time.Second, LongestGap: 5 * time.Minute, NowShare: 0.1,
		WeightFresh: 1, WeightLag: 0.02, HorizonDays: 365,
		PriorDays: 45, PriorStrength: 0.6, HalfLifeDays: 180,
		FirstShare: 0.995, KnownShare: 0.005, FailedFactor: 0.5, FirstOrder: ByCreation, ForkWeight: 1,
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
	for name, d := range map[string]time.Duration{"cooldown": r.Cooldown, "longest cooldown": r.LongestCooldown, "max lag": r.MaxLag, "told gap": r.ToldGap, "lost after": r.LostAfter,
		"failed cooldown": r.FailedCooldown, "not-found cooldown": r.NotFoundCooldown, "longest failed cooldown": r.LongestFailed, "disable span": r.DisableSpan, "host gap": r.HostGap, "longest host gap": r.LongestGap, "ahead": r.Ahead} {
		if d < 0 {
			return bad("%s %s: want 0 or more", name, d)
		}
	}
	for name, x := range map[string]float64{"fudge": r.Fudge, "host share": r.HostShare, "save-now share": r.NowShare,
		"mix": r.MixShare, "first share": r.FirstShare, "known share": r.KnownShare, "failed factor": r.FailedFactor, "rest share": r.RestShare, "fork weight": r.ForkWeight} {
		if !(x >= 0 && x <= 1) {
			return bad("%s %v: want 0 to 1", name, x)
		}
	}
	for name, x := range map[string]float64{"prior days": r.PriorDays, "prior strength": r.PriorStrength, "half-life": r.HalfLifeDays, "horizon": r.HorizonDays} {
		if !(x > 0 && x <= 1e6) {
			return bad("%s %v: want more than 0, at most 10^6", name, x)
		}
	}
	if !(r.FailedGrowth >= 1 && r.FailedGrowth <= 1000) {
		return bad("failed growth %v: want 1 to 1000", r.FailedGrowth)
	}
	if !slices.Contains(FirstOrders, r.FirstOrder) {
		return bad("first-order %q: want one of %s", r.FirstOrder, strings.Join(FirstOrders, ", "))
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

// clampFudge returns u, a random share of an interval, within -Fudge to Fudge, and 0 for NaN.
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
