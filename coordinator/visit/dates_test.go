package visit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
)

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
