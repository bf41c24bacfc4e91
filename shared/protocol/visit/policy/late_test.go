package policy_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// waiting are the queues of a few origins.
type waiting map[policy.Queue][]policy.Candidate

func (w waiting) Of(pool policy.Pool) (queues []policy.Queue) {
	for q := range w {
		if q.Pool == pool {
			queues = append(queues, q)
		}
	}
	return queues
}

func (w waiting) Next(q policy.Queue, _ bool) (c policy.Candidate, ok bool) {
	if len(w[q]) == 0 {
		return c, false
	}
	c, w[q] = w[q][0], w[q][1:]
	return c, true
}

func (waiting) Quality(int32) policy.Quality { return policy.Quality{} }

const lateNow = int64(20_000 * day)

// seenAgo is an origin of a type that changes so often, and was visited so many days ago.
func seenAgo(visitType string, key int64, perDay, daysAgo float64) policy.State {
	r := policy.DefaultRules()
	s := policy.NewState(key, 0, r)
	at := lateNow - int64(daysAgo*day)
	s.Type, s.LastScheduled, s.LastVisit, s.LastSuccess, s.LastStatus, s.LastDigest = visitType, at, at, at, policy.Full, "a"
	s.Changes, s.Days = perDay*1000, 1000
	return s
}

// pickOf picks n of some origins when so many visits a day were granted lately.
func pickOf(p *policy.Plan, n int, perDay float64, origins ...policy.State) []policy.Candidate {
	w, c := waiting{}, policy.Counts{PerDay: perDay, Types: map[string]policy.TypeCounts{}}
	for _, s := range origins {
		place := p.Place(s)
		w[place.Queue()] = append(w[place.Queue()], policy.Candidate{Key: s.Key, Place: place})
		c.A++
		t := c.Types[s.Type]
		t.A++
		c.Types[s.Type] = t
	}
	for _, candidates := range w {
		slices.SortFunc(candidates, func(a, b policy.Candidate) int { return cmp.Compare(a.Place.Ref, b.Place.Ref) })
	}
	return policy.Pick(p, w, lateNow, n, c, nil)
}

func TestALateOriginPrecedesMoreValuableOnesInHalfOfTheSlots(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "max-lag=30d")
	fast, slow := func(key int64, days float64) policy.State { return seenAgo("", key, 10, days) }, func(key int64) policy.State { return seenAgo("", key, 0.1, 25) }
	all := []policy.State{fast(1, 29), fast(2, 31), fast(3, 60), fast(4, 45), slow(5), slow(6), slow(7), slow(8)}
	keys := func(picked []policy.Candidate, late bool) (keys []int64) {
		for _, c := range picked {
			if c.Late == late {
				keys = append(keys, c.Key)
			}
		}
		return keys
	}
	picked := pickOf(p, 4, 100, all...)
	require.Equal(t, []int64{3, 4}, keys(picked, true), "the latest first")
	require.Equal(t, []int64{5, 6}, keys(picked, false), "the others by value")
	for _, c := range picked {
		require.InDelta(t, p.Worth(c.Place, policy.Quality{}, lateNow), c.Value, 1e-9, "not the lateness")
	}
	require.Equal(t, []int64{3, 4, 2}, keys(pickOf(p, 8, 100, all...), true), "29 days are not late")
	require.Len(t, pickOf(p, 8, 100, all...), 8, "late ones leave their slots to the others")
	need := 8.0 / 30
	require.Empty(t, keys(pickOf(p, 4, 2*need-0.01, all...), true), "half of the visits are too few for all origins")
	require.NotEmpty(t, keys(pickOf(p, 4, 2*need, all...), true))
	require.Empty(t, keys(pickOf(plan(t, "value", "max-lag=0"), 4, 100, all...), true))
	require.Empty(t, keys(pickOf(plan(t, "swh2026", ""), 4, 100, all...), true), "only value has it")
}

func TestClaimsOfOneGiveLateOriginsHalfOfTheSlots(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "max-lag=30d,first-share=0.2")
	var late int
	served := map[policy.Pool]int64{}
	for range 100 {
		c := policy.Counts{PerDay: 100, A: 2, ServedBy: served}
		w := waiting{}
		for _, s := range []policy.State{seenAgo("", 1, 10, 40), seenAgo("", 2, 0.1, 25)} {
			w[p.Place(s).Queue()] = []policy.Candidate{{Key: s.Key, Place: p.Place(s)}}
		}
		for _, x := range policy.Pick(p, w, lateNow, 1, c, nil) {
			served[x.Place.Pool]++
			if x.Late {
				late++
			}
		}
	}
	require.InDelta(t, 50, late, 5)
}

func TestAKindHasItsOwnMaxLagInTheSameSlots(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "git.max-lag=14d,feed.max-lag=0")
	picked := pickOf(p, 6, 100, seenAgo("git", 1, 10, 15), seenAgo("git", 2, 10, 13), seenAgo("feed", 3, 10, 300), seenAgo("svn", 4, 10, 31), seenAgo("svn", 5, 10, 29), seenAgo("git", 6, 10, 29))
	late := map[int64]bool{}
	for _, c := range picked {
		late[c.Key] = c.Late
		require.Less(t, c.Place.RateClass(), 2*policy.Classes)
	}
	require.Equal(t, map[int64]bool{1: true, 2: false, 3: false, 4: true, 5: false, 6: true}, late)
	require.Equal(t, int64(6), picked[0].Key, "29 of 14 days are later than 31 of 30")
	c := policy.Counts{A: 10, B: 5, Types: map[string]policy.TypeCounts{"git": {A: 5, B: 2}, "feed": {A: 1}}}
	require.InDelta(t, 7.0/14+7.0/30, p.LateVisits(c), 1e-9)
}

func TestMaxLagConcernsOnlyOriginsThatAnswer(t *testing.T) {
	t.Parallel()
	p := plan(t, "value", "max-lag=30d")
	lateness := func(change func(*policy.State)) float64 {
		s := seenAgo("", 1, 10, 60)
		change(&s)
		return p.Lateness(p.Place(s), lateNow)
	}
	require.InDelta(t, 2, lateness(func(*policy.State) {}), 1e-9)
	require.InDelta(t, 2, lateness(func(s *policy.State) { s.LastUpdate = lateNow - 90*day }), 1e-9, "quiet")
	require.InDelta(t, 2, lateness(func(s *policy.State) { s.LastUpdate = lateNow - 5*day }), 1e-9, "signal")
	require.Equal(t, lateness(func(*policy.State) {}), lateness(func(s *policy.State) { s.Failures, s.LastStatus = 1, policy.Failed }), "failed once")
	require.Zero(t, lateness(func(s *policy.State) { s.Failures, s.LastStatus = 2, policy.Failed }), "failing")
	require.Zero(t, lateness(func(s *policy.State) { s.Failures, s.LastStatus = 1, policy.NotFound }), "vanished")
	require.Zero(t, lateness(func(s *policy.State) { s.LastSuccess, s.LastVisit = policy.Never, policy.Never }), "first")
	require.Zero(t, lateness(func(s *policy.State) { s.Every = 90 * day }), "fixed")
	for _, gap := range []int64{day, 7 * day, 20 * day, 60 * day} {
		regular := func(s *policy.State) {
			last := s.LastSuccess - gap/2
			for i := range s.Recent {
				s.Recent[i] = uint32(last - int64(len(s.Recent)-1-i)*gap)
			}
		}
		s := seenAgo("", 1, 1, 60)
		regular(&s)
		require.Equal(t, policy.PoolDue, p.Place(s).Pool)
		require.LessOrEqual(t, lateness(regular), float64(60*day+gap/2)/(30*day)*1.2, "%d days", gap/day)
		s.LastSuccess = lateNow
		require.Less(t, p.Lateness(p.Place(s), lateNow), 0.6, "%d days: not late right after a visit that found nothing", gap/day)
	}
}

func TestDurationsOfRulesMayBeDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"14d": 14 * 24 * time.Hour, "0.5d": 12 * time.Hour, "36h": 36 * time.Hour, "0d": 0, "0": 0} {
		r, err := policy.ParseRules("max-lag=" + text)
		require.NoError(t, err, text)
		require.Equal(t, want, r.MaxLag, text)
	}
	for _, text := range []string{"d", "-1d", "NaNd", "1e9d", "Infd", "14", "1h2d"} {
		_, err := policy.ParseRules("max-lag=" + text)
		require.Error(t, err, text)
	}
	r, err := policy.ParseRules("")
	require.NoError(t, err)
	require.Equal(t, 30*24*time.Hour, r.MaxLag)
}

func TestThePaceIsTheVisitsOfTheLastDays(t *testing.T) {
	t.Parallel()
	var p policy.Pace
	for hour := range int64(24 * 60) {
		p = p.Add(10, lateNow+hour*3600)
	}
	require.InEpsilon(t, 240, p.PerDay, 0.01)
	idle := p.Add(0, lateNow+67*day)
	require.InEpsilon(t, 240/2.72, idle.PerDay, 0.05, "after a week without visits")
	back := p.Add(7, lateNow)
	require.InDelta(t, p.PerDay+1, back.PerDay, 1e-9, "a clock that was set back lets none fade")
}

func TestAPlanHasAtMostSixtyTwoValuesOfMaxLag(t *testing.T) {
	t.Parallel()
	rules := "max-lag=0"
	for i := 1; i < 62; i++ {
		rules += fmt.Sprintf(",t%d.max-lag=%dd", i, i)
	}
	p, err := policy.ParsePlan("value", rules+",feed.max-lag=1d,git.max-lag=1d")
	require.NoError(t, err)
	s := seenAgo("t61", 1, 1e9, 122)
	s.Window, s.Fork = 1_000_000, true
	require.InDelta(t, 2, p.Lateness(p.Place(s), lateNow), 1e-9)
	_, err = policy.ParsePlan("value", rules+",feed.max-lag=1000d")
	require.ErrorIs(t, err, fault.ErrInvalid)
}
