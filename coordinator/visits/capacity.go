package visits

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

// Capacity is what a number of slots can keep fresh. Rates are estimated from a sample of at most 4,096 origins,
// and exact below this number.
type Capacity struct {
	Slots        int
	VisitSeconds float64 // mean duration of a visit since the start; assumedVisit if none ended
	VisitsPerDay float64 // that the slots can hold
	Fixed        float64 // visits per day of origins with a fixed interval
	Fresh        float64 // largest share of the other origins that can be fresh
	Kinds        []KindCapacity
	Warnings     []string
}

// KindCapacity is the part of one kind of origin, without those with a fixed interval.
type KindCapacity struct {
	Kind     models.OriginKind
	Origins  float64 // that are enabled
	Changes  float64 // per day, of all of them
	Visits   float64 // per day at the optimum
	Interval float64 // mean days between two visits at the optimum; 0: they are not visited
}

const (
	assumedVisit = 1.0                // seconds
	recentSpan   = 7 * 24 * time.Hour // origins seen first in this time show how fast new ones come
)

// Capacity computes what a number of slots can hold, which intervals fit, and warns if origins wait in a pool
// that grows without end, of items that may have been missed, and if max-lag has no effect. Without enabled origins
// only the visits per day are set. The numbers are extrapolated from the sample of origins.
func (s *Store) Capacity(ctx context.Context, now time.Time, slots int) (c Capacity, err error) {
	m, err := s.Metrics(ctx, now)
	if err != nil {
		return c, err
	}
	c.Slots, c.VisitSeconds = slots, assumedVisit
	if m.Took.Count > 0 && m.Took.Sum > 0 {
		c.VisitSeconds = m.Took.Sum / float64(m.Took.Count)
	}
	c.VisitsPerDay = float64(slots) * 86400 / c.VisitSeconds
	var states []policy.State
	enabled, late := 0, 0.0
	err = s.write(ctx, "capacity of visits", func() error { // only a write transaction may read the cache
		for _, x := range s.cache.sample.states {
			if x.Enabled() {
				states = append(states, x)
			}
		}
		enabled, late = s.cache.counts.A+s.cache.counts.B, s.policy.LateVisits(s.counts())
		return nil
	})
	if err != nil || len(states) == 0 {
		return c, err
	}
	s.divideVisits(&c, states, float64(enabled)/float64(len(states)))
	c.Warnings = s.growthWarnings(c, m, states, float64(enabled)/float64(len(states)), now.Unix())
	if late > c.VisitsPerDay*policy.LateShare {
		c.Warnings = append(c.Warnings, fmt.Sprintf("max-lag needs %.0f visits a day, more than half of the %.0f that the slots hold: origins wait longer", late, c.VisitsPerDay))
	}
	if m.Overflows > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("feeds had more new items than they hold, so that %d items may have been missed (visits next --explain names the feeds)", m.Missed))
	}
	return c, nil
}

// divideVisits divides the visits among the origins of the sample, and sets Fixed, Fresh and Kinds.
// states has at least one, and each stands for scale origins. First those with a fixed interval get
// their visits; the rest of the visits goes to the others by policy.Optimum. No interval is shorter
// than the rest of the origin (Rules.ShortestInterval), from which the schedule is made too. It sorts states by type, so that the kinds are in that order.
func (s *Store) divideVisits(c *Capacity, states []policy.State, scale float64) {
	slices.SortFunc(states, func(a, b policy.State) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Key, b.Key)) })
	var groups []policy.RateGroup
	kinds := map[string]*KindCapacity{}
	var types []string // of the groups
	for _, x := range states {
		if x.Every > 0 {
			c.Fixed += scale * 86400 / float64(x.Every)
			continue
		}
		rules := s.policy.Rules(x.Type)
		groups = append(groups, policy.RateGroup{Rate: rules.Rate(x), Origins: scale, Shortest: rules.ShortestInterval(x)})
		types = append(types, x.Type)
		if kinds[x.Type] == nil {
			kinds[x.Type] = &KindCapacity{Kind: models.OriginKind(x.Type)}
		}
	}
	policy.Optimum(groups, max(c.VisitsPerDay-c.Fixed, 0))
	for i, g := range groups {
		k := kinds[types[i]]
		k.Origins += g.Origins
		k.Changes += g.Origins * g.Rate
		if g.Interval > 0 {
			k.Visits += g.Origins / g.Interval
			x := g.Rate * g.Interval
			c.Fresh += -math.Expm1(-x) / x / float64(len(groups)) // the share of the interval before the first change, which is a Poisson process
		}
	}
	for _, name := range slices.Compact(types) {
		k := kinds[name]
		if k.Visits > 0 {
			k.Interval = k.Origins / k.Visits
		}
		c.Kinds = append(c.Kinds, *k)
	}
}

// growthWarnings returns a warning for each pool that grows without end at this capacity, sorted:
// fixed intervals, first visits, targets, and groups without slots. Each of the states, a sample,
// stands for scale origins. As new origins count those of a recent time that have waited for an
// hour.
func (s *Store) growthWarnings(c Capacity, m Metrics, states []policy.State, scale float64, now int64) (warnings []string) {
	if c.Fixed > c.VisitsPerDay {
		warnings = append(warnings, fmt.Sprintf("fixed intervals need %.0f visits a day and the slots hold %.0f: they get later and later", c.Fixed, c.VisitsPerDay))
	}
	recent := 0.0
	positions := map[string]float64{}
	for _, x := range states {
		if x.FirstSeen > now-int64(recentSpan.Seconds()) && x.FirstSeen < now-3600 && x.LastVisit == policy.Never {
			recent += scale / recentSpan.Hours() * 24
		}
		if s.policy.UsesTargets(x.Type) && x.Every == 0 {
			positions[x.Type] += scale * 86400 / float64(s.policy.Rules(x.Type).Interval(x.Index, 0))
		}
	}
	if most := c.VisitsPerDay * (1 - s.rules.KnownShare); recent > most {
		warnings = append(warnings, fmt.Sprintf("%.0f new origins a day have waited for an hour or more, and at most %.0f first visits a day can be made: the pool of first visits grows", recent, most))
	}
	for name, needed := range positions {
		if needed > c.VisitsPerDay {
			warnings = append(warnings, fmt.Sprintf("the intervals of kind %s need %.0f visits a day and the slots hold %.0f: its targets fall behind the clock", name, needed, c.VisitsPerDay))
		}
	}
	for g, n := range m.Groups {
		if g.Group == policy.PoolB3.String() && n > 0 && s.policy.UsesGroups(string(g.Kind)) && s.policy.Ignores(string(g.Kind), policy.PoolB3) {
			warnings = append(warnings, fmt.Sprintf("%d origins of kind %s with dates before their last visit are in a pool without slots: they are never visited again", n, g.Kind))
		}
	}
	slices.Sort(warnings)
	return warnings
}
