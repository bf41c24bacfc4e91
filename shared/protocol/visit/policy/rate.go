package policy

import "math"

// Rates are divided into classes on a logarithmic scale; a rate differs from the
// middle of its class by at most 15 %.
const (
	Classes  = 48
	minRate  = 1.0 / 4096 // changes per day
	maxRate  = 100.0      // changes per day
	maxCount = 1_000_000  // changes that one visit may report
)

var perClass = math.Log(maxRate/minRate) / (Classes - 1)

// ClassOf returns the class of a rate per day.
func ClassOf(rate float64) uint16 {
	if !(rate > minRate) {
		return 0
	}
	return uint16(min(math.Round(math.Log(rate/minRate)/perClass), Classes-1))
}

// ClassRate returns the rate per day in the middle of a class.
func ClassRate(class uint16) float64 { return classRates[min(class, Classes-1)] }

var classRates = func() (rates [Classes]float64) {
	for i := range rates {
		rates[i] = minRate * math.Exp(perClass*float64(i))
	}
	return rates
}()

// Rate estimates the changes per day of an origin from the changes seen in the days
// watched and a prior that has the weight of PriorStrength changes (priorGap).
func (r Rules) Rate(s State) float64 {
	rate := (r.PriorStrength + s.Changes) / (r.PriorStrength*r.priorGap(s.Changes, s.Days) + s.Days)
	return min(max(rate, minRate), maxRate)
}

// learnRate adds the observation of a successful visit. If the visit counts changes, their number
// is added, a burst counted as one (changesIn). If it only compares digests, a change stands for
// the expected number given that there was at least one: x/(1-e^-x). What was observed before
// fades with the time since the last success, or at the first one with the days observed.
// Invariant: Days grows by at most 36,500 a visit and Changes by maxCount, so both stay finite.
func (r Rules) learnRate(s State, e Event, effect Effect) State {
	since := s.LastSuccess
	if effect.First {
		since = Never
	}
	changes, days, ok := r.observe(s, e, effect)
	s.Recent = s.Recent.with(e.Times, e.At)
	if !ok {
		return s
	}
	days = min(days, 36500)
	elapsed := days
	if since != Never {
		elapsed = max(days, float64(e.At-since)/day)
	}
	fade := math.Exp2(-elapsed / r.HalfLifeDays)
	s.Changes, s.Days = s.Changes*fade+changes, s.Days*fade+days
	return s
}

// observe returns the changes that a visit saw in some days; ok is false if there is no earlier digest to compare
// with.
func (r Rules) observe(s State, e Event, effect Effect) (changes, days float64, ok bool) {
	if e.Open {
		changes, days = r.observeOpen(e)
		return changes, days, true
	}
	if changes, counted := r.changesIn(e); counted {
		return changes, e.Span, true
	}
	if effect.First || s.LastSuccess == Never {
		return 0, 0, false
	}
	days = float64(e.At-s.LastSuccess) / day
	if effect.Changed {
		changes = atLeastOne(r.Rate(s) * days)
	}
	return changes, days, true
}

// atLeastOne is the mean of a Poisson variable with mean x, given that it is not 0.
func atLeastOne(x float64) float64 {
	if x < 1e-9 {
		return 1
	}
	return x / -math.Expm1(-x)
}
