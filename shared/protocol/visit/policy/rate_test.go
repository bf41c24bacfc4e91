package policy

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheClassesOfRatesAreOnALogarithmicScale(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1.0/4096, ClassRate(0), 1e-12)
	require.InDelta(t, 100, ClassRate(Classes-1), 1e-9)
	require.Equal(t, ClassRate(Classes-1), ClassRate(255))
	for class := range uint16(Classes) {
		require.Equal(t, class, ClassOf(ClassRate(class)))
		if class > 0 {
			require.InEpsilon(t, ClassRate(1)/ClassRate(0), ClassRate(class)/ClassRate(class-1), 1e-9)
			require.Equal(t, class, ClassOf(ClassRate(class)*0.88), "the nearest")
		}
	}
	for rate, class := range map[float64]uint16{-1: 0, 0: 0, 1e-9: 0, 1e9: Classes - 1, math.Inf(1): Classes - 1} {
		require.Equal(t, class, ClassOf(rate), rate)
	}
	require.Zero(t, ClassOf(math.NaN()))
}

func TestARateIsTheChangesSeenInTheDaysWatchedAndAPrior(t *testing.T) {
	t.Parallel()
	r := DefaultRules()
	r.PriorDays, r.PriorStrength = 20, 0.5
	require.InDelta(t, 1.0/20, r.Rate(State{}), 1e-12)
	require.InDelta(t, 2.5/50, r.Rate(State{Changes: 2, Days: 40}), 1e-12)
	require.InDelta(t, 1.5/110, r.Rate(State{Changes: 1, Days: 100}), 1e-12)
	require.InEpsilon(t, 24, r.Rate(State{Changes: 5, Days: 5.0 / 24}), 0.05, "27 days of the prior do not outweigh five hours with a change each")
	require.InEpsilon(t, 1.1, r.Rate(State{Changes: 0.5, Days: 0}), 100, "finite")
	require.EqualValues(t, 100, r.Rate(State{Changes: 1e9}))
	require.EqualValues(t, 1.0/4096, r.Rate(State{Days: 1e9}))
	require.InDelta(t, 1.0/20, r.RateNow(State{}), 1e-12)
	require.InDelta(t, 0.25/20, r.RateNow(State{Activity: 0.25}), 1e-12)
	require.EqualValues(t, 1, atLeastOne(0))
	require.InDelta(t, 2/(1-math.Exp(-2)), atLeastOne(2), 1e-12)
}

func TestASuccessfulVisitAddsItsChangesAndDaysToThoseThatFade(t *testing.T) {
	t.Parallel()
	r := DefaultRules()
	r.HalfLifeDays = 10
	before := State{LastSuccess: 100 * day, LastVisit: 100 * day, Changes: 8, Days: 40}
	expected := atLeastOne(r.Rate(before) * 5)
	first := before
	first.LastSuccess = Never
	fade := math.Exp2(-0.5) // in five days
	for name, c := range map[string]struct {
		before        State
		event         Event
		effect        Effect
		changes, days float64
	}{
		"counted":                        {before, Event{Changes: 3, Span: 5}, Effect{}, 8*fade + 3, 40*fade + 5},
		"counted, the first":             {first, Event{Changes: 3, Span: 5}, Effect{First: true}, 8*fade + 3, 40*fade + 5},
		"changed":                        {before, Event{}, Effect{Changed: true}, 8*fade + expected, 40*fade + 5},
		"unchanged":                      {before, Event{}, Effect{}, 8 * fade, 40*fade + 5},
		"changed, the first":             {before, Event{}, Effect{Changed: true, First: true}, 8, 40},
		"changed, after failures only":   {first, Event{}, Effect{Changed: true}, 8, 40},
		"more days than an origin has":   {State{}, Event{Changes: 3, Span: 1e9}, Effect{}, 3, 36500},
		"more changes than there can be": {State{}, Event{Changes: 1e9, Span: 5}, Effect{}, 1e6, 5},
	} {
		c.event.At = 105 * day
		got := r.learnRate(c.before, c.event, c.effect)
		require.InDelta(t, c.changes, got.Changes, 1e-9, name)
		require.InDelta(t, c.days, got.Days, 1e-9, name)
	}
}

// every returns n times that follow each other by a gap.
func every(gap int64, n int) []int64 { return everyFrom(gap, gap, n) }

func everyFrom(at, gap int64, n int) (times []int64) {
	for i := range int64(n) {
		times = append(times, at+i*gap)
	}
	return times
}

func TestChangesThatCloselyFollowAnotherCountOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event   Event
		changes float64
		counted bool
	}{
		"no span":                       {Event{Changes: 3}, 0, false},
		"a negative span":               {Event{Changes: 3, Span: -1}, 0, false},
		"a span of NaN":                 {Event{Changes: 3, Span: math.NaN()}, 0, false},
		"NaN changes":                   {Event{Changes: math.NaN(), Span: 1}, 0, false},
		"negative changes":              {Event{Changes: -3, Span: 1}, 0, true},
		"no times":                      {Event{Changes: 3, Span: 1}, 3, true},
		"one time":                      {Event{Changes: 3, Span: 1, Times: []int64{5}}, 3, true},
		"two together":                  {Event{Changes: 2, Span: 10, Times: []int64{5, 5 + burst}}, 1, true},
		"two apart":                     {Event{Changes: 2, Span: 10, Times: []int64{5, 6 + burst}}, 2, true},
		"a part of them, half together": {Event{At: 2*day + 2, Changes: 9, Span: 1, Times: []int64{5, 6, day, 2 * day, 2*day + 1, 2*day + 2}}, 4.5, true},
		"two hours apart, for days":     {Event{At: 20 * 7200, Changes: 20, Span: 20.0 / 12, Times: every(7200, 20)}, 20, true},
		"eight together, twice":         {Event{At: 20 * day, Changes: 16, Span: 20, Times: append(every(60, 8), everyFrom(10*day, 60, 8)...)}, 2, true},
		"all at once":                   {Event{At: 20 * day, Changes: 16, Span: 20, Times: every(0, 16)}, 1, true},
	} {
		changes, counted := DefaultRules().changesIn(c.event)
		require.Equal(t, c.counted, counted, name)
		require.InDelta(t, c.changes, changes, 1e-9, name)
	}
}
