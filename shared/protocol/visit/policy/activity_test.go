package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

// learnSilences visits origins every other day for 400 days. They change in phases: at random once a day
// for on days, and then not for off days. It returns the activity of an origin with a mean
// rate whose last change was some days before its last success.
func learnSilences(on, off float64) func(silent int64) float64 {
	rules, random := policy.DefaultRules(), rand.New(rand.NewPCG(1, 2))
	var all policy.Silences
	var last policy.State
	for key := range int64(100) {
		s, changes := policy.NewState(key, 0, rules), 0
		changing, ends, next := true, random.ExpFloat64()*on, random.ExpFloat64()
		for at := 2.0; at < 400; at += 2 {
			var times []int64
			for next < at {
				if !changing || next > ends { // the phase ends first
					next = ends
					changing = !changing
					if changing {
						ends = next + random.ExpFloat64()*on
					} else {
						ends = next + random.ExpFloat64()*off
						next = ends
					}
				} else {
					times = append(times, int64(next*day))
				}
				next += random.ExpFloat64()
			}
			changes += len(times)
			before := s
			e := policy.Event{Status: policy.Full, At: int64(at * day), Digest: string(rune('a' + changes)), Times: times, Changes: float64(len(times)), Span: 2}
			var effect policy.Effect
			s, effect = rules.Record(before, e, 0)
			rules.LearnSilence(&all, before, e, effect)
		}
		last = s
	}
	last.Changes, last.Days = on/(on+off)*200, 200
	return func(silent int64) float64 {
		s := last
		s.LastSuccess = int64(s.Recent[len(s.Recent)-1]) + silent*day
		return rules.Activity(&all, s)
	}
}

func TestAnOriginThatWasSilentForLongIsLessActiveIfOriginsChangeInPhases(t *testing.T) {
	t.Parallel()
	inPhases, always := learnSilences(30, 60), learnSilences(1e6, 1)
	require.Greater(t, inPhases(1), 0.95)
	require.Less(t, inPhases(30), 0.3)
	require.InDelta(t, 1, always(0), 0.05)
	require.Greater(t, always(5), 0.75, "few were silent for so long")
	unknown := policy.NewState(1, 0, policy.DefaultRules())
	require.EqualValues(t, 1, policy.DefaultRules().Activity(&policy.Silences{}, unknown))
}

// The bands of silence are factors of two, of less than 1/8 to 8 or more changes that were expected
// and did not come. A visit adds to the band of the silence before it.
func TestAVisitIsCountedInTheBandOfTheSilenceBeforeIt(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	for expected, band := range map[float64]int{0: 0, 0.12: 0, 0.13: 1, 0.24: 1, 0.26: 2, 0.49: 2, 0.51: 3, 0.99: 3, 1.01: 4, 3.9: 5, 4.1: 6, 7.9: 6, 8.1: 7, 1000: 7} {
		s := policy.NewState(1, 0, rules)
		s.Changes, s.Days = 100, 100
		last := int64(1000 * day)
		s.Recent[len(s.Recent)-1] = uint32(last)
		s.LastSuccess = last + int64(expected/rules.Rate(s)*day)
		var all policy.Silences
		e := policy.Event{Status: policy.Full, At: s.LastSuccess + day, Digest: "a"}
		rules.LearnSilence(&all, s, e, policy.Effect{Success: true})
		var counted []int
		for rate := range all {
			for silence, x := range all[rate] {
				if x.Expected > 0 {
					counted = append(counted, silence)
				}
			}
		}
		require.Equal(t, []int{band}, counted, "%v changes expected", expected)
		var none policy.Silences
		rules.LearnSilence(&none, s, e, policy.Effect{})
		require.Zero(t, none, "a visit that failed shows nothing")
	}
}

// With narrower bands a band would have too few observations, with wider ones it would have origins of
// different kinds.
func TestOriginsWhoseRatesDifferByAFactorOfFourAreInNeighbouringBands(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	band := func(perDay float64) int {
		s := policy.NewState(1, 0, rules)
		s.Changes, s.Days = 1e6, 1e6/perDay
		s.Recent[len(s.Recent)-1] = 1000 * day
		s.LastSuccess = 1001 * day
		var all policy.Silences
		rules.LearnSilence(&all, s, policy.Event{Status: policy.Full, At: s.LastSuccess + day, Digest: "a"}, policy.Effect{Success: true})
		for rate := range all {
			if all[rate] != all[(rate+1)%len(all)] && all[rate] != all[(rate+len(all)-1)%len(all)] {
				return rate
			}
		}
		return -1
	}
	slowest, last := band(1e-9), band(1e9)
	require.Zero(t, slowest)
	require.Equal(t, len(policy.Silences{})-1, last, "each band is used")
	for perDay := 0.01; perDay < 10; perDay *= 1.3 {
		require.Equal(t, band(perDay)+1, band(perDay*4), perDay)
		require.LessOrEqual(t, band(perDay*1.9)-band(perDay), 1, perDay)
		require.GreaterOrEqual(t, band(perDay*1.9), band(perDay), perDay)
	}
}

// counted is an origin with a rate of 0.5 changes a day, whose last change was ten days before its
// last success.
func counted(rules policy.Rules) policy.State {
	s := policy.NewState(1, 0, rules)
	s.Changes, s.Days = 50_000, 100_000 // so many that the prior does not count
	s.Recent[len(s.Recent)-1] = 990 * day
	s.LastSuccess = 1000 * day
	return s
}

// sums adds up the observations of all bands.
func sums(all policy.Silences) (sum policy.Exposure) {
	for _, bands := range all {
		for _, x := range bands {
			sum.Changes += x.Changes
			sum.Expected += x.Expected
		}
	}
	return sum
}

func TestAVisitExpectsTheChangesOfItsRateUntilTheFirstChange(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	undated, never := counted(rules), counted(rules)
	undated.Recent, never.LastSuccess = policy.Recent{}, policy.Never
	changed, unchanged := policy.Effect{Success: true, Changed: true}, policy.Effect{Success: true}
	const from = 1000 * day
	for name, c := range map[string]struct {
		state  policy.State
		times  []int64 // of changes
		effect policy.Effect
		want   policy.Exposure
	}{
		"unchanged for four days":     {counted(rules), nil, unchanged, policy.Exposure{Changes: 0, Expected: 2}},
		"changed after a day":         {counted(rules), []int64{from - day, from, from + day, from + 2*day}, changed, policy.Exposure{Changes: 1, Expected: 0.5}},
		"changed when it was visited": {counted(rules), []int64{from + 9*day}, changed, policy.Exposure{Changes: 1, Expected: 2}},
		"changed, without a date":     {counted(rules), nil, changed, policy.Exposure{Changes: 1, Expected: 1 - 2/math.Expm1(2)}},
		"changed, with an older date": {counted(rules), []int64{from}, changed, policy.Exposure{Changes: 1, Expected: 1 - 2/math.Expm1(2)}},
		"failed":                      {counted(rules), nil, policy.Effect{Changed: true}, policy.Exposure{}},
		"no change was dated before":  {undated, nil, changed, policy.Exposure{}},
		"no success before":           {never, nil, changed, policy.Exposure{}},
	} {
		var all policy.Silences
		rules.LearnSilence(&all, c.state, policy.Event{Status: policy.Full, At: from + 4*day, Digest: "a", Times: c.times}, c.effect)
		got := sums(all)
		require.InDelta(t, c.want.Changes, got.Changes, 1e-9, name)
		require.InDelta(t, c.want.Expected, got.Expected, 1e-6, name)
	}
	require.EqualValues(t, 1, rules.Activity(&policy.Silences{}, undated))
	require.EqualValues(t, 1, rules.Activity(&policy.Silences{}, never))
}

func TestOlderObservationsOfSilencesLoseWeight(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	const most = 2000
	var all policy.Silences
	e := policy.Event{Status: policy.Full, At: 1000*day + 4*day, Digest: "a"}
	for range most / 2 {
		rules.LearnSilence(&all, counted(rules), e, policy.Effect{Success: true})
	}
	require.InDelta(t, most, sums(all).Expected, 1e-6)
	rules.LearnSilence(&all, counted(rules), policy.Event{Status: policy.Full, At: 1000*day + 4*day, Digest: "a", Times: []int64{1000*day + 2*day}}, policy.Effect{Success: true, Changed: true})
	require.InDelta(t, most, sums(all).Changes+sums(all).Expected, 1e-6)
	require.InDelta(t, 1*most/(most+2.0), sums(all).Changes, 1e-6)
}

func TestTheActivityIsTheChangesFoundByThoseExpected(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	s := counted(rules)
	var band policy.Silences // the band of s
	rules.LearnSilence(&band, s, policy.Event{Status: policy.Full, At: s.LastSuccess + day, Digest: "a"}, policy.Effect{Success: true})
	with := func(own, alike, other policy.Exposure) float64 {
		var all policy.Silences
		for rate := range all {
			for silence := range all[rate] {
				switch {
				case band[rate][silence].Expected > 0:
					all[rate][silence] = own
					all[(rate+1)%len(all)][silence] = alike
					all[rate][(silence+1)%len(all[rate])] = other
				}
			}
		}
		return rules.Activity(&all, s)
	}
	const weight = 100
	none, few := policy.Exposure{}, policy.Exposure{Changes: 20, Expected: 200}
	require.EqualValues(t, 1, with(none, none, none))
	require.EqualValues(t, 1, with(none, none, few), "those of another silence do not matter")
	require.InDelta(t, (20+weight*120.0/300)/(200+weight), with(few, none, none), 1e-9)
	require.InDelta(t, 120.0/300, with(none, few, none), 1e-9)
	require.InDelta(t, (20+weight*140.0/500)/(200+weight), with(few, few, none), 1e-9)
	require.EqualValues(t, 1, with(policy.Exposure{Changes: 500, Expected: 200}, none, none), "not above 1")
	var quiet policy.Silences
	for rate := range quiet {
		for silence := range quiet[rate] {
			quiet[rate][silence] = few
		}
	}
	require.Less(t, rules.Activity(&quiet, s), 0.5)
	s.Recent = policy.Recent{}
	require.EqualValues(t, 1, rules.Activity(&quiet, s), "no change was dated")
}
