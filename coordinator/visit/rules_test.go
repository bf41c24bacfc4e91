package visit_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
)

func TestRulesBehindAnEmptyOneCount(t *testing.T) {
	t.Parallel()
	r, err := visit.ParseRules(" ,cooldown=1h,, disable-after=5 , ")
	require.NoError(t, err)
	require.Equal(t, time.Hour, r.Cooldown)
	require.Equal(t, 5, r.DisableAfter)
}

func TestSharesOfSwh2026AreExact(t *testing.T) {
	t.Parallel()
	p, err := visit.New("swh2026", visit.DefaultRules())
	require.NoError(t, err)
	for n, want := range map[int][]int{1: {0, 0, 0}, 4: {1, 1, 0}, 5: {2, 2, 1}, 9: {3, 3, 1}, 100: {40, 40, 20}} {
		shares, refill := p.Shares(n, visit.Counts{})
		var got []int
		for i, s := range shares {
			require.Equal(t, []visit.Pool{visit.PoolB2, visit.PoolB1, visit.PoolA}[i:i+1], s.Pools)
			got = append(got, s.N)
		}
		require.Equal(t, want, got, "%d slots", n)
		require.Equal(t, n < 5, len(refill) > 0, "%d slots", n)
	}
}

func TestRulesAtTheirLimitsAreAcceptedAndBeyondThemRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set func(*visit.Rules)
		ok  bool
	}{
		"weights of 0 and 1":       {func(r *visit.Rules) { r.WeightFresh, r.WeightLag = 0, 1 }, true},
		"weights of 1 and 0":       {func(r *visit.Rules) { r.WeightFresh, r.WeightLag = 1, 0 }, true},
		"a negative weight":        {func(r *visit.Rules) { r.WeightFresh, r.WeightLag = -1, 2 }, false},
		"another negative weight":  {func(r *visit.Rules) { r.WeightFresh, r.WeightLag = 2, -1 }, false},
		"weights just small":       {func(r *visit.Rules) { r.WeightFresh, r.WeightLag = 999_998, 1 }, true},
		"weights just large":       {func(r *visit.Rules) { r.WeightFresh, r.WeightLag = 999_999, 1 }, false},
		"a prior of 10^6 days":     {func(r *visit.Rules) { r.PriorDays = 1e6 }, true},
		"a prior of more":          {func(r *visit.Rules) { r.PriorDays = 1e6 + 1 }, false},
		"a prior of 0":             {func(r *visit.Rules) { r.PriorDays = 0 }, false},
		"a share of 0":             {func(r *visit.Rules) { r.NowShare = 0 }, true},
		"a share of 1":             {func(r *visit.Rules) { r.NowShare = 1 }, true},
		"a share above 1":          {func(r *visit.Rules) { r.NowShare = 1.01 }, false},
		"a negative share":         {func(r *visit.Rules) { r.NowShare = -0.01 }, false},
		"one slot of a host":       {func(r *visit.Rules) { r.HostSlots = 1 }, true},
		"no slot of a host":        {func(r *visit.Rules) { r.HostSlots = 0 }, false},
		"no steps":                 {func(r *visit.Rules) { r.Raise, r.Lower = 0, 0 }, true},
		"a negative step":          {func(r *visit.Rules) { r.Raise = -1 }, false},
		"the last index":           {func(r *visit.Rules) { r.FirstIndex = len(r.Intervals) - 1 }, true},
		"an index beyond the last": {func(r *visit.Rules) { r.FirstIndex = len(r.Intervals) }, false},
		"the longest interval":     {func(r *visit.Rules) { r.Intervals, r.FirstIndex = []int{1, 100_000}, 0 }, true},
		"a longer interval":        {func(r *visit.Rules) { r.Intervals, r.FirstIndex = []int{1, 100_001}, 0 }, false},
		"disabled by one failure":  {func(r *visit.Rules) { r.DisableAfter = 1 }, true},
		"disabled by none":         {func(r *visit.Rules) { r.DisableAfter = 0 }, false},
		"no cooldown":              {func(r *visit.Rules) { r.Cooldown = 0 }, true},
	} {
		r := visit.DefaultRules()
		c.set(&r)
		require.Equal(t, c.ok, r.Check() == nil, "%s: %v", name, r.Check())
	}
}

func TestEachShareEachNumberAndEachDurationOfTheRulesHasItsRange(t *testing.T) {
	t.Parallel()
	r := visit.DefaultRules()
	check := func(name string, ok bool, set func()) {
		r = visit.DefaultRules()
		set()
		require.Equal(t, ok, r.Check() == nil, "%s: %v", name, r.Check())
	}
	for name, d := range map[string]*time.Duration{
		"cooldown": &r.Cooldown, "longest cooldown": &r.LongestCooldown, "lost after": &r.LostAfter, "failed": &r.FailedCooldown, "not found": &r.NotFoundCooldown,
		"longest failed": &r.LongestFailed, "disable span": &r.DisableSpan, "host gap": &r.HostGap, "longest gap": &r.LongestGap, "ahead": &r.Ahead,
	} {
		check(name, true, func() { *d = 0 })
		check(name, false, func() { *d = -1 })
	}
	ranges := map[string]struct {
		x         *float64
		low, high float64
	}{"failed growth": {&r.FailedGrowth, 1, 1000}, "prior days": {&r.PriorDays, 1e-9, 1e6}, "prior strength": {&r.PriorStrength, 1e-9, 1e6}, "half-life": {&r.HalfLifeDays, 1e-9, 1e6}, "horizon": {&r.HorizonDays, 1e-9, 1e6}}
	for name, x := range map[string]*float64{
		"fudge": &r.Fudge, "host share": &r.HostShare, "now share": &r.NowShare, "mix": &r.MixShare, "first share": &r.FirstShare, "known share": &r.KnownShare,
		"failed factor": &r.FailedFactor, "rest share": &r.RestShare, "fork weight": &r.ForkWeight,
	} {
		ranges[name] = struct {
			x         *float64
			low, high float64
		}{x, 0, 1}
	}
	for name, c := range ranges {
		check(name, true, func() { *c.x = c.low })
		check(name, true, func() { *c.x = c.high })
		check(name, false, func() { *c.x = c.low - 1e-6 })
		check(name, false, func() { *c.x = c.high + 1e-6 })
		check(name, false, func() { *c.x = math.NaN() })
	}
	check("index", false, func() { r.FirstIndex = -1 })
	check("lower", false, func() { r.Lower = -1 })
	check("equal intervals", true, func() { r.Intervals, r.FirstIndex = []int{1, 1}, 0 })
	check("an interval of 0", false, func() { r.Intervals, r.FirstIndex = []int{0, 1}, 0 })
	for _, order := range visit.FirstOrders {
		check(order, true, func() { r.FirstOrder = order })
	}
	check("an unknown order", false, func() { r.FirstOrder = "best" })
}

func TestAnOriginRestsUntilTheLastOfItsReasonsIsOver(t *testing.T) {
	t.Parallel()
	const now = 1_800_000_000
	r := visit.DefaultRules()
	cooldown, lost := int64(r.Cooldown.Seconds()), int64(r.LostAfter.Seconds())
	failed, notFound := int64(r.FailedCooldown.Seconds()), int64(r.NotFoundCooldown.Seconds())
	visited := func(change func(*visit.State)) visit.State { // just now, with success
		s := visit.NewState(1, now-9*day, r)
		s.LastScheduled, s.LastVisit, s.LastSuccess, s.LastStatus = now, now, now, visit.Full
		s.Changes, s.Days = 1e6, 1 // it changes often, so that it rests for the shortest time
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		state visit.State
		until int64
		why   string
	}{
		"never visited":          {visit.NewState(1, now, r), visit.Never, visit.Eligible},
		"disabled":               {visited(func(s *visit.State) { s.Disabled = visit.ByOperator }), visit.Latest, visit.Disabled},
		"visited":                {visited(func(*visit.State) {}), now + cooldown, "absolute cooldown"},
		"under way":              {visited(func(s *visit.State) { s.LastScheduled = now + 1 }), now + 1 + lost, visit.InFlight},
		"the first is under way": {visited(func(s *visit.State) { s.LastVisit, s.LastSuccess = visit.Never, visit.Never }), now + lost, visit.InFlight},
		"fresh for longer":       {visited(func(s *visit.State) { s.FreshUntil = now + cooldown + 1 }), now + cooldown + 1, visit.StillFresh},
		"fresh for as long":      {visited(func(s *visit.State) { s.FreshUntil = now + cooldown }), now + cooldown, visit.StillFresh},
		"fresh for less":         {visited(func(s *visit.State) { s.FreshUntil = now + cooldown - 1 }), now + cooldown, "absolute cooldown"},
		"asked to wait":          {visited(func(s *visit.State) { s.NotBefore, s.FreshUntil = now+9*day, now+9*day }), now + 9*day, visit.RetryAfter},
		"asked to wait shortly":  {visited(func(s *visit.State) { s.NotBefore, s.FreshUntil = now+8*day, now+9*day }), now + 9*day, visit.StillFresh},
		"a fixed interval":       {visited(func(s *visit.State) { s.Every = 60 }), now + 60, "fixed interval"},
		"fixed, and failed":      {visited(func(s *visit.State) { s.Every, s.LastStatus, s.Failures = 60, visit.Failed, 1 }), now + 60, "fixed interval"},
		"fixed, before a visit":  {visited(func(s *visit.State) { s.Every, s.LastScheduled, s.LastVisit = 60, visit.Never, visit.Never }), visit.Never, visit.Eligible},
		"failed": {visited(func(s *visit.State) {
			s.LastScheduled, s.LastSuccess, s.LastStatus, s.Failures = now-cooldown, now-day, visit.Failed, 1
		}), now + failed, visit.FailedCooldown},
		"not found": {visited(func(s *visit.State) {
			s.LastScheduled, s.LastSuccess, s.LastStatus, s.Failures = now-cooldown, now-day, visit.NotFound, 1
		}), now + notFound, visit.NotFoundCooldown},
	} {
		until, why := r.Rest(c.state)
		require.Equal(t, c.why, why, name)
		require.Equal(t, c.until, until, name)
		if c.why == visit.Disabled {
			require.Equal(t, c.why, r.Why(c.state, visit.Latest), name)
			continue
		}
		require.Equal(t, visit.Eligible, r.Why(c.state, max(until, 0)), name)
		if until != visit.Never {
			require.Equal(t, c.why, r.Why(c.state, until-1), name)
		}
	}
}
