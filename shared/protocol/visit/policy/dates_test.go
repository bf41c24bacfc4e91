package policy_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

func TestADateAfterTheLastSuccessRaisesTheValueTheMoreItIsTrue(t *testing.T) {
	t.Parallel()
	p, now := policy.Value{Rules: policy.DefaultRules()}, int64(1_700_000_000)
	place := policy.Place{Pool: policy.PoolQuiet, Class: 20, Ref: now - 3*day}
	q := policy.Quality{Recall: 0.5, False: 0.01, Listed: now}
	worth := []float64{p.Worth(place, q, now)}
	place.Pool = policy.PoolSignal
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
	p, now := policy.Value{Rules: policy.DefaultRules()}, int64(1_700_000_000)
	place := policy.Place{Pool: policy.PoolSignal, Class: 20, Ref: now - 5*day}
	dated := p.Worth(place, policy.Quality{Recall: 0.9, False: 50, Listed: now}, now)
	place.Pool = policy.PoolKnown
	require.InEpsilon(t, p.Worth(place, policy.Quality{}, now), dated, 0.05)
}

func TestADateAndAChangeAreCountedByTheirProbability(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	dated := policy.NewState(1, 0, rules)
	dated.LastSuccess, dated.LastUpdate, dated.Dates = 100*day, 101*day, 1
	undated := dated
	undated.LastUpdate, undated.Dates = 99*day, 0
	q := policy.Quality{Recall: 0.5, False: 0.5, Listed: 101 * day}
	e := policy.Event{Status: policy.Full, At: 102 * day, Digest: "x", Changes: 2, Span: 2}
	changed, unchanged := policy.Effect{Success: true, Changed: true}, policy.Effect{Success: true}
	for name, c := range map[string]struct {
		s      policy.State
		effect policy.Effect
		want   policy.Dates
	}{
		"it may be of the change, or false":  {dated, changed, policy.Dates{Hits: 0.5, Misses: 0.5, False: 0.5, Days: 1}},
		"a date without a change":            {dated, unchanged, policy.Dates{False: 1, Days: 1}},
		"no date and no change":              {undated, unchanged, policy.Dates{Days: 1}},
		"a change before or after a listing": {undated, changed, policy.Dates{Misses: 1, Days: 1}},
		"a visit that failed":                {dated, policy.Effect{Changed: true}, policy.Dates{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := rules.LearnDates(policy.Dates{}, q, c.s, e, c.effect)
			require.InDeltaSlice(t, []float64{c.want.Hits, c.want.Misses, c.want.False, c.want.Days}, []float64{got.Hits, got.Misses, got.False, got.Days}, 1e-9)
		})
	}
}

func TestAListingBeforeTheLastSuccessKnowsOfNoChange(t *testing.T) {
	t.Parallel()
	p, now := policy.Value{Rules: policy.DefaultRules()}, int64(1_700_000_000)
	place := policy.Place{Pool: policy.PoolQuiet, Class: 20, Ref: now - 3*day}
	want := p.Worth(place, policy.Quality{Recall: 0.5, False: 0.1, Listed: place.Ref}, now)
	require.Equal(t, want, p.Worth(place, policy.Quality{Recall: 0.5, False: 0.1, Listed: place.Ref - 10*day}, now))
	require.Greater(t, want, p.Worth(place, policy.Quality{Recall: 0.5, False: 0.1, Listed: now}, now))
}

// Without dates and without a horizon the index is the vectors'.
func TestWithoutDatesTheIndexIsTheClosedForm(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.WeightLag, rules.HorizonDays = 0, 1e6
	p, now := policy.Value{Rules: rules}, int64(1_700_000_000)
	for _, days := range []int64{1, 10, 100} {
		place := policy.Place{Pool: policy.PoolKnown, Class: 15, Ref: now - days*day}
		rate := policy.ClassRate(place.Class)
		fresh, _ := policy.Terms(rate*float64(days), float64(days), rate)
		require.InEpsilon(t, fresh, p.Worth(place, policy.Quality{}, now), 1e-3)
	}
}

func TestTheQualityOfDatesBeginsWithThatOfAllListers(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.PriorDays = 10
	all := policy.Dates{Hits: 7, Misses: 2, False: 4, Days: 80}
	own := policy.Dates{Hits: 3, Misses: 1, False: 2, Days: 5}
	recall, wrong := 8.0/11, 5.0/100
	q := rules.Quality(own, all, 77)
	require.InDelta(t, (3+2*recall)/6, q.Recall, 1e-12)
	require.InDelta(t, (2+wrong*20)/25, q.False, 1e-12)
	require.EqualValues(t, 77, q.Listed)
	require.False(t, q.FirstVisits)
	require.Equal(t, policy.Dates{Hits: 10, Misses: 3, False: 6, Days: 85}, own.Add(all))
}

func TestWhatAVisitShowsAboutDatesIsCounted(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	state := func(success, update int64, dates int) policy.State {
		s := policy.NewState(1, 0, rules)
		s.LastSuccess, s.LastUpdate, s.Dates = success, update, dates
		return s
	}
	const from, listed = 100 * day, 103 * day // the visit is four days after from
	dated := state(from, from+day, 1)
	q := policy.Quality{Recall: 0.5, False: 0.25, Listed: listed}
	// The part of a date that is a hit, if n changes could be dated in three days.
	part := func(n float64) float64 { return 0.5 * n / (0.5*n + 0.25*3) }
	changed, unchanged := policy.Effect{Success: true, Changed: true}, policy.Effect{Success: true}
	rate := rules.Rate(dated)
	expected := rate * 4 / -math.Expm1(-rate*4)
	for name, c := range map[string]struct {
		state   policy.State
		changes float64 // 0: they are not counted
		listed  int64
		effect  policy.Effect
		want    policy.Dates
	}{
		"a date, and four changes":        {dated, 4, listed, changed, policy.Dates{Hits: part(3), Misses: 3 - part(3), False: 1 - part(3), Days: 3}},
		"two dates":                       {state(from, from+day, 2), 4, listed, changed, policy.Dates{Hits: 2 * part(3), Misses: 3 - 2*part(3), False: 2 - 2*part(3), Days: 3}},
		"more dates than changes":         {state(from, from+day, 9), 4, listed, changed, policy.Dates{Hits: 3, Misses: 0, False: 6, Days: 3}},
		"a date that was not counted":     {state(from, from+day, 0), 4, listed, changed, policy.Dates{Hits: part(3), Misses: 3 - part(3), False: 1 - part(3), Days: 3}},
		"a date at the last success":      {state(from, from, 0), 4, listed, changed, policy.Dates{Misses: 3, Days: 3}},
		"less than a change":              {dated, 0.5, listed, changed, policy.Dates{Hits: part(0.75), Misses: 0.75 - part(0.75), False: 1 - part(0.75), Days: 3}},
		"changes that are not counted":    {dated, 0, listed, changed, policy.Dates{Hits: part(expected * 0.75), Misses: expected*0.75 - part(expected*0.75), False: 1 - part(expected*0.75), Days: 3}},
		"unchanged, with a date":          {dated, 0, listed, unchanged, policy.Dates{False: 1, Days: 3}},
		"unchanged, listed before":        {state(from, from, 0), 0, from - day, unchanged, policy.Dates{}},
		"changed, listed before":          {state(from, from, 0), 4, from - day, changed, policy.Dates{}},
		"listed after the visit":          {state(from, from, 0), 4, from + 9*day, changed, policy.Dates{Misses: 4, Days: 4}},
		"the first success":               {state(policy.Never, from+day, 1), 4, listed, changed, policy.Dates{}},
		"its lister gave no date":         {state(from, policy.Never, 0), 4, listed, changed, policy.Dates{}},
		"its lister gave none, no change": {state(from, policy.Never, 0), 4, listed, unchanged, policy.Dates{}},
	} {
		q.Listed = c.listed
		e := policy.Event{Status: policy.Full, At: from + 4*day, Digest: "x", Changes: c.changes}
		if c.changes > 0 {
			e.Span = 4
		}
		want := []float64{c.want.Hits, c.want.Misses, c.want.False, c.want.Days}
		got := rules.LearnDates(policy.Dates{}, q, c.state, e, c.effect)
		require.InDeltaSlice(t, want, []float64{got.Hits, got.Misses, got.False, got.Days}, 1e-9, name)
		got = rules.LearnDates(policy.Dates{Hits: 1, Misses: 2, False: 3, Days: 4}, q, c.state, e, c.effect)
		for i, before := range []float64{1, 2, 3, 4} {
			want[i] += before
		}
		require.InDeltaSlice(t, want, []float64{got.Hits, got.Misses, got.False, got.Days}, 1e-9, name)
	}
	q.Listed = listed
	e := policy.Event{Status: policy.Full, At: from + 4*day, Digest: "x"}
	got := rules.LearnDates(policy.Dates{Hits: 1000, Misses: 900, False: 99, Days: 500}, q, dated, e, unchanged)
	require.InDeltaSlice(t, []float64{1000, 900, 100, 503}, []float64{got.Hits, got.Misses, got.False, got.Days}, 1e-9, "2000 observations")
	got = rules.LearnDates(got, q, dated, e, unchanged)
	fade := 2000 / 2001.0
	require.InDeltaSlice(t, []float64{1000 * fade, 900 * fade, 101 * fade, 506 * fade}, []float64{got.Hits, got.Misses, got.False, got.Days}, 1e-9, "older ones lose weight")
}
