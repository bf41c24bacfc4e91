package policy_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

// feed is an origin whose document has only its latest items.
type feed struct {
	changes []int64 // ascending
	window  int
}

// steadyFeed changes every gap seconds until a time, from phase seconds before it.
func steadyFeed(gap, until, phase int64, window int) feed {
	f := feed{window: window}
	for at := until - phase; len(f.changes) < 6000 && at > 0; at -= gap {
		f.changes = append(f.changes, at)
	}
	slices.Reverse(f.changes)
	return f
}

// randomFeed changes perDay times a day at random until a time.
func randomFeed(g *rand.Rand, perDay float64, until int64, window int) feed {
	f := feed{window: window}
	for at := float64(until); len(f.changes) < 6000 && at > 0; {
		at -= g.ExpFloat64() / perDay * day
		f.changes = append(f.changes, int64(at))
	}
	slices.Reverse(f.changes)
	return f
}

// document returns the dates of the items that a visit at a time reads.
func (f feed) document(at int64) []int64 {
	n, _ := slices.BinarySearch(f.changes, at+1)
	return f.changes[max(n-f.window, 0):n]
}

// visit records a visit as the coordinator does: the first one, and one that finds only new items, is open.
func (f feed) visit(r policy.Rules, s policy.State, at int64) (policy.State, policy.Effect) {
	times := f.document(at)
	e := policy.Event{Status: policy.Full, At: at, Digest: string(rune(len(times))) + string(rune(at)), Times: times, Window: len(times)}
	e.Open = s.LastSuccess == policy.Never || times[0] > int64(s.Recent[len(s.Recent)-1])
	for _, t := range times {
		if t > s.LastSuccess {
			e.Changes++
		}
	}
	e.Span = float64(at-s.LastSuccess) / day
	return r.Record(s, e, 0)
}

// off returns by which factor the estimate differs from the truth, at least 1.
func off(r policy.Rules, s policy.State, perDay float64) float64 {
	return math.Exp(math.Abs(math.Log(r.Rate(s) / perDay)))
}

// between draws a whole number.
func between(g *rand.Rand, from, to int) int { return from + g.IntN(to-from+1) }

// visitsAfter draws the times of ten visits until the end of a feed, from 0.02 to two windows apart, at most
// 200 days.
func visitsAfter(g *rand.Rand, gap float64, window int, until int64) (at []int64) {
	for len(at) < 10 {
		at = append(at, until)
		until -= min(max(int64(gap*float64(window)*(0.02+2*g.Float64())), 60), 200*day)
	}
	slices.Reverse(at)
	return at
}

func TestASteadyFeedIsEstimatedRightByItsFirstVisits(t *testing.T) {
	t.Parallel()
	r, g := policy.DefaultRules(), rand.New(rand.NewPCG(41, 1))
	const now = 20_000 * day
	for range 400 {
		gap := int64(math.Exp(math.Log(1200) + g.Float64()*math.Log(31*day/1200))) // 20 minutes to a month
		if g.IntN(2) == 0 {
			gap = []int64{1200, 3600, day, 7 * day, 30 * day}[g.IntN(5)]
		}
		f := steadyFeed(gap, now, g.Int64N(gap), between(g, 5, 200))
		perDay := day / float64(gap)
		var s policy.State
		for i, at := range visitsAfter(g, float64(gap), f.window, now) {
			if i == 0 {
				s = policy.NewState(1, at, r)
			}
			s, _ = f.visit(r, s, at)
			if i == 0 {
				require.Less(t, off(r, s, perDay), 2.0, "gap %d, window %d", gap, f.window)
			}
		}
		require.Less(t, off(r, s, perDay), 1.3, "gap %d, window %d", gap, f.window)
	}
}

func TestARandomFeedIsEstimatedRightByItsFirstVisits(t *testing.T) {
	t.Parallel()
	r, g := policy.DefaultRules(), rand.New(rand.NewPCG(41, 2))
	const now, draws = 20_000 * day, 500
	for range 6 { // kinds of feeds
		perDay, window := math.Exp(g.Float64()*math.Log(1500))/30, between(g, 5, 60) // one a month to fifty a day
		var first, tenth []float64
		var close, closeTenth int
		for range draws {
			f := randomFeed(g, perDay, now, window)
			s := policy.NewState(1, 0, r)
			seen := 0
			for i, at := range visitsAfter(g, day/perDay, window, now) {
				for _, t := range f.document(at) {
					if s.LastSuccess == policy.Never || t > s.LastSuccess {
						seen++
					}
				}
				s, _ = f.visit(r, s, at)
				if i == 0 {
					first = append(first, r.Rate(s)/perDay)
					if off(r, s, perDay) < 2 {
						close++
					}
				}
			}
			if seen >= 50 && now-f.changes[len(f.changes)-50] < 90*day { // so that they are remembered
				tenth = append(tenth, r.Rate(s)/perDay)
				if off(r, s, perDay) < 1.3 {
					closeTenth++
				}
			}
		}
		require.InDelta(t, 0, math.Log(middle(first)), math.Log(1.15), "%v a day, window %d", perDay, window)
		require.Greater(t, float64(close), 0.8*draws, "%v a day, window %d", perDay, window)
		if len(tenth) > draws/2 {
			require.InDelta(t, 0, math.Log(middle(tenth)), math.Log(1.15), "%v a day, window %d", perDay, window)
			require.Greater(t, float64(closeTenth), 0.85*float64(len(tenth)), "%v a day, window %d", perDay, window)
		}
	}
}

// middle returns the median.
func middle(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}

func TestDatesThatMeanNothingGiveABoundedRate(t *testing.T) {
	t.Parallel()
	r, g := policy.DefaultRules(), rand.New(rand.NewPCG(41, 3))
	const now = 20_000 * day
	repeated := func(at int64, n int) []int64 { return slices.Repeat([]int64{at}, n) }
	hourly := steadyFeed(3600, now, 100, 19).document(now)
	for name, c := range map[string]struct {
		times []int64
		least float64
		most  float64 // changes a day
	}{
		"none":                       {nil, 1.0 / 45, 1.0 / 45},
		"all equal, a year ago":      {repeated(now-365*day, 50), 0, 0.01},
		"all equal, now":             {repeated(now, 50), 0, 0.5},
		"a show begun with ten":      {repeated(now-day, 10), 0, 1},
		"ten within an hour":         {steadyFeed(360, now-day, 0, 10).document(now), 0, 1.2},
		"hourly, and one of old":     {append([]int64{now - 1000*day}, hourly...), 18, 30},
		"hourly, for days":           {hourly, 18, 30},
		"every 20 minutes":           {steadyFeed(1200, now, 100, 20).document(now), 60, 85},
		"eight together, each month": {bursts(now, 8, 30*day), 0.5 / 30, 1.5 / 30},
	} {
		s, _ := r.Record(policy.NewState(1, 0, r), policy.Event{Status: policy.Full, At: now, Digest: "a", Times: c.times, Open: true}, 0)
		require.LessOrEqual(t, r.Rate(s), c.most*1.001, name)
		require.GreaterOrEqual(t, r.Rate(s), c.least*0.999, name)
	}
	for range 2000 { // no dates break it
		var times []int64
		for range g.IntN(30) {
			times = append(times, now-int64(math.Exp(g.Float64()*22))+1)
		}
		slices.Sort(times)
		s := policy.NewState(1, 0, r)
		for at := int64(now); at < now+3; at++ {
			s, _ = r.Record(s, policy.Event{Status: policy.Full, At: at, Digest: string(rune(at % 5)), Times: times, Open: g.IntN(2) == 0,
				Window: g.IntN(40) - 3, Changes: g.Float64() * 50, Span: g.Float64()}, 0)
		}
		require.True(t, s.Changes >= 0 && s.Changes < 1e6 && s.Days >= 0 && s.Days <= 36500, "%v", s)
		require.True(t, r.Rate(s) > 0 && r.Rate(s) <= 100, "%v", s)
		require.GreaterOrEqual(t, s.Window, 0)
	}
}

// bursts are n changes within minutes, every gap.
func bursts(now int64, n int, gap int64) (times []int64) {
	for at := now - 6*gap + gap/2; at < now; at += gap {
		for i := range n {
			times = append(times, at+int64(i)*120)
		}
	}
	return times
}

func TestAVisitComesBeforeHalfOfTheItemsAreReplaced(t *testing.T) {
	t.Parallel()
	r := policy.DefaultRules()
	r.Cooldown, r.LongestCooldown, r.RestShare = 900e9, 12*3600e9, 1
	const now = 20_000 * day
	s := steadyVisited(t, r, 3600, 20, now)
	s.LastScheduled = now
	rest := func() int64 { until, _ := r.Rest(s); return until - now }
	require.InDelta(t, 3600, rest(), 400, "rest-share is longer than the rest only in origins with small documents")
	s.Window = 1
	require.InDelta(t, 1800, rest(), 200)
	s.FreshUntil = now + 6*3600
	require.InDelta(t, 1800, rest(), 200, "nor does the ttl")
	s.NotBefore = now + 7200
	require.EqualValues(t, 7200, rest(), "but a Retry-After does")
	s.NotBefore, s.Window = policy.Never, 0
	require.EqualValues(t, 6*3600, rest(), "a document that loses nothing")
	s.Window, s.FreshUntil = 1, policy.Never
	r.Cooldown = 3600e9
	require.EqualValues(t, 3600, rest(), "never before the cooldown")
	s.Every = 50_000
	require.EqualValues(t, 50_000, rest(), "nor before the interval of the operator")
}

// steadyVisited is a feed after its first visit.
func steadyVisited(t *testing.T, r policy.Rules, gap int64, window int, now int64) policy.State {
	t.Helper()
	s, effect := steadyFeed(gap, now, gap/3, window).visit(r, policy.NewState(1, now, r), now)
	require.True(t, effect.Success)
	require.Equal(t, window, s.Window)
	return s
}

func TestAnOriginThatLosesItemsIsVisitedBeforeSlowOnes(t *testing.T) {
	t.Parallel()
	p, err := policy.New("value", policy.DefaultRules())
	require.NoError(t, err)
	r := policy.DefaultRules()
	const now, later = 20_000 * day, 20_000*day + 16*3600
	losing, slow := steadyVisited(t, r, 3600, 20, now), steadyVisited(t, r, 30*day, 20, now-40*day)
	slow.Recent = policy.Recent{} // so that it has no habit
	worth := func(s policy.State, at int64) float64 { return p.Worth(p.Place(s), policy.Quality{}, at) }
	require.Greater(t, worth(slow, now+3600), worth(losing, now+3600), "nothing is lost yet")
	require.Greater(t, worth(losing, later), worth(slow, later)*0.3)
	require.Greater(t, worth(losing, now+2*day), worth(slow, now+2*day))
	safe := losing
	safe.Window = 0
	require.Less(t, worth(safe, now+2*day), worth(slow, now+2*day))

	const gap = 13 * 3600 // three items are half of the window
	regular := steadyVisited(t, r, gap, 6, now)
	for name, change := range map[string]func(*policy.State){
		"due":     func(*policy.State) {},
		"known":   func(s *policy.State) { s.Recent = policy.Recent{} },
		"quiet":   func(s *policy.State) { s.LastUpdate = now },
		"signal":  func(s *policy.State) { s.LastUpdate = now + gap },
		"failing": func(s *policy.State) { s.Failures, s.LastStatus = 1, policy.Failed },
	} {
		losing, safe := regular, regular
		change(&losing)
		change(&safe)
		safe.Window = 0
		require.Equal(t, name, p.Place(losing).Pool.String())
		require.InDelta(t, worth(safe, now+gap), worth(losing, now+gap), 1e-9, "%s: nothing is lost yet", name)
		require.Greater(t, worth(losing, now+6*gap), worth(safe, now+6*gap)+1, name)
		fork := losing
		fork.Fork = true
		require.InDelta(t, worth(losing, now+6*gap), worth(fork, now+6*gap), 1e-9, name)
	}
}

func TestADocumentWithOnlyNewItemsHasProbablyLostSome(t *testing.T) {
	t.Parallel()
	r := policy.DefaultRules()
	const now = 20_000 * day
	f := steadyFeed(3600, now+10*day, 1800, 20)
	s, effect := f.visit(r, policy.NewState(1, now, r), now)
	require.Zero(t, effect.Missed, "at the first visit")
	s, effect = f.visit(r, s, now+20*3600)
	require.Zero(t, effect.Missed, "as many new ones as it has items")
	s, effect = f.visit(r, s, now+52*3600)
	require.InDelta(t, 12, effect.Missed, 1, "32 hours")
	require.Equal(t, 1, s.Overflows)
	s, effect = f.visit(r, s, now+60*3600)
	require.Zero(t, effect.Missed)
	require.InDelta(t, 12, s.Missed, 1)
	require.Less(t, off(r, s, 24), 1.1)
}
