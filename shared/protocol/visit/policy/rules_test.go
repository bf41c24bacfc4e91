package policy_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

func TestRulesBehindAnEmptyOneCount(t *testing.T) {
	t.Parallel()
	r, err := policy.ParseRules(" ,cooldown=1h,, disable-after=5 , ")
	require.NoError(t, err)
	require.Equal(t, time.Hour, r.Cooldown)
	require.Equal(t, 5, r.DisableAfter)
}

func TestSharesOfSwh2026AreExact(t *testing.T) {
	t.Parallel()
	p, err := policy.New("swh2026", policy.DefaultRules())
	require.NoError(t, err)
	for n, want := range map[int][]int{1: {1, 0, 0}, 4: {2, 2, 0}, 5: {2, 2, 1}, 9: {4, 4, 1}, 100: {40, 40, 20}} {
		shares, refill := p.Shares(n, policy.Counts{})
		var got []int
		for i, s := range shares {
			require.Equal(t, []policy.Pool{policy.PoolB2, policy.PoolB1, policy.PoolA}[i:i+1], s.Pools)
			got = append(got, s.N)
		}
		require.Equal(t, want, got, "%d slots", n)
		require.Equal(t, n < 5, len(refill) > 0, "%d slots", n)
	}
}

func TestRulesAtTheirLimitsAreAcceptedAndBeyondThemRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set func(*policy.Rules)
		ok  bool
	}{
		"weights of 0 and 1":       {func(r *policy.Rules) { r.WeightFresh, r.WeightLag = 0, 1 }, true},
		"weights of 1 and 0":       {func(r *policy.Rules) { r.WeightFresh, r.WeightLag = 1, 0 }, true},
		"a negative weight":        {func(r *policy.Rules) { r.WeightFresh, r.WeightLag = -1, 2 }, false},
		"another negative weight":  {func(r *policy.Rules) { r.WeightFresh, r.WeightLag = 2, -1 }, false},
		"weights just small":       {func(r *policy.Rules) { r.WeightFresh, r.WeightLag = 999_998, 1 }, true},
		"weights just large":       {func(r *policy.Rules) { r.WeightFresh, r.WeightLag = 999_999, 1 }, false},
		"a prior of 10^6 days":     {func(r *policy.Rules) { r.PriorDays = 1e6 }, true},
		"a prior of more":          {func(r *policy.Rules) { r.PriorDays = 1e6 + 1 }, false},
		"a prior of 0":             {func(r *policy.Rules) { r.PriorDays = 0 }, false},
		"a share of 0":             {func(r *policy.Rules) { r.NowShare = 0 }, true},
		"a share of 1":             {func(r *policy.Rules) { r.NowShare = 1 }, true},
		"a share above 1":          {func(r *policy.Rules) { r.NowShare = 1.01 }, false},
		"a negative share":         {func(r *policy.Rules) { r.NowShare = -0.01 }, false},
		"one slot of a host":       {func(r *policy.Rules) { r.HostSlots = 1 }, true},
		"no slot of a host":        {func(r *policy.Rules) { r.HostSlots = 0 }, false},
		"no steps":                 {func(r *policy.Rules) { r.Raise, r.Lower = 0, 0 }, true},
		"a negative step":          {func(r *policy.Rules) { r.Raise = -1 }, false},
		"the last index":           {func(r *policy.Rules) { r.FirstIndex = len(r.Intervals) - 1 }, true},
		"an index beyond the last": {func(r *policy.Rules) { r.FirstIndex = len(r.Intervals) }, false},
		"the longest interval":     {func(r *policy.Rules) { r.Intervals, r.FirstIndex = []int{1, 100_000}, 0 }, true},
		"a longer interval":        {func(r *policy.Rules) { r.Intervals, r.FirstIndex = []int{1, 100_001}, 0 }, false},
		"disabled by one failure":  {func(r *policy.Rules) { r.DisableAfter = 1 }, true},
		"disabled by none":         {func(r *policy.Rules) { r.DisableAfter = 0 }, false},
		"no cooldown":              {func(r *policy.Rules) { r.Cooldown = 0 }, true},
	} {
		r := policy.DefaultRules()
		c.set(&r)
		require.Equal(t, c.ok, r.Check() == nil, "%s: %v", name, r.Check())
	}
}

func TestEachShareEachNumberAndEachDurationOfTheRulesHasItsRange(t *testing.T) {
	t.Parallel()
	r := policy.DefaultRules()
	check := func(name string, ok bool, set func()) {
		r = policy.DefaultRules()
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
	for _, order := range policy.FirstOrders {
		check(order, true, func() { r.FirstOrder = order })
	}
	check("an unknown order", false, func() { r.FirstOrder = "best" })
}

func TestAnOriginRestsUntilTheLastOfItsReasonsIsOver(t *testing.T) {
	t.Parallel()
	const now = 1_800_000_000
	r := policy.DefaultRules()
	cooldown, lost := int64(r.Cooldown.Seconds()), int64(r.LostAfter.Seconds())
	failed, notFound := int64(r.FailedCooldown.Seconds()), int64(r.NotFoundCooldown.Seconds())
	visited := func(change func(*policy.State)) policy.State { // just now, with success
		s := policy.NewState(1, now-9*day, r)
		s.LastScheduled, s.LastVisit, s.LastSuccess, s.LastStatus = now, now, now, policy.Full
		s.Changes, s.Days = 1e6, 1 // it changes often, so that it rests for the shortest time
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		state policy.State
		until int64
		why   string
	}{
		"never visited":          {policy.NewState(1, now, r), policy.Never, policy.Eligible},
		"disabled":               {visited(func(s *policy.State) { s.Disabled = policy.ByOperator }), policy.Latest, policy.Disabled},
		"visited":                {visited(func(*policy.State) {}), now + cooldown, "absolute cooldown"},
		"under way":              {visited(func(s *policy.State) { s.LastScheduled = now + 1 }), now + 1 + lost, policy.InFlight},
		"the first is under way": {visited(func(s *policy.State) { s.LastVisit, s.LastSuccess = policy.Never, policy.Never }), now + lost, policy.InFlight},
		"fresh for longer":       {visited(func(s *policy.State) { s.FreshUntil = now + cooldown + 1 }), now + cooldown + 1, policy.StillFresh},
		"fresh for as long":      {visited(func(s *policy.State) { s.FreshUntil = now + cooldown }), now + cooldown, policy.StillFresh},
		"fresh for less":         {visited(func(s *policy.State) { s.FreshUntil = now + cooldown - 1 }), now + cooldown, "absolute cooldown"},
		"asked to wait":          {visited(func(s *policy.State) { s.NotBefore, s.FreshUntil = now+9*day, now+9*day }), now + 9*day, policy.RetryAfter},
		"asked to wait shortly":  {visited(func(s *policy.State) { s.NotBefore, s.FreshUntil = now+8*day, now+9*day }), now + 9*day, policy.StillFresh},
		"a fixed interval":       {visited(func(s *policy.State) { s.Every = 60 }), now + 60, "fixed interval"},
		"fixed, and failed":      {visited(func(s *policy.State) { s.Every, s.LastStatus, s.Failures = 60, policy.Failed, 1 }), now + 60, "fixed interval"},
		"fixed, before a visit":  {visited(func(s *policy.State) { s.Every, s.LastScheduled, s.LastVisit = 60, policy.Never, policy.Never }), policy.Never, policy.Eligible},
		"failed": {visited(func(s *policy.State) {
			s.LastScheduled, s.LastSuccess, s.LastStatus, s.Failures = now-cooldown, now-day, policy.Failed, 1
		}), now + failed, policy.FailedCooldown},
		"not found": {visited(func(s *policy.State) {
			s.LastScheduled, s.LastSuccess, s.LastStatus, s.Failures = now-cooldown, now-day, policy.NotFound, 1
		}), now + notFound, policy.NotFoundCooldown},
	} {
		until, why := r.Rest(c.state)
		require.Equal(t, c.why, why, name)
		require.Equal(t, c.until, until, name)
		if c.why == policy.Disabled {
			require.Equal(t, c.why, r.Why(c.state, policy.Latest), name)
			continue
		}
		require.Equal(t, policy.Eligible, r.Why(c.state, max(until, 0)), name)
		if until != policy.Never {
			require.Equal(t, c.why, r.Why(c.state, until-1), name)
		}
	}
}

func TestARefusalAndAFailureRestForTheirTimesFactors(t *testing.T) {
	t.Parallel()
	r := policy.DefaultRules()
	r.Cooldown, r.FailedCooldown, r.NotFoundCooldown, r.LongestFailed, r.FailedGrowth = 0, 100*time.Second, 300*time.Second, 1000*time.Second, 3
	const now = 1_000_000
	for name, c := range map[string]struct {
		status             policy.Status
		failures, refusals int
		asked, want        int64
	}{
		"failed once":                   {policy.Failed, 1, 0, policy.Never, 100},
		"failed twice":                  {policy.Failed, 2, 0, policy.Never, 300},
		"failed three times":            {policy.Failed, 3, 0, policy.Never, 900},
		"failed often":                  {policy.Failed, 1000, 0, policy.Never, 1000},
		"failed, without a count":       {policy.Failed, 0, 0, policy.Never, 100},
		"not found":                     {policy.NotFound, 1, 0, policy.Never, 300},
		"not found twice":               {policy.NotFound, 2, 0, policy.Never, 900},
		"refused once":                  {policy.Full, 0, 1, 50, 50},
		"refused, and not counted":      {policy.Full, 0, 0, 50, 50},
		"refused twice":                 {policy.Full, 0, 2, 50, 150},
		"refused three times":           {policy.Full, 0, 3, 50, 450},
		"refused often":                 {policy.Full, 0, 1000, 50, 1000},
		"refused often, and for longer": {policy.Full, 0, 1000, 5000, 5000},
		"refused twice, without a rest": {policy.Full, 0, 2, policy.Never, 0},
	} {
		s := policy.NewState(1, 0, r)
		s.LastVisit, s.LastSuccess, s.LastScheduled, s.LastStatus, s.Failures, s.Refusals = now, now, now, c.status, c.failures, c.refusals
		if c.asked != policy.Never {
			s.NotBefore = now + c.asked
		}
		until, _ := r.Rest(s)
		require.Equal(t, now+c.want, until, name)
	}
	r.LongestFailed = 50 * time.Second
	s := policy.NewState(1, 0, r)
	s.LastVisit, s.LastStatus, s.Failures = now, policy.Failed, 5
	until, _ := r.Rest(s)
	require.EqualValues(t, now+100, until, "a cooldown that is longer than the longest is not shortened")
}

func TestACooldownEndsBeforeTheNextChangeOfAHabit(t *testing.T) {
	t.Parallel()
	r := policy.DefaultRules()
	r.Cooldown, r.LongestCooldown, r.RestShare = time.Hour, 5*24*time.Hour, 1
	s := changedAt(tuesday, tuesday+7*day, tuesday+14*day, tuesday+21*day)
	s.Changes, s.Days = 0, 0 // the rate is that of the prior
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
	d := policy.DefaultRules()
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
	rules := policy.DefaultRules()
	rules.MixShare = 0.25
	p, err := policy.New("seed", rules)
	require.NoError(t, err)
	for _, c := range []struct {
		n, a, b int
		want    []int // A, B1, the back of B2, B2, B3
	}{
		{0, 1, 1, []int{0, 0, 0, 0, 0}}, {5, 0, 0, []int{0, 0, 0, 0, 0}}, {5, 3, 0, []int{5, 0, 0, 0, 0}}, {6, 0, 3, []int{0, 2, 0, 2, 2}},
		{24, 1, 1, []int{12, 4, 1, 3, 4}}, {1, 1, 1, []int{1, 0, 0, 0, 0}}, {1, 1, 9, []int{0, 1, 0, 0, 0}}, {2, 1, 9, []int{0, 1, 0, 1, 0}}, {5, 1, 3, []int{2, 1, 0, 1, 1}},
	} {
		shares, refill := p.Shares(c.n, policy.Counts{A: c.a, B: c.b})
		var got []int
		for i, s := range shares {
			got = append(got, s.N)
			require.Equal(t, []policy.Pool{[]policy.Pool{policy.PoolA, policy.PoolB1, policy.PoolB2, policy.PoolB2, policy.PoolB3}[i]}, s.Pools)
			require.Equal(t, i == 2, s.Back)
		}
		require.Equal(t, c.want, got, c)
		require.Equal(t, []policy.Share{{Pools: []policy.Pool{policy.PoolB2}}, {Pools: []policy.Pool{policy.PoolB1}}, {Pools: []policy.Pool{policy.PoolA}}, {Pools: []policy.Pool{policy.PoolB3}}}, refill)
	}
}

func TestSharesOfSwh2026ForGitLeaveLittleToOriginsWithoutADate(t *testing.T) {
	t.Parallel()
	p, err := policy.New("swh2026-git", policy.DefaultRules())
	require.NoError(t, err)
	shares, refill := p.Shares(100, policy.Counts{})
	require.Equal(t, []int{49, 49, 2}, []int{shares[0].N, shares[1].N, shares[2].N})
	require.Empty(t, refill)
	shares, refill = p.Shares(49, policy.Counts{})
	require.Equal(t, []int{25, 24, 0}, []int{shares[0].N, shares[1].N, shares[2].N})
	require.Len(t, refill, 3)
}

func TestEachPolicyPlacesAnOriginInItsOrder(t *testing.T) {
	t.Parallel()
	const unvisited = -1 << 60
	state := func(change func(*policy.State)) policy.State {
		s := policy.NewState(1, 1000, policy.DefaultRules())
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		state                 policy.State
		pool                  policy.Pool
		seed, legacy, rounded int64 // the refs
	}{
		"new":                {state(func(*policy.State) {}), policy.PoolA, unvisited + 1000, unvisited + 1000, unvisited + 1000},
		"with a target":      {state(func(s *policy.State) { s.Target, s.LastVisit, s.LastSuccess = 5000, 3000, 3000 }), policy.PoolA, 5000, 5000, 3000},
		"dated, not visited": {state(func(s *policy.State) { s.LastUpdate = 400 }), policy.PoolB1, 400, unvisited + 1000, unvisited + 1000},
		"dated since":        {state(func(s *policy.State) { s.LastUpdate, s.Target, s.LastVisit, s.LastSuccess = 3500, 5000, 3000, 3000 }), policy.PoolB2, -500, 5000, 3000},
		"dated at the visit": {state(func(s *policy.State) { s.LastUpdate, s.Target, s.LastVisit, s.LastSuccess = 3000, 5000, 3000, 3000 }), policy.PoolB3, 5000, 5000, 3000},
		"dated, no target":   {state(func(s *policy.State) { s.LastUpdate, s.LastVisit, s.LastSuccess = 3000, 3000, 3000 }), policy.PoolB3, unvisited + 1000, unvisited + 1000, 3000},
		"disabled":           {state(func(s *policy.State) { s.Disabled, s.LastUpdate = policy.ByGone, 5 }), 10, unvisited + 1000, unvisited + 1000, unvisited + 1000},
	} {
		require.Equal(t, c.pool, policy.Group(c.state), name)
		for ranking, ref := range map[string]int64{"seed": c.seed, "swh2026": c.seed, "legacy": c.legacy, "roundrobin": c.rounded} {
			p, err := policy.New(ranking, policy.DefaultRules())
			require.NoError(t, err)
			require.Equal(t, ranking, p.Name())
			place := p.Place(c.state)
			require.Equal(t, ref, place.Ref, "%s: %s", name, ranking)
			require.Equal(t, -float64(ref), p.Worth(place, policy.Quality{}, 9), "%s: %s", name, ranking)
			if ranking == "seed" || ranking == "swh2026" {
				require.Equal(t, c.pool, place.Pool, "%s: %s", name, ranking)
				continue
			}
			require.Equal(t, "all", place.Pool.String(), ranking)
			shares, refill := p.Shares(7, policy.Counts{})
			require.Equal(t, []policy.Share{{Pools: []policy.Pool{place.Pool}, N: 7}}, shares)
			require.Empty(t, refill)
		}
	}
	require.Equal(t, "disabled", policy.Pool(10).String())
	require.Equal(t, []string{"seed", "swh2026", "swh2026-git", "legacy"}, policy.ByTarget)
	require.Equal(t, []string{"value", "seed", "swh2026", "swh2026-git", "legacy", "roundrobin"}, policy.Names)
}

// A ranking with rules out of range would divide by zero, or visit an origin without a pause.
func TestAPolicyIsMadeOnlyByItsNameAndOfRulesInRange(t *testing.T) {
	t.Parallel()
	for _, name := range policy.Names {
		p, err := policy.New(name, policy.DefaultRules())
		require.NoError(t, err)
		require.Equal(t, name, p.Name())
		for what, change := range map[string]func(*policy.Rules){
			"no intervals": func(r *policy.Rules) { r.Intervals = nil },
			"no prior":     func(r *policy.Rules) { r.PriorDays = 0 },
			"no failures":  func(r *policy.Rules) { r.DisableAfter = 0 },
		} {
			rules := policy.DefaultRules()
			change(&rules)
			p, err := policy.New(name, rules)
			require.ErrorIs(t, err, fault.ErrInvalid, what)
			require.Nil(t, p)
			plan, err := policy.Uniform(name, rules)
			require.ErrorIs(t, err, fault.ErrInvalid, what)
			require.Nil(t, plan)
		}
	}
}
