package visit_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
	"leasehold/shared/fault"
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

func TestARefusalAndAFailureRestForTheirTimesFactors(t *testing.T) {
	t.Parallel()
	r := visit.DefaultRules()
	r.Cooldown, r.FailedCooldown, r.NotFoundCooldown, r.LongestFailed, r.FailedGrowth = 0, 100*time.Second, 300*time.Second, 1000*time.Second, 3
	const now = 1_000_000
	for name, c := range map[string]struct {
		status             visit.Status
		failures, refusals int
		asked, want        int64
	}{
		"failed once":                   {visit.Failed, 1, 0, visit.Never, 100},
		"failed twice":                  {visit.Failed, 2, 0, visit.Never, 300},
		"failed three times":            {visit.Failed, 3, 0, visit.Never, 900},
		"failed often":                  {visit.Failed, 1000, 0, visit.Never, 1000},
		"failed, without a count":       {visit.Failed, 0, 0, visit.Never, 100},
		"not found":                     {visit.NotFound, 1, 0, visit.Never, 300},
		"not found twice":               {visit.NotFound, 2, 0, visit.Never, 900},
		"refused once":                  {visit.Full, 0, 1, 50, 50},
		"refused, and not counted":      {visit.Full, 0, 0, 50, 50},
		"refused twice":                 {visit.Full, 0, 2, 50, 150},
		"refused three times":           {visit.Full, 0, 3, 50, 450},
		"refused often":                 {visit.Full, 0, 1000, 50, 1000},
		"refused often, and for longer": {visit.Full, 0, 1000, 5000, 5000},
		"refused twice, without a rest": {visit.Full, 0, 2, visit.Never, 0},
	} {
		s := visit.NewState(1, 0, r)
		s.LastVisit, s.LastSuccess, s.LastScheduled, s.LastStatus, s.Failures, s.Refusals = now, now, now, c.status, c.failures, c.refusals
		if c.asked != visit.Never {
			s.NotBefore = now + c.asked
		}
		until, _ := r.Rest(s)
		require.Equal(t, now+c.want, until, name)
	}
	r.LongestFailed = 50 * time.Second
	s := visit.NewState(1, 0, r)
	s.LastVisit, s.LastStatus, s.Failures = now, visit.Failed, 5
	until, _ := r.Rest(s)
	require.EqualValues(t, now+100, until, "a cooldown that is longer than the longest is not shortened")
}

func TestACooldownEndsBeforeTheNextChangeOfAHabit(t *testing.T) {
	t.Parallel()
	r := visit.DefaultRules()
	r.Cooldown, r.LongestCooldown, r.RestShare = time.Hour, 5*24*time.Hour, 1
	s := changedAt(tuesday, tuesday+7*day, tuesday+14*day, tuesday+21*day)
	h, ok := s.Habit()
	require.True(t, ok)
	afterSuccess := int64(0) // the last visit
	rest := func(scheduled int64) int64 {
		s.LastScheduled, s.LastVisit, s.LastSuccess = scheduled, scheduled+afterSuccess, scheduled
		until, _ := r.Rest(s)
		return until - scheduled
	}
	earliest := h.Next - h.Spread
	require.EqualValues(t, 5*day, rest(earliest-6*day))
	require.EqualValues(t, 4*day, rest(earliest-4*day))
	require.EqualValues(t, 3600, rest(earliest-1800))
	require.EqualValues(t, 3600, rest(earliest+day))
	afterSuccess = 1
	require.EqualValues(t, 3600, rest(earliest-4*day), "after a failure")
	r.LongestCooldown, afterSuccess = time.Hour, 0
	require.EqualValues(t, 3600, rest(earliest-4*day), "there is no longer one")
}

func TestAPolicyHasTheRestsOfItsOwnUnlessARuleSetsThem(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	d := visit.DefaultRules()
	for policy, want := range map[string][2]time.Duration{
		"seed": {day, day}, "swh2026": {14 * day, 31 * day}, "swh2026-git": {14 * day, 31 * day}, "legacy": {14 * day, 31 * day},
		"value": {d.FailedCooldown, d.NotFoundCooldown}, "roundrobin": {d.FailedCooldown, d.NotFoundCooldown},
	} {
		r := d.ForPolicy(policy)
		require.Equal(t, want, [2]time.Duration{r.FailedCooldown, r.NotFoundCooldown}, policy)
		own := policy != "value" && policy != "roundrobin"
		require.Equal(t, own, r.FailedGrowth == 1 && r.DisableSpan == 0, policy)
		require.Equal(t, !own, reflect.DeepEqual(r, d), policy)
		require.Equal(t, r, r.ForPolicy(policy), policy)
		set := d
		set.FailedCooldown, set.NotFoundCooldown, set.FailedGrowth, set.DisableSpan = 5*time.Minute, 6*time.Minute, 4, 7*time.Minute
		require.Equal(t, set, set.ForPolicy(policy), "%s: rules that were set stay", policy)
	}
	seed := d
	seed.Intervals = []int{3, 4, 5, 6, 7}
	require.Equal(t, 3*day, seed.ForPolicy("seed").NotFoundCooldown)
}

func TestTheSlotsOfSeedAreSplitByTheShareOfDatedOrigins(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	rules.MixShare = 0.25
	p, err := visit.New("seed", rules)
	require.NoError(t, err)
	for _, c := range []struct {
		n, a, b int
		want    []int // A, B1, the back of B2, B2, B3
	}{
		{0, 1, 1, []int{0, 0, 0, 0, 0}}, {5, 0, 0, []int{0, 0, 0, 0, 0}}, {5, 3, 0, []int{5, 0, 0, 0, 0}}, {6, 0, 3, []int{0, 2, 0, 2, 2}},
		{24, 1, 1, []int{12, 4, 1, 3, 4}}, {1, 1, 1, []int{1, 0, 0, 0, 0}}, {1, 1, 9, []int{0, 1, 0, 0, 0}}, {2, 1, 9, []int{0, 1, 0, 1, 0}}, {5, 1, 3, []int{2, 1, 0, 1, 1}},
	} {
		shares, refill := p.Shares(c.n, visit.Counts{A: c.a, B: c.b})
		var got []int
		for i, s := range shares {
			got = append(got, s.N)
			require.Equal(t, []visit.Pool{[]visit.Pool{visit.PoolA, visit.PoolB1, visit.PoolB2, visit.PoolB2, visit.PoolB3}[i]}, s.Pools)
			require.Equal(t, i == 2, s.Back)
		}
		require.Equal(t, c.want, got, c)
		require.Equal(t, []visit.Share{{Pools: []visit.Pool{visit.PoolB2}}, {Pools: []visit.Pool{visit.PoolB1}}, {Pools: []visit.Pool{visit.PoolA}}, {Pools: []visit.Pool{visit.PoolB3}}}, refill)
	}
}

func TestSharesOfSwh2026ForGitLeaveLittleToOriginsWithoutADate(t *testing.T) {
	t.Parallel()
	p, err := visit.New("swh2026-git", visit.DefaultRules())
	require.NoError(t, err)
	shares, refill := p.Shares(100, visit.Counts{})
	require.Equal(t, []int{49, 49, 2}, []int{shares[0].N, shares[1].N, shares[2].N})
	require.Empty(t, refill)
	shares, refill = p.Shares(49, visit.Counts{})
	require.Equal(t, []int{24, 24, 0}, []int{shares[0].N, shares[1].N, shares[2].N})
	require.Len(t, refill, 3)
}

func TestEachPolicyPlacesAnOriginInItsOrder(t *testing.T) {
	t.Parallel()
	const unvisited = -1 << 60
	state := func(change func(*visit.State)) visit.State {
		s := visit.NewState(1, 1000, visit.DefaultRules())
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		state                 visit.State
		pool                  visit.Pool
		seed, legacy, rounded int64 // the refs
	}{
		"new":                {state(func(*visit.State) {}), visit.PoolA, unvisited + 1000, unvisited + 1000, unvisited + 1000},
		"with a target":      {state(func(s *visit.State) { s.Target, s.LastVisit, s.LastSuccess = 5000, 3000, 3000 }), visit.PoolA, 5000, 5000, 3000},
		"dated, not visited": {state(func(s *visit.State) { s.LastUpdate = 400 }), visit.PoolB1, 400, unvisited + 1000, unvisited + 1000},
		"dated since":        {state(func(s *visit.State) { s.LastUpdate, s.Target, s.LastVisit, s.LastSuccess = 3500, 5000, 3000, 3000 }), visit.PoolB2, -500, 5000, 3000},
		"dated at the visit": {state(func(s *visit.State) { s.LastUpdate, s.Target, s.LastVisit, s.LastSuccess = 3000, 5000, 3000, 3000 }), visit.PoolB3, 5000, 5000, 3000},
		"dated, no target":   {state(func(s *visit.State) { s.LastUpdate, s.LastVisit, s.LastSuccess = 3000, 3000, 3000 }), visit.PoolB3, unvisited + 1000, unvisited + 1000, 3000},
		"disabled":           {state(func(s *visit.State) { s.Disabled, s.LastUpdate = visit.ByGone, 5 }), 10, unvisited + 1000, unvisited + 1000, unvisited + 1000},
	} {
		require.Equal(t, c.pool, visit.Group(c.state), name)
		for policy, ref := range map[string]int64{"seed": c.seed, "swh2026": c.seed, "legacy": c.legacy, "roundrobin": c.rounded} {
			p, err := visit.New(policy, visit.DefaultRules())
			require.NoError(t, err)
			require.Equal(t, policy, p.Name())
			place := p.Place(c.state)
			require.Equal(t, ref, place.Ref, "%s: %s", name, policy)
			require.Equal(t, -float64(ref), p.Worth(place, visit.Quality{}, 9), "%s: %s", name, policy)
			if policy == "seed" || policy == "swh2026" {
				require.Equal(t, c.pool, place.Pool, "%s: %s", name, policy)
				continue
			}
			require.Equal(t, "all", place.Pool.String(), policy)
			shares, refill := p.Shares(7, visit.Counts{})
			require.Equal(t, []visit.Share{{Pools: []visit.Pool{place.Pool}, N: 7}}, shares)
			require.Empty(t, refill)
		}
	}
	require.Equal(t, "disabled", visit.Pool(10).String())
	require.Equal(t, []string{"seed", "swh2026", "swh2026-git", "legacy"}, visit.ByTarget)
	require.Equal(t, []string{"value", "seed", "swh2026", "swh2026-git", "legacy", "roundrobin"}, visit.Names)
}

// A policy with rules out of range would divide by zero, or visit an origin without a pause.
func TestAPolicyIsMadeOnlyByItsNameAndOfRulesInRange(t *testing.T) {
	t.Parallel()
	for _, name := range visit.Names {
		p, err := visit.New(name, visit.DefaultRules())
		require.NoError(t, err)
		require.Equal(t, name, p.Name())
		for what, change := range map[string]func(*visit.Rules){
			"no intervals": func(r *visit.Rules) { r.Intervals = nil },
			"no prior":     func(r *visit.Rules) { r.PriorDays = 0 },
			"no failures":  func(r *visit.Rules) { r.DisableAfter = 0 },
		} {
			rules := visit.DefaultRules()
			change(&rules)
			p, err := visit.New(name, rules)
			require.ErrorIs(t, err, fault.ErrInvalid, what)
			require.Nil(t, p)
			plan, err := visit.Uniform(name, rules)
			require.ErrorIs(t, err, fault.ErrInvalid, what)
			require.Nil(t, plan)
		}
	}
}
