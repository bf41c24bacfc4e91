package policy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

const day = 86400

// anyTime draws times at the limits of int64 and of this package, and ordinary ones. Each test has
// its own generator, because two parallel tests must not draw from one.
func anyTime() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.SampledFrom([]int64{policy.Never, math.MinInt64 + 1, -policy.Latest, -1, 0, 1, policy.Latest, policy.Latest + 1, math.MaxInt64}),
		rapid.Int64(), rapid.Int64Range(1_600_000_000, 1_800_000_000),
	)
}

// anyNumber draws numbers at the limits of float64, and ordinary ones.
func anyNumber() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{0, -1, 1e308, math.Inf(1), math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat64}), rapid.Float64(), rapid.Float64Range(0, 10),
	)
}

func anyEvent(t *rapid.T) policy.Event {
	return policy.Event{
		Status: rapid.SampledFrom([]policy.Status{policy.Full, policy.Partial, policy.Failed, policy.NotFound, "ongoing"}).Draw(t, "status"),
		At:     anyTime().Draw(t, "at"), Digest: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "digest"), Times: rapid.SliceOfN(anyTime(), 0, 20).Draw(t, "times"),
		Fudge: anyNumber().Draw(t, "fudge"), Changes: anyNumber().Draw(t, "changes"), Span: anyNumber().Draw(t, "span"), NotBefore: anyTime().Draw(t, "not before"),
	}
}

// Row 24 of the catalogue of faults.
func TestFault24ArithmeticStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rapid.Check(t, func(t *rapid.T) {
		p, err := policy.New(rapid.SampledFrom(policy.Names).Draw(t, "policy"), rules)
		require.NoError(t, err)
		s := policy.NewState(1, anyTime().Draw(t, "first seen"), rules)
		for range rapid.IntRange(1, 8).Draw(t, "events") {
			s, _ = p.Record(s, anyEvent(t), anyTime().Draw(t, "position"))
			s = policy.Listed(s, anyTime().Draw(t, "listed"), anyTime().Draw(t, "last update"))
			require.True(t, s.Index >= 0 && s.Index < len(rules.Intervals), "index %d", s.Index)
			require.True(t, s.Target == policy.Never || s.Target <= policy.Latest, "target %d", s.Target)
			require.True(t, s.LastVisit <= policy.Latest && s.LastUpdate <= policy.Latest && s.LastSeen <= policy.Latest)
			require.False(t, math.IsNaN(s.Changes+s.Days) || math.IsInf(s.Changes+s.Days, 0), "%+v", s)
			until, _ := rules.Rest(s)
			require.LessOrEqual(t, until, policy.Latest)
			q := policy.Quality{Recall: 0.5, False: 0.1, Listed: anyTime().Draw(t, "listing")}
			worth := p.Worth(p.Place(s), q, rapid.Int64Range(0, policy.Latest).Draw(t, "now"))
			require.False(t, math.IsNaN(worth) || math.IsInf(worth, 0), "%v", worth)
		}
	})
	for _, index := range []int{math.MinInt, -1, 11, math.MaxInt} {
		clamped := min(max(index, 0), 10)
		require.Equal(t, rules.Interval(clamped, 0), rules.Interval(index, 0))
	}
	for fudge, days := range map[float64]float64{math.Inf(1): 1.1, math.Inf(-1): 0.9, math.NaN(): 1, 7: 1.1} {
		require.EqualValues(t, math.Floor(days*day), rules.Interval(0, fudge))
	}
}

func TestAnOutcomeIsRecordedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, err := policy.New(rapid.SampledFrom(policy.Names).Draw(t, "policy"), policy.DefaultRules())
		require.NoError(t, err)
		s, e := policy.NewState(1, 0, policy.DefaultRules()), anyEvent(t)
		once, _ := p.Record(s, e, 5)
		twice, effect := p.Record(once, e, 5)
		require.Equal(t, once, twice)
		require.NotEmpty(t, effect.Ignored)
	})
}

func TestInAQueueTheSmallerRefIsNeverWorthLess(t *testing.T) {
	t.Parallel()
	pools := []policy.Pool{policy.PoolFirst, policy.PoolKnown, policy.PoolQuiet, policy.PoolSignal, policy.PoolFailing, policy.PoolDue}
	rapid.Check(t, func(t *rapid.T) {
		p, err := policy.New(rapid.SampledFrom(policy.Names).Draw(t, "policy"), policy.DefaultRules())
		require.NoError(t, err)
		now := int64(1_700_000_000)
		q := policy.Quality{Recall: rapid.Float64Range(0, 1).Draw(t, "recall"), False: rapid.Float64Range(0, 10).Draw(t, "false"),
			Listed: now - rapid.Int64Range(0, 100*day).Draw(t, "listed")}
		place := policy.Place{Pool: rapid.SampledFrom(pools).Draw(t, "pool"), Lister: rapid.Int32Range(0, 9).Draw(t, "lister"),
			Class: uint16(rapid.IntRange(0, policy.Classes-1).Draw(t, "class")), Ref: now - rapid.Int64Range(-100*day, 1000*day).Draw(t, "age")}
		older := place
		older.Ref -= rapid.Int64Range(1, 100*day).Draw(t, "older")
		worth := p.Worth(place, q, now)
		require.GreaterOrEqual(t, p.Worth(older, q, now), worth-math.Abs(worth)*1e-6-1e-9)
	})
}

func TestThePickIsTheBestOfAllOrigins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := policy.DefaultRules()
		rules.FirstShare, rules.KnownShare = 0, 0
		p, now := policy.Value{Rules: rules}, int64(1_700_000_000)
		q := &naiveQueues{}
		var values []float64
		for key := range int64(rapid.IntRange(0, 60).Draw(t, "origins")) {
			s := policy.NewState(key, now-rapid.Int64Range(0, 50*day).Draw(t, "seen"), rules)
			if rapid.Bool().Draw(t, "visited") {
				s.LastSuccess = now - rapid.Int64Range(0, 50*day).Draw(t, "success")
				s.Changes, s.Days = rapid.Float64Range(0, 20).Draw(t, "changes"), 10
			}
			if rapid.Bool().Draw(t, "dated") {
				s.LastUpdate = now - rapid.Int64Range(0, 50*day).Draw(t, "update")
			}
			q.add(key, p.Place(s))
			values = append(values, p.Worth(p.Place(s), q.Quality(0), now))
		}
		slices.Sort(values)
		slices.Reverse(values)
		n := rapid.IntRange(0, 70).Draw(t, "n")
		picked := policy.Pick(p, q, now, n, policy.Counts{}, nil)
		require.Len(t, picked, min(n, len(values)))
		for i, c := range picked {
			require.InDelta(t, values[i], c.Value, 1e-9)
		}
	})
}

func TestAPickAsksForEachCandidateOnceAndGoesOnPastTheRefused(t *testing.T) {
	t.Parallel()
	for _, name := range policy.Names {
		p, err := policy.New(name, policy.DefaultRules())
		require.NoError(t, err)
		q := &naiveQueues{}
		for key := range int64(30) {
			s := policy.NewState(key, 100+key, policy.DefaultRules())
			q.add(key, p.Place(s))
		}
		asked := map[int64]int{}
		picked := policy.Pick(p, q, 1000, 10, policy.Counts{A: 30}, func(c policy.Candidate) bool {
			asked[c.Key]++
			return c.Host != "host0"
		})
		require.Len(t, picked, 10, name)
		for _, n := range asked {
			require.Equal(t, 1, n, name)
		}
	}
}

func TestFirstVisitsAndKnownChangesEachHaveTheirShare(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.FirstShare, rules.KnownShare = 0.2, 0.1
	p, now := policy.Value{Rules: rules}, int64(1_700_000_000)
	q := &naiveQueues{}
	for key := range int64(400) {
		s := policy.NewState(key, now-300*day, rules)
		if key >= 200 { // with a low value
			s.LastSuccess, s.Changes, s.Days = now-day, 0, 10_000
		}
		q.add(key, p.Place(s))
	}
	first := 0
	for _, c := range policy.Pick(p, q, now, 100, policy.Counts{A: 400}, nil) {
		if c.Place.Pool == policy.PoolFirst {
			first++
		}
	}
	require.Equal(t, 90, first, "10 slots are reserved for other visits")
}

func TestALearnedRateNearsTheTrueOne(t *testing.T) {
	t.Parallel()
	for _, counts := range []bool{true, false} {
		rules := policy.DefaultRules()
		s := policy.NewState(1, 0, rules)
		rng, changes := rand.New(rand.NewPCG(1, 2)), 0
		for i := range 400 { // a change every third day on average, a visit every second
			since := 0
			for range 2 {
				if rng.Float64() < -math.Expm1(-1.0/3) {
					since++
				}
			}
			changes += since
			e := policy.Event{Status: policy.Full, At: int64(i) * 2 * day, Digest: fmt.Sprint(changes)}
			if counts {
				e.Changes, e.Span = float64(since), 2
			}
			s, _ = rules.Record(s, e, 0)
		}
		require.InEpsilon(t, 1.0/3, rules.Rate(s), 0.35, "counts %v", counts)
	}
}

// A lister dates a part of the changes of many origins, and gives false dates beside them;
// each is visited one to thirty days after its last visit. Both figures are found, also
// if a date brings the visit forward.
func TestVisitsMeasureTheQualityOfDates(t *testing.T) {
	t.Parallel()
	rules, rng := policy.DefaultRules(), rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ rate, recall, wrong float64 }{{0.03, 0.95, 0.001}, {0.03, 0.3, 0.02}, {0.1, 0.8, 0.5}, {0.02, 0.5, 1}} {
		var d policy.Dates
		for range 3000 {
			s := policy.NewState(1, 0, rules)
			s.LastSuccess, s.LastUpdate, s.Changes, s.Days = 100*day, 50*day, 1000*c.rate, 1000
			until := s.LastSuccess + rng.Int64N(30*day) + day
			changes, at := 0, s.LastSuccess
			for at += day; at < until; at += day {
				changed := rng.Float64() < c.rate
				if changed {
					changes++
				}
				if changed && rng.Float64() < c.recall || rng.Float64() < c.wrong {
					s = policy.Listed(s, at, at)
					if rng.Float64() < 0.5 {
						break // visited at once
					}
				}
			}
			e := policy.Event{Status: policy.Full, At: at, Digest: "x", Changes: float64(changes), Span: float64(at-s.LastSuccess) / day}
			q := rules.Quality(d, d, at)
			d = rules.LearnDates(d, q, s, e, policy.Effect{Success: true, Changed: changes > 0})
		}
		q := rules.Quality(d, d, 0)
		// On some days a false date hides that there is a true one.
		require.InDelta(t, c.recall*(1-c.wrong), q.Recall, 0.15+0.2*c.wrong, "%+v: %+v", c, q)
		require.InEpsilon(t, c.wrong+0.001, q.False+0.001, 0.35, "%+v: %+v", c, q)
		require.Equal(t, d, rules.LearnDates(d, q, policy.NewState(1, 0, rules), policy.Event{}, policy.Effect{}), "a failure changes nothing")
	}
}

func TestANewListerBeginsWithTheQualityOfTheOthers(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	none := rules.Quality(policy.Dates{}, policy.Dates{}, 5)
	require.InDelta(t, 0.5, none.Recall, 1e-9)
	require.InDelta(t, 0.5/rules.PriorDays, none.False, 1e-9)
	good := policy.Dates{Hits: 99, Misses: 1, False: 1, Days: 5000}
	some := rules.Quality(policy.Dates{}, good, 5)
	require.Greater(t, some.Recall, 0.95)
	require.Less(t, some.False, none.False)
	own := rules.Quality(policy.Dates{Misses: 100, False: 100, Days: 100}, good, 5)
	require.Less(t, own.Recall, 0.05)
	own = rules.Quality(policy.Dates{Misses: 1000, False: 1000, Days: 1000}, good, 5)
	require.InDelta(t, 1, own.False, 0.1)
}

func TestAListingEnablesAllButWhatTheOperatorDisabled(t *testing.T) {
	t.Parallel()
	s := policy.NewState(1, 0, policy.DefaultRules())
	require.Equal(t, policy.ByLister, policy.Unlisted(s).Disabled)
	require.True(t, policy.Listed(policy.Unlisted(s), 5, policy.Never).Enabled())
	s.Disabled = policy.ByOperator
	require.Equal(t, policy.ByOperator, policy.Unlisted(s).Disabled)
	require.Equal(t, policy.ByOperator, policy.Listed(s, 5, policy.Never).Disabled)
}

func TestARetryAfterIsRest(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	s, _ := rules.Record(policy.NewState(1, 0, rules), policy.Event{Status: policy.Full, At: 100, Digest: "a", NotBefore: 5000}, 0)
	require.Equal(t, policy.RetryAfter, rules.Why(s, 4999))
	require.Equal(t, policy.Eligible, rules.Why(s, 5000))
}

func TestRulesOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	require.NoError(t, policy.DefaultRules().Check())
	for name, spoil := range map[string]func(*policy.Rules){
		"no table": func(r *policy.Rules) { r.Intervals = nil }, "a falling table": func(r *policy.Rules) { r.Intervals = []int{4, 2, 1, 1, 1} },
		"a first index beyond it": func(r *policy.Rules) { r.FirstIndex = 11 }, "fudge": func(r *policy.Rules) { r.Fudge = math.NaN() },
		"never disabled": func(r *policy.Rules) { r.DisableAfter = 0 }, "cooldown": func(r *policy.Rules) { r.Cooldown = -time.Second },
		"no weight": func(r *policy.Rules) { r.WeightFresh, r.WeightLag = 0, 0 }, "prior": func(r *policy.Rules) { r.PriorDays = math.Inf(1) },
	} {
		r := policy.DefaultRules()
		spoil(&r)
		require.ErrorIs(t, r.Check(), fault.ErrInvalid, name)
	}
	_, err := policy.New("best", policy.DefaultRules())
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "roundrobin")
}

// An origin is first seen, visited twice, and placed by its rate after each visit.
func Example() {
	p, _ := policy.New("value", policy.DefaultRules())
	s := policy.NewState(1, 0, policy.DefaultRules())
	fmt.Println("at first:", p.Place(s).Pool)
	s, _ = p.Record(s, policy.Event{Status: policy.Full, At: 1 * day, Digest: "a"}, 0)
	s, effect := p.Record(s, policy.Event{Status: policy.Full, At: 3 * day, Digest: "b"}, 0)
	fmt.Println("then:", p.Place(s).Pool, "changed:", effect.Changed, "index:", s.Index)
	// Output:
	// at first: first
	// then: known changed: true index: 2
}

func TestRulesAreConfigured(t *testing.T) {
	t.Parallel()
	r, err := policy.ParseRules("cooldown=1h, disable-after=5,intervals=1/2/4/8/16,weight-lag=0.5")
	require.NoError(t, err)
	require.Equal(t, time.Hour, r.Cooldown)
	require.Equal(t, 5, r.DisableAfter)
	require.Equal(t, []int{1, 2, 4, 8, 16}, r.Intervals)
	require.Equal(t, 0.5, r.WeightLag)
	same, err := policy.ParseRules("")
	require.NoError(t, err)
	require.Equal(t, policy.DefaultRules(), same)
	for _, bad := range []string{"speed=1", "cooldown=soon", "cooldown=-1h", "fudge=2", "intervals=1//2", "prior-days=NaN", "disable-after"} {
		_, err := policy.ParseRules(bad)
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
	}
}

func FuzzRules(f *testing.F) {
	f.Add("cooldown=1h,disable-after=5,intervals=1/1/2/2/2/4/16")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := policy.ParseRules(text); err == nil {
			require.NoError(t, r.Check())
		}
	})
}
