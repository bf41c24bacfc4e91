package visit_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
)

func TestARestIsOfTheKindOfFailure(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	for name, c := range map[string]struct {
		event visit.Event
		want  visit.Status
		rest  time.Duration
	}{
		"a visit that failed":     {visit.Event{Status: visit.Failed}, visit.Failed, rules.FailedCooldown},
		"an origin not found":     {visit.Event{Status: visit.NotFound}, visit.NotFound, rules.NotFoundCooldown},
		"a part without a digest": {visit.Event{Status: visit.Partial}, visit.Failed, rules.FailedCooldown},
		"all without a digest":    {visit.Event{Status: visit.Full}, visit.Failed, rules.FailedCooldown},
		"a part with a digest":    {visit.Event{Status: visit.Partial, Digest: "a"}, visit.Partial, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.event.At = 100 * day
			s, effect := rules.Record(visit.NewState(1, 0, rules), c.event, 0)
			require.Equal(t, c.want, s.LastStatus)
			require.Equal(t, c.rest == 0, effect.Success)
			until, _ := rules.Rest(s)
			if c.rest > 0 {
				require.Equal(t, 1, s.Failures)
				require.Equal(t, c.event.At+int64(c.rest.Seconds()), until)
			} else {
				require.Zero(t, s.Failures)
				require.LessOrEqual(t, until, c.event.At)
			}
		})
	}
}

func TestADateAfterTheLastSuccessRaisesTheValueTheMoreItIsTrue(t *testing.T) {
	t.Parallel()
	p, now := visit.Value{Rules: visit.DefaultRules()}, int64(1_700_000_000)
	place := visit.Place{Pool: visit.PoolQuiet, Class: 20, Ref: now - 3*day}
	q := visit.Quality{Recall: 0.5, False: 0.01, Listed: now}
	worth := []float64{p.Worth(place, q, now)}
	place.Pool = visit.PoolSignal
	for _, wrong := range []float64{10, 1, 0.1, 0.01, 0.001} {
		q.False = wrong
		worth = append(worth, p.Worth(place, q, now))
	}
	require.IsIncreasing(t, worth, "without a date, and with ever fewer false dates")
	q.False = 0
	require.False(t, math.IsInf(p.Worth(place, q, now), 0) || math.IsNaN(p.Worth(place, q, now)), "a date is always true")
}

// With 50 false dates a day a date means nothing: the origin is worth what one without
// dates is.
func TestADateAmongManyFalseOnesMeansNothing(t *testing.T) {
	t.Parallel()
	p, now := visit.Value{Rules: visit.DefaultRules()}, int64(1_700_000_000)
	place := visit.Place{Pool: visit.PoolSignal, Class: 20, Ref: now - 5*day}
	dated := p.Worth(place, visit.Quality{Recall: 0.9, False: 50, Listed: now}, now)
	place.Pool = visit.PoolKnown
	require.InEpsilon(t, p.Worth(place, visit.Quality{}, now), dated, 0.05)
}

func TestADateAndAChangeAreCountedByTheirProbability(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	dated := visit.NewState(1, 0, rules)
	dated.LastSuccess, dated.LastUpdate, dated.Dates = 100*day, 101*day, 1
	undated := dated
	undated.LastUpdate, undated.Dates = 99*day, 0
	q := visit.Quality{Recall: 0.5, False: 0.5, Listed: 101 * day}
	e := visit.Event{Status: visit.Full, At: 102 * day, Digest: "x", Changes: 2, Span: 2}
	changed, unchanged := visit.Effect{Success: true, Changed: true}, visit.Effect{Success: true}
	for name, c := range map[string]struct {
		s      visit.State
		effect visit.Effect
		want   visit.Dates
	}{
		"it may be of the change, or false":  {dated, changed, visit.Dates{Hits: 0.5, Misses: 0.5, False: 0.5, Days: 1}},
		"a date without a change":            {dated, unchanged, visit.Dates{False: 1, Days: 1}},
		"no date and no change":              {undated, unchanged, visit.Dates{Days: 1}},
		"a change before or after a listing": {undated, changed, visit.Dates{Misses: 1, Days: 1}},
		"a visit that failed":                {dated, visit.Effect{Changed: true}, visit.Dates{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := rules.LearnDates(visit.Dates{}, q, c.s, e, c.effect)
			require.InDeltaSlice(t, []float64{c.want.Hits, c.want.Misses, c.want.False, c.want.Days}, []float64{got.Hits, got.Misses, got.False, got.Days}, 1e-9)
		})
	}
}

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

func TestAListingBeforeTheLastSuccessKnowsOfNoChange(t *testing.T) {
	t.Parallel()
	p, now := visit.Value{Rules: visit.DefaultRules()}, int64(1_700_000_000)
	place := visit.Place{Pool: visit.PoolQuiet, Class: 20, Ref: now - 3*day}
	want := p.Worth(place, visit.Quality{Recall: 0.5, False: 0.1, Listed: place.Ref}, now)
	require.Equal(t, want, p.Worth(place, visit.Quality{Recall: 0.5, False: 0.1, Listed: place.Ref - 10*day}, now))
	require.Greater(t, want, p.Worth(place, visit.Quality{Recall: 0.5, False: 0.1, Listed: now}, now))
}

// Without dates and without a horizon the index is that of the vectors.
func TestWithoutDatesTheIndexIsTheClosedForm(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	rules.WeightLag, rules.HorizonDays = 0, 1e6
	p, now := visit.Value{Rules: rules}, int64(1_700_000_000)
	for _, days := range []int64{1, 10, 100} {
		place := visit.Place{Pool: visit.PoolKnown, Class: 15, Ref: now - days*day}
		rate := visit.ClassRate(place.Class)
		fresh, _ := visit.Terms(rate*float64(days), float64(days), rate)
		require.InEpsilon(t, fresh, p.Worth(place, visit.Quality{}, now), 1e-3)
	}
}

func TestAFailingOriginIsWorthLessWithEachFailure(t *testing.T) {
	t.Parallel()
	p, now := visit.Value{Rules: visit.DefaultRules()}, int64(1_700_000_000)
	s := visit.NewState(1, now-100*day, visit.DefaultRules())
	s.LastSuccess, s.Changes, s.Days = now-20*day, 10, 300
	worth := []float64{p.Worth(p.Place(s), visit.Quality{}, now)}
	for s.Failures = 1; s.Failures < 4; s.Failures++ {
		require.Equal(t, visit.PoolFailing, p.Place(s).Pool)
		worth = append(worth, p.Worth(p.Place(s), visit.Quality{}, now))
	}
	require.IsDecreasing(t, worth)
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
