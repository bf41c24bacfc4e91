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
