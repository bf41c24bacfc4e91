package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

func plan(t testing.TB, policies, rules string) *policy.Plan {
	t.Helper()
	p, err := policy.ParsePlan(policies, rules)
	require.NoError(t, err)
	return p
}

func TestRulesAndPoliciesAreSetForATypeOrForAll(t *testing.T) {
	t.Parallel()
	p := plan(t, "value,git=swh2026-git", "cooldown=2h,git.cooldown=3h,git.queue=5,svn.weight=2,fudge=0")
	require.Equal(t, 3*time.Hour, p.Rules("git").Cooldown)
	require.Equal(t, 2*time.Hour, p.Rules("feed").Cooldown, "a rule for all is stronger than the kind's")
	require.Equal(t, 2*time.Hour, p.Rules("media").Cooldown)
	require.Zero(t, p.Rules("git").Fudge)
	require.True(t, p.UsesTargets("git"))
	require.False(t, p.UsesTargets("svn"))
	own := plan(t, "value", "")
	require.Equal(t, 15*time.Minute, own.Rules("feed").Cooldown)
	require.Equal(t, time.Hour, own.Rules("git").Cooldown)
	require.Equal(t, 12*time.Hour, own.Rules("media").Cooldown)
	for _, bad := range [][2]string{{"best", ""}, {"value,seed", ""}, {"git=best", ""}, {"value", "Git.cooldown=1h"}, {"value", "git.queue=0"},
		{"value", "git.weight=-1"}, {"value", "git.weight=NaN"}, {"value", "queue=5"}, {"value", "git.speed=1"},
		{"value", "a.queue=1,b.queue=1,c.queue=1,d.queue=1,e.queue=1,f.queue=1,g.queue=1,h.queue=1,i.queue=1,j.queue=1,k.queue=1"}} {
		_, err := policy.ParsePlan(bad[0], bad[1])
		require.ErrorIs(t, err, fault.ErrInvalid, "%v", bad)
	}
}

// filled are queues with n new origins of each type.
func filled(p *policy.Plan, n int, types ...string) *naiveQueues {
	q := &naiveQueues{}
	for i, name := range types {
		for k := range n {
			s := policy.NewState(int64(i*n+k), 1000+int64(k), policy.DefaultRules())
			s.Type = name
			q.add(s.Key, p.Place(s))
		}
	}
	return q
}

func picked(p *policy.Plan, q policy.Queues, n, perType int, c policy.Counts) map[int64]int {
	got := map[int64]int{}
	for _, x := range policy.Pick(p, q, 1_000_000, n, c, nil) {
		got[x.Key/int64(perType)]++
	}
	return got
}

func TestTypesShareTheSlotsByTheirWeights(t *testing.T) {
	t.Parallel()
	p := plan(t, "value,git=roundrobin", "git.weight=3")
	q := filled(p, 200, "feed", "git")
	require.Equal(t, map[int64]int{0: 25, 1: 75}, picked(p, q, 100, 200, policy.Counts{}))
	q = filled(p, 200, "feed")
	require.Equal(t, map[int64]int{0: 100}, picked(p, q, 100, 200, policy.Counts{}), "slots that a type leaves go to the others")
}

func TestAQueueLimitsTheVisitsOfAType(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "git.queue=10")
	counts := policy.Counts{Types: map[string]policy.TypeCounts{"git": {Flight: 4}}}
	got := picked(p, filled(p, 200, "feed", "git"), 100, 200, counts)
	require.Equal(t, 100, got[0]+got[1])
	require.True(t, got[1] >= 4 && got[1] <= 6, "%v", got)
	require.Equal(t, map[int64]int{0: 6}, picked(p, filled(p, 200, "git"), 100, 200, counts), "also if no other type waits")
	counts.Types["git"] = policy.TypeCounts{Flight: 10}
	require.Equal(t, map[int64]int{0: 100}, picked(p, filled(p, 200, "feed", "git"), 100, 200, counts))
}

func TestAFixedIntervalHoldsUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	for _, name := range policy.Names {
		p := plan(t, name, "")
		rules := p.Rules("")
		s := policy.NewState(1, 0, rules)
		s.Every = 86400
		require.Equal(t, policy.Eligible, rules.Why(s, 10), name)
		s.LastScheduled = 10
		s, _ = p.Record(s, policy.Event{Status: policy.Failed, At: 20}, 0)
		require.Equal(t, policy.Eligible, rules.Why(s, 86410), "%s: not even a failure lengthens it", name)
		s.LastSuccess, s.LastStatus, s.Failures = s.LastVisit, policy.Full, 0
		require.Equal(t, "fixed interval", rules.Why(s, 86409), name)
		require.Equal(t, policy.Eligible, rules.Why(s, 86410), name)
		s.NotBefore = 90000
		require.Equal(t, policy.RetryAfter, rules.Why(s, 86410), name)

		q := filled(p, 50, "feed")
		q.add(1000, p.Place(s))
		got := policy.Pick(p, q, 100_000, 4, policy.Counts{A: 51}, nil)
		require.EqualValues(t, 1000, got[0].Key, "%s: before all others", name)
	}
}

func TestAFailedVisitWithAFixedIntervalIsTriedAgainByTheTableOfFailures(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "")
	const hour, start = 3600, 1000 * day
	for name, c := range map[string]struct {
		every int64
		event policy.Event
		rests []int64 // hours after each visit that ends so
		why   string
	}{
		"33 days, failed":       {800 * hour, policy.Event{Status: policy.Failed}, []int64{1, 2, 4, 8}, policy.FailedCooldown},
		"33 days, not found":    {800 * hour, policy.Event{Status: policy.NotFound}, []int64{48, 96, 168, 168}, policy.NotFoundCooldown},
		"a day, as listers":     {day, policy.Event{Status: policy.Failed}, []int64{1, 2, 4, 8, 16, 24, 24}, policy.FailedCooldown},
		"shorter than the rest": {hour / 2, policy.Event{Status: policy.Failed}, []int64{0, 0}, "fixed interval"},
	} {
		s := policy.NewState(1, start, p.Rules(""))
		s.Every = c.every
		now := int64(start)
		for i, hours := range c.rests {
			s.LastScheduled = now
			e := c.event
			e.At = now
			s, _ = p.Record(s, e, 0)
			until, why := p.Rules("").Rest(s)
			want := now + max(hours*hour, min(c.every, hour))
			require.Equal(t, want, until, "%s: %d", name, i)
			require.Equal(t, until, p.Place(s).Ref, name)
			if hours != 24 {
				require.Equal(t, c.why, why, name)
			}
			now = until
			s.Disabled = ""
		}
		s.LastScheduled = now
		s, _ = p.Record(s, policy.Event{Status: policy.Full, At: now, Digest: "a"}, 0)
		until, _ := p.Rules("").Rest(s)
		require.Equal(t, now+c.every, until, "%s: after a success", name)
	}
	s := policy.NewState(1, start, p.Rules(""))
	s.Every, s.LastScheduled = 800*hour, start
	failed, _ := p.Record(s, policy.Event{Status: policy.Failed, At: start + 1}, 0)
	until, _ := p.Rules("").Rest(policy.AfterRefusal(s, failed))
	require.EqualValues(t, start+1+hour, until, "its host could not be reached, which is not its failure")
}

func TestFixedIntervalsLeaveAQuarterToOthers(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "")
	q := filled(p, 50, "feed")
	for key := range int64(50) {
		q.add(100+key, policy.Place{Pool: policy.PoolFixed, Ref: key})
	}
	require.Equal(t, map[int64]int{0: 5, 1: 0 + 15}, func() map[int64]int {
		got := map[int64]int{}
		for _, x := range policy.Pick(p, q, 1000, 20, policy.Counts{}, nil) {
			got[x.Key/100]++
		}
		return got
	}())
}

func TestShortCooldownsGrowWithTheTimeBetweenChanges(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.Cooldown, rules.LongestCooldown = 15*time.Minute, 12*time.Hour
	s := policy.NewState(1, 0, rules)
	s.LastScheduled, s.LastVisit, s.LastSuccess = 0, 0, 0
	rest := func(changes, days float64) int64 {
		s.Changes, s.Days = changes, days
		until, _ := rules.Rest(s)
		return until
	}
	require.EqualValues(t, 900, rest(1e5, 1e3))
	require.InDelta(t, 0.05*86400, rest(1000, 1000), 200)
	require.EqualValues(t, 12*3600, rest(1, 1000))
	s.FreshUntil = 50_000
	require.EqualValues(t, 50_000, rest(1e5, 1e3))
	require.Equal(t, policy.StillFresh, rules.Why(s, 40_000))
}

func TestAReportOfAChangeIsADateOfItsOwnSource(t *testing.T) {
	t.Parallel()
	p := policy.Value{Rules: policy.DefaultRules()}
	s := policy.NewState(1, 0, p.Rules)
	s.Lister = 7
	s, _ = p.Record(s, policy.Event{Status: policy.Full, At: 1000, Digest: "a"}, 0)
	s = policy.Listed(s, 1500, 1400)
	require.Equal(t, policy.Place{Pool: policy.PoolSignal, Lister: 7, Class: p.Place(s).Class, Ref: 1000}, p.Place(s))
	s = policy.Tell(s, 2000)
	s = policy.Listed(s, 2600, 2500)
	require.EqualValues(t, 2000, s.LastUpdate, "the lister's dates are ignored")
	require.Equal(t, 1, s.Dates)
	require.Equal(t, policy.TellersID, p.Place(s).Lister)
}

func TestFirstVisitsAreOrderedAsTheRuleSays(t *testing.T) {
	t.Parallel()
	s := func(key, created, updated int64) policy.State {
		x := policy.NewState(key, 10_000, policy.DefaultRules())
		x.Created, x.LastUpdate = created, updated
		return x
	}
	all := []policy.State{s(1, 100, 900), s(2, 300, 400), s(3, 200, 600)}
	for order, want := range map[string][]int64{"created": {1, 3, 2}, "updated": {2, 3, 1}, "activity": {1, 3, 2}} {
		p := plan(t, "value", "first-order="+order)
		q := &naiveQueues{}
		for _, x := range all {
			q.add(x.Key, p.Place(x))
		}
		var got []int64
		for _, c := range policy.Pick(p, q, 20_000, 3, policy.Counts{}, nil) {
			got = append(got, c.Key)
		}
		require.Equal(t, want, got, order)
	}
	_, err := policy.ParsePlan("value", "first-order=size")
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAnOriginWhoseFirstVisitWasRefusedGoesBehindThoseThatWereNotTried(t *testing.T) {
	t.Parallel()
	for _, order := range policy.FirstOrders {
		p := policy.Value{Rules: policy.DefaultRules()}
		p.FirstOrder = order
		tried, untried := policy.NewState(1, 10_000, p.Rules), policy.NewState(2, 20_000, p.Rules)
		tried.Created, tried.LastUpdate = 5000, 15_000
		require.Less(t, p.Place(tried).Ref, int64(20_000), order)
		after, _ := p.Record(tried, policy.Event{Status: policy.Failed, At: 30_000, NotBefore: 40_000}, 0)
		tried = policy.AfterRefusal(tried, after)
		require.Equal(t, p.Place(untried).Queue(), p.Place(tried).Queue())
		require.Greater(t, p.Place(tried).Ref, p.Place(untried).Ref, order)
	}
}

func TestForksAreWorthAsMuchLessAsTheRuleSays(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.ForkWeight = 0.25
	p, now := policy.Value{Rules: rules}, int64(1_700_000_000)
	s := policy.NewState(1, 0, rules)
	s.LastSuccess = now - 50*day
	worth := p.Worth(p.Place(s), policy.Quality{}, now)
	s.Fork = true
	require.InEpsilon(t, worth/4, p.Worth(p.Place(s), policy.Quality{}, now), 1e-9)
	require.Positive(t, p.Fresh(s, policy.Quality{}, now))
}

func FuzzPlan(f *testing.F) {
	f.Add("value,git=swh2026", "cooldown=1h,git.weight=3,git.queue=5")
	f.Fuzz(func(t *testing.T, policies, rules string) {
		p, err := policy.ParsePlan(policies, rules)
		if err != nil {
			return
		}
		for _, name := range []string{"", "git", "feed"} {
			require.NoError(t, p.Rules(name).Check())
			s := policy.NewState(1, 0, p.Rules(name))
			s.Type = name
			require.Less(t, p.Place(s).Pool, policy.Pool(200))
		}
	})
}

func TestAPlanGivesNoMoreSlotsThanThereAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, err := policy.ParsePlan("value,git=swh2026,opml=seed", "git.weight=3,opml.queue=4,svn.weight=0.1")
		require.NoError(t, err)
		n := rapid.IntRange(0, 40).Draw(t, "n")
		q := filled(p, rapid.IntRange(0, 20).Draw(t, "origins"), "feed", "git", "opml", "svn")
		all := len(q.all)
		c := policy.Counts{A: all, ServedBy: map[policy.Pool]int64{policy.PoolFirst: rapid.Int64Range(0, 1000).Draw(t, "served")}}
		got := policy.Pick(p, q, 5000, n, c, nil)
		require.LessOrEqual(t, len(got), min(n, all))
		seen := map[int64]bool{}
		for _, x := range got {
			require.False(t, seen[x.Key])
			seen[x.Key] = true
		}
	})
}

func TestATypeThatHasItsSlotsOfABatchGetsNoMoreOfThem(t *testing.T) {
	t.Parallel()
	place := func(p *policy.Plan, name string) policy.Pool {
		s := policy.NewState(1, 1000, policy.DefaultRules())
		s.Type = name
		return p.Place(s).Pool
	}
	same := plan(t, "value", "svn.weight=2")
	firstOfSVN := place(same, "svn") - place(same, "feed")
	for _, name := range []string{"value", "swh2026", "seed", "value,svn=seed"} {
		p := plan(t, name, "svn.weight=2")
		for served := range int64(100) {
			for free := range 4 {
				shares, _ := p.Shares(free, policy.Counts{
					A: 50, B: 50, Types: map[string]policy.TypeCounts{"svn": {A: 5, B: 5}},
					ServedBy: map[policy.Pool]int64{place(p, "svn"): served}, Picked: map[policy.Pool]int{place(p, "feed"): 9},
				})
				ofSVN := 0
				for _, s := range shares {
					switch {
					case slices.Contains(s.Pools, policy.PoolFixed):
					case s.Pools[0] >= firstOfSVN:
						ofSVN += s.N
					default:
						require.Zero(t, s.N, "%s, served %d, free %d: %v", name, served, free, s.Pools)
					}
				}
				require.Positive(t, ofSVN, "%s, served %d", name, served)
			}
		}
	}
}

func TestAPlanIsReadFromPoliciesAndRules(t *testing.T) {
	t.Parallel()
	p := plan(t, " roundrobin , git=seed,a=value", "svn.queue=1,opml.weight=1000000,a.weight=1, git.cooldown=3h ,fudge=0.05")
	require.Equal(t, " roundrobin , git=seed,a=value", p.Name())
	require.Equal(t, 3*time.Hour, p.Rules("git").Cooldown)
	require.Equal(t, 0.05, p.Rules("other").Fudge)
	require.Equal(t, p.AllRules()[""], p.Rules("other"))
	require.True(t, p.UsesTargets("git"))
	require.True(t, p.UsesGroups("git"))
	require.False(t, p.UsesTargets("other"))
	require.False(t, p.UsesGroups("other"))
	require.False(t, p.Ignores("git", policy.PoolB3))
	require.True(t, p.Ignores("a", policy.PoolB3))
	require.False(t, p.Ignores("a", policy.PoolFailing))
	require.True(t, plan(t, "swh2026", "").Ignores("git", policy.PoolB3))
	require.False(t, plan(t, "git=seed", "").UsesTargets("feed"))
	group := func(p *policy.Plan, name string) int {
		s := policy.NewState(1, 0, policy.DefaultRules())
		s.Type = name
		return int(p.Place(s).Pool) / 16
	}
	for name, want := range map[string]int{"": 0, "other": 0, "feed": 0, "a": 1, "git": 2, "opml": 3, "svn": 4} {
		require.Equal(t, want, group(p, name), name)
	}
	for _, policies := range []string{"value,seed", "git=seed,git=value", "git=seed,value,seed", "git=seed, git=seed"} {
		_, err := policy.ParsePlan(policies, "")
		require.ErrorIs(t, err, fault.ErrInvalid, policies)
	}
	for _, rules := range []string{"git.queue=0", "git.queue=x", "git.weight=0", "git.weight=1000001", "git.weight=x", "git.cooldown=x", strings.Repeat("a", 33) + ".weight=2"} {
		_, err := policy.ParsePlan("value", rules)
		require.ErrorIs(t, err, fault.ErrInvalid, rules)
	}
	plan(t, "value", strings.Repeat("a", 32)+".weight=2")
	ten := "a.queue=1,b.queue=1,c.queue=1,d.queue=1,e.queue=1,f.queue=1,g.queue=1,h.queue=1,i.queue=1,j.queue=1"
	require.Equal(t, 10, group(plan(t, "value", ten), "j"))
	_, err := policy.ParsePlan("value", ten+",k.queue=1")
	require.ErrorContains(t, err, "at most 10 types")
	_, err = policy.Uniform("best", policy.DefaultRules())
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestTheLongestRestIsThatOfAnyRuleOfAnyType(t *testing.T) {
	t.Parallel()
	const short = "lost-after=1h,cooldown=1h,longest-cooldown=1h,failed-cooldown=1h,not-found-cooldown=1h,longest-failed-cooldown=1h"
	require.Equal(t, time.Hour, plan(t, "value", short).LongestRest())
	for rule := range strings.SplitSeq(strings.ReplaceAll(short, "=1h", ""), ",") {
		require.Equal(t, 9*time.Hour, plan(t, "value", short+",svn."+rule+"=9h").LongestRest(), rule)
	}
}

func TestAKindRestsFromItsShortestCooldownToTheDefaultUnlessARuleSetsIt(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string][2]time.Duration{
		"": {time.Hour, 12 * time.Hour}, "cooldown=2h": {2 * time.Hour, 0}, "git.cooldown=2h": {2 * time.Hour, 0}, "longest-cooldown=3h": {time.Hour, 3 * time.Hour},
		"longest-cooldown=3h,git.cooldown=2h": {2 * time.Hour, 3 * time.Hour}, "failed-cooldown=2h": {time.Hour, 12 * time.Hour}, "feed.cooldown=2h": {time.Hour, 12 * time.Hour},
	} {
		r := plan(t, "value", rules).Rules("git")
		require.Equal(t, want, [2]time.Duration{r.Cooldown, r.LongestCooldown}, rules)
	}
}

func TestEachPoolOfAPlanHasANameInAnyGroup(t *testing.T) {
	t.Parallel()
	for group := range policy.Pool(11) {
		require.Equal(t, "first", (policy.PoolFirst + 16*group).String())
		require.Equal(t, "fixed", (policy.PoolFixed + 16*group).String())
	}
	require.Empty(t, (policy.PoolFirst + 16*11).String(), "those of the store have no name here")
}

func TestTheWorthOfAnOriginIsThatOfThePolicyOfItsGroup(t *testing.T) {
	t.Parallel()
	p := plan(t, "value,git=roundrobin", "")
	const now = 1_700_000_000
	own := policy.Value{Rules: p.Rules("")}
	place := policy.Place{Pool: policy.PoolKnown, Class: 20, Ref: now - 5*day}
	require.Equal(t, own.Worth(place, policy.Quality{}, now), p.Worth(place, policy.Quality{}, now))
	place.Pool += 16
	require.EqualValues(t, -float64(now-5*day), p.Worth(place, policy.Quality{}, now))
	place.Pool += 16
	require.EqualValues(t, -float64(now-5*day), p.Worth(place, policy.Quality{}, now), "a group of an earlier plan counts as the last one")
	require.EqualValues(t, 5, p.Worth(policy.Place{Pool: policy.PoolFixed, Ref: now - 5*day}, policy.Quality{}, now), "the days for which it is due")
	fixed := policy.NewState(1, 0, p.Rules("git"))
	fixed.Type, fixed.Every = "git", 60
	require.Equal(t, policy.Place{Pool: policy.PoolFixed, Ref: policy.Never}, p.Place(fixed))
	fixed.LastScheduled = 100
	require.Equal(t, policy.Place{Pool: policy.PoolFixed, Ref: 160}, p.Place(fixed))
	s := policy.NewState(1, 0, p.Rules("git"))
	s.Type, s.Target = "git", 70
	require.EqualValues(t, 5, p.Position(5, s), "round robin has no targets")
	require.EqualValues(t, 70, plan(t, "value,git=seed", "").Position(5, s))

	p = plan(t, "roundrobin,git=value", "")
	own = policy.Value{Rules: p.Rules("git")}
	for _, pool := range []policy.Pool{policy.PoolFirst, policy.PoolKnown, policy.PoolQuiet, policy.PoolSignal, policy.PoolFailing, policy.PoolDue} {
		place := policy.Place{Pool: pool, Class: 20, Ref: now - 5*day}
		want := own.Worth(place, policy.Quality{}, now)
		place.Pool += 16
		require.Equal(t, want, p.Worth(place, policy.Quality{}, now), "%s of the second group", pool)
	}
}

func TestAPlanDividesABatchByWeightsQueuesAndWhatWasPicked(t *testing.T) {
	t.Parallel()
	p := plan(t, "roundrobin,git=seed", "git.weight=3,svn.queue=10")
	const all, git, svn = 0, 16, 32
	types := map[string]policy.TypeCounts{"git": {A: 1, B: 3, Flight: 50}, "svn": {Flight: 7}}
	split := func(n int, c policy.Counts) (got map[policy.Pool]int, most map[policy.Pool]int) {
		got, most = map[policy.Pool]int{}, map[policy.Pool]int{}
		shares, refill := p.Shares(n, c)
		for _, s := range shares {
			if s.N != 0 {
				got[s.Pools[0]] += s.N
			}
		}
		for _, s := range refill {
			most[s.Pools[0]] = s.Most
		}
		require.Equal(t, []policy.Pool{policy.PoolFixed}, shares[0].Pools)
		require.Equal(t, policy.Share{Pools: []policy.Pool{policy.PoolFixed}}, refill[len(refill)-1])
		return got, most
	}
	const one = 9 // the pool of roundrobin
	a, b1, b2, b3 := git+policy.PoolA, git+policy.PoolB1, git+policy.PoolB2, git+policy.PoolB3
	got, most := split(100, policy.Counts{Types: types})
	require.Equal(t, map[policy.Pool]int{policy.PoolFixed: 75, all + one: 20, a: 15, b1: 15, b2: 15, b3: 15, svn + one: 3}, got)
	require.Equal(t, map[policy.Pool]int{policy.PoolFixed: 0, a: 0, b1: 0, b2: 0, b3: 0}, most, "round robin has no refill")
	got, _ = split(60, policy.Counts{Types: types, Picked: map[policy.Pool]int{policy.PoolFixed: 20, a: 10, all + one: 9, svn + one: 1}})
	require.Equal(t, map[policy.Pool]int{policy.PoolFixed: 55, all + one: 7, a: 9, b1: 9, b2: 10, b3: 10, svn + one: 2}, got, "those of the batch count for it")
	types["svn"] = policy.TypeCounts{Flight: 10}
	got, _ = split(100, policy.Counts{Types: types})
	require.Zero(t, got[svn+one], "its queue is full")
	got, _ = split(1, policy.Counts{Types: types})
	require.Equal(t, 1, got[policy.PoolFixed], "rounded up")
	got, _ = split(0, policy.Counts{Types: types})
	require.Empty(t, got)

	p = plan(t, "value", "svn.queue=10")
	types["svn"] = policy.TypeCounts{Flight: 3}
	_, most = split(100, policy.Counts{Types: types})
	require.Equal(t, map[policy.Pool]int{policy.PoolFirst: 0, policy.PoolFixed: 0, 16 + policy.PoolFirst: 7}, most)
}
