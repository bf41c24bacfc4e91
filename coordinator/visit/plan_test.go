package visit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/coordinator/visit"
	"leasehold/shared/fault"
)

func plan(t testing.TB, policies, rules string) *visit.Plan {
	t.Helper()
	p, err := visit.ParsePlan(policies, rules)
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
		_, err := visit.ParsePlan(bad[0], bad[1])
		require.ErrorIs(t, err, fault.ErrInvalid, "%v", bad)
	}
}

// filled are queues with n new origins of each type.
func filled(p *visit.Plan, n int, types ...string) *naiveQueues {
	q := &naiveQueues{}
	for i, name := range types {
		for k := range n {
			s := visit.NewState(int64(i*n+k), 1000+int64(k), visit.DefaultRules())
			s.Type = name
			q.add(s.Key, p.Place(s))
		}
	}
	return q
}

func picked(p *visit.Plan, q visit.Queues, n, perType int, c visit.Counts) map[int64]int {
	got := map[int64]int{}
	for _, x := range visit.Pick(p, q, 1_000_000, n, c, nil) {
		got[x.Key/int64(perType)]++
	}
	return got
}

func TestTypesShareTheSlotsByTheirWeights(t *testing.T) {
	t.Parallel()
	p := plan(t, "value,git=roundrobin", "git.weight=3")
	q := filled(p, 200, "feed", "git")
	require.Equal(t, map[int64]int{0: 25, 1: 75}, picked(p, q, 100, 200, visit.Counts{}))
	q = filled(p, 200, "feed")
	require.Equal(t, map[int64]int{0: 100}, picked(p, q, 100, 200, visit.Counts{}), "slots that a type leaves go to the others")
}

func TestAQueueLimitsTheVisitsOfAType(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "git.queue=10")
	counts := visit.Counts{Types: map[string]visit.TypeCounts{"git": {Flight: 4}}}
	got := picked(p, filled(p, 200, "feed", "git"), 100, 200, counts)
	require.Equal(t, 100, got[0]+got[1])
	require.True(t, got[1] >= 4 && got[1] <= 6, "%v", got)
	require.Equal(t, map[int64]int{0: 6}, picked(p, filled(p, 200, "git"), 100, 200, counts), "also if no other type waits")
	counts.Types["git"] = visit.TypeCounts{Flight: 10}
	require.Equal(t, map[int64]int{0: 100}, picked(p, filled(p, 200, "feed", "git"), 100, 200, counts))
}

func TestAFixedIntervalHoldsUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	for _, name := range visit.Names {
		p := plan(t, name, "")
		rules := p.Rules("")
		s := visit.NewState(1, 0, rules)
		s.Every = 86400
		require.Equal(t, visit.Eligible, rules.Why(s, 10), name)
		s.LastScheduled = 10
		s, _ = p.Record(s, visit.Event{Status: visit.Failed, At: 20}, 0)
		require.Equal(t, "fixed interval", rules.Why(s, 86409), name)
		require.Equal(t, visit.Eligible, rules.Why(s, 86410), "%s: not even a failure lengthens it", name)
		s.NotBefore = 90000
		require.Equal(t, visit.RetryAfter, rules.Why(s, 86410), name)

		q := filled(p, 50, "feed")
		q.add(1000, p.Place(s))
		got := visit.Pick(p, q, 100_000, 4, visit.Counts{A: 51}, nil)
		require.EqualValues(t, 1000, got[0].Key, "%s: before all others", name)
	}
}

func TestFixedIntervalsLeaveAQuarterToOthers(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "")
	q := filled(p, 50, "feed")
	for key := range int64(50) {
		q.add(100+key, visit.Place{Pool: visit.PoolFixed, Ref: key})
	}
	require.Equal(t, map[int64]int{0: 5, 1: 0 + 15}, func() map[int64]int {
		got := map[int64]int{}
		for _, x := range visit.Pick(p, q, 1000, 20, visit.Counts{}, nil) {
			got[x.Key/100]++
		}
		return got
	}())
}

func TestShortCooldownsGrowWithTheTimeBetweenChanges(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	rules.Cooldown, rules.LongestCooldown = 15*time.Minute, 12*time.Hour
	s := visit.NewState(1, 0, rules)
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
	require.Equal(t, visit.StillFresh, rules.Why(s, 40_000))
}

func TestAReportOfAChangeIsADateOfItsOwnSource(t *testing.T) {
	t.Parallel()
	p := visit.Value{Rules: visit.DefaultRules()}
	s := visit.NewState(1, 0, p.Rules)
	s.Lister = 7
	s, _ = p.Record(s, visit.Event{Status: visit.Full, At: 1000, Digest: "a"}, 0)
	s = visit.Listed(s, 1500, 1400)
	require.Equal(t, visit.Place{Pool: visit.PoolSignal, Lister: 7, Class: p.Place(s).Class, Ref: 1000}, p.Place(s))
	s = visit.Tell(s, 2000)
	s = visit.Listed(s, 2600, 2500)
	require.EqualValues(t, 2000, s.LastUpdate, "the lister's dates are ignored")
	require.Equal(t, 1, s.Dates)
	require.Equal(t, visit.TellersID, p.Place(s).Lister)
}

func TestFirstVisitsAreOrderedAsTheRuleSays(t *testing.T) {
	t.Parallel()
	s := func(key, created, updated int64) visit.State {
		x := visit.NewState(key, 10_000, visit.DefaultRules())
		x.Created, x.LastUpdate = created, updated
		return x
	}
	all := []visit.State{s(1, 100, 900), s(2, 300, 400), s(3, 200, 600)}
	for order, want := range map[string][]int64{"created": {1, 3, 2}, "updated": {2, 3, 1}, "activity": {1, 3, 2}} {
		p := plan(t, "value", "first-order="+order)
		q := &naiveQueues{}
		for _, x := range all {
			q.add(x.Key, p.Place(x))
		}
		var got []int64
		for _, c := range visit.Pick(p, q, 20_000, 3, visit.Counts{}, nil) {
			got = append(got, c.Key)
		}
		require.Equal(t, want, got, order)
	}
	_, err := visit.ParsePlan("value", "first-order=size")
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAnOriginWhoseFirstVisitWasRefusedGoesBehindThoseThatWereNotTried(t *testing.T) {
	t.Parallel()
	for _, order := range visit.FirstOrders {
		p := visit.Value{Rules: visit.DefaultRules()}
		p.FirstOrder = order
		tried, untried := visit.NewState(1, 10_000, p.Rules), visit.NewState(2, 20_000, p.Rules)
		tried.Created, tried.LastUpdate = 5000, 15_000
		require.Less(t, p.Place(tried).Ref, int64(20_000), order)
		after, _ := p.Record(tried, visit.Event{Status: visit.Failed, At: 30_000, NotBefore: 40_000}, 0)
		tried = visit.AfterRefusal(tried, after)
		require.Equal(t, p.Place(untried).Queue(), p.Place(tried).Queue())
		require.Greater(t, p.Place(tried).Ref, p.Place(untried).Ref, order)
	}
}

func TestForksAreWorthAsMuchLessAsTheRuleSays(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	rules.ForkWeight = 0.25
	p, now := visit.Value{Rules: rules}, int64(1_700_000_000)
	s := visit.NewState(1, 0, rules)
	s.LastSuccess = now - 50*day
	worth := p.Worth(p.Place(s), visit.Quality{}, now)
	s.Fork = true
	require.InEpsilon(t, worth/4, p.Worth(p.Place(s), visit.Quality{}, now), 1e-9)
	require.Positive(t, p.Fresh(s, visit.Quality{}, now))
}

func FuzzPlan(f *testing.F) {
	f.Add("value,git=swh2026", "cooldown=1h,git.weight=3,git.queue=5")
	f.Fuzz(func(t *testing.T, policies, rules string) {
		p, err := visit.ParsePlan(policies, rules)
		if err != nil {
			return
		}
		for _, name := range []string{"", "git", "feed"} {
			require.NoError(t, p.Rules(name).Check())
			s := visit.NewState(1, 0, p.Rules(name))
			s.Type = name
			require.Less(t, p.Place(s).Pool, visit.Pool(200))
		}
	})
}

func TestAPlanGivesNoMoreSlotsThanThereAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, err := visit.ParsePlan("value,git=swh2026,opml=seed", "git.weight=3,opml.queue=4,svn.weight=0.1")
		require.NoError(t, err)
		n := rapid.IntRange(0, 40).Draw(t, "n")
		q := filled(p, rapid.IntRange(0, 20).Draw(t, "origins"), "feed", "git", "opml", "svn")
		all := len(q.all)
		c := visit.Counts{A: all, Served: rapid.Int64Range(0, 1000).Draw(t, "served")}
		got := visit.Pick(p, q, 5000, n, c, nil)
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
	place := func(p *visit.Plan, name string) visit.Pool {
		s := visit.NewState(1, 1000, visit.DefaultRules())
		s.Type = name
		return p.Place(s).Pool
	}
	same := plan(t, "value", "svn.weight=2")
	firstOfSVN := place(same, "svn") - place(same, "feed")
	for _, policy := range []string{"value", "swh2026", "seed", "value,svn=seed"} {
		p := plan(t, policy, "svn.weight=2")
		for served := range int64(100) {
			for free := range 4 {
				shares, _ := p.Shares(free, visit.Counts{
					A: 50, B: 50, Types: map[string]visit.TypeCounts{"svn": {A: 5, B: 5}},
					Served: served, Picked: map[visit.Pool]int{place(p, "feed"): 9},
				})
				ofSVN := 0
				for _, s := range shares {
					switch {
					case slices.Contains(s.Pools, visit.PoolFixed):
					case s.Pools[0] >= firstOfSVN:
						ofSVN += s.N
					default:
						require.Zero(t, s.N, "%s, served %d, free %d: %v", policy, served, free, s.Pools)
					}
				}
				require.Positive(t, ofSVN, "%s, served %d", policy, served)
			}
		}
	}
}
