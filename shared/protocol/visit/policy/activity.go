package policy

import (
	"cmp"
	"math"
)

// Many origins change in phases: after a change another one is likely soon, and after a long silence none is. The
// rate of an origin covers all phases together. Its activity is the factor on the rate after a silence, at most
// 1. docs/visits.md derives it from a model of two phases and tells why it is learned from all origins together.

// Silences are what visits found at origins that had been silent, by the band of their rate and the band of their
// silence.
type Silences [rateBands][silenceBands]Exposure

// Exposure compares the first changes after a success with those that the rates predict.
type Exposure struct {
	Changes  float64 // visits that found a change
	Expected float64 // changes that the rates predict until the first change, or until the visit if there was none
}

// The first silenceBand ends at 1/8 of an expected change and the last one begins at 8.
const (
	rateBands    = 10 // each is a factor of four: minRate to maxRate
	silenceBands = 8  // each is a factor of two
)

// activityWeight is the weight of the assumption that a factor is the one of all rates together, and
// that this one is 1, in changes: a factor from n changes has a standard error of 1/√n of itself, so
// deviations of more than a tenth count. Weights of 30 to 400 gave the same results within
// 0.001 in S6, S13 and S14; with 2 S6 lost 0.001.
const activityWeight = 100

// silenceBand returns the bands of an origin and its rate in changes a day: the band of the rate, and that of the
// changes that the rate predicts between its last change and its last success. ok is false if no dates of its changes
// are known.
func (r Rules) silenceBand(s State) (rate, silence int, perDay float64, ok bool) {
	last := int64(s.Recent[recentChanges-1])
	if last == 0 || s.LastSuccess == Never {
		return 0, 0, 0, false
	}
	perDay = r.Rate(s)
	predicted := perDay * max(float64(s.LastSuccess-last)/day, 1e-6) // above 0, for the logarithm
	rate = int(math.Log2(perDay/minRate) / 2)                        // factors of four
	silence = int(math.Floor(math.Log2(predicted))) + 4              // factors of two; band 0 ends at 1/8
	return min(max(rate, 0), rateBands-1), min(max(silence, 0), silenceBands-1), perDay, true
}

// LearnSilence adds the observation of one visit, changes and the changes that the rate expected,
// to the band of the rate and of the silence since the last date; s is the state before it. It
// adds nothing unless the visit and an earlier one succeeded, and dates of changes were known
// before it, nor if the visit may have missed the first change (Event.Open). Observations are counted up to the first change only, because a change ends the
// silence. Beyond datesMost both sums are made smaller, so that older observations count less.
func (r Rules) LearnSilence(all *Silences, s State, e Event, effect Effect) {
	if !effect.Success || e.Open {
		return
	}
	rate, silence, perDay, ok := r.silenceBand(s)
	if !ok {
		return
	}
	band := &all[rate][silence]
	expected := perDay * float64(e.At-s.LastSuccess) / day
	if effect.Changed {
		band.Changes++
		if at, dated := firstAfter(e.Times, s.LastSuccess); dated {
			expected = min(expected, perDay*float64(at-s.LastSuccess)/day)
		} else { // the mean until the first change, given that there was one
			expected = 1 - expected/math.Expm1(max(expected, 1e-6))
		}
	}
	band.Expected += expected
	if sum := band.Changes + band.Expected; sum > datesMost {
		band.Changes, band.Expected = band.Changes*datesMost/sum, band.Expected*datesMost/sum
	}
}

// firstAfter returns the first of some ascending times after from; ok is false if there is none.
func firstAfter(times []int64, from int64) (at int64, ok bool) {
	for _, at := range times {
		if at > from {
			return at, true
		}
	}
	return 0, false
}

// Activity returns the factor on the rate of an origin after its silence: the changes found by the
// changes expected, of origins of the same bands. So that few observations count little, both sums
// begin with activityWeight expected changes at the factor of all rates (alike), and that begins
// at 1 in the same way. The result is 1 if no dates of the origin's changes are known. A factor
// above 1 is not used, because the phase may end before the next visit, and a visit then gains less
// than the index states.
func (r Rules) Activity(all *Silences, s State) float64 {
	rate, silence, _, ok := r.silenceBand(s)
	if !ok {
		return 1
	}
	alike := Exposure{activityWeight, activityWeight}
	for i := range all {
		alike.Changes += all[i][silence].Changes
		alike.Expected += all[i][silence].Expected
	}
	x := all[rate][silence]
	return min((x.Changes+activityWeight*alike.Changes/alike.Expected)/(x.Expected+activityWeight), 1)
}

// RateNow is Rate after the silence before the last success.
func (r Rules) RateNow(s State) float64 { return r.Rate(s) * cmp.Or(s.Activity, 1) }
