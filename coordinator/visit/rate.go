package visit

import "math"

// The classes of rates: logarithmic, so that a rate is at most 15 % off the middle
// of its class.
const (
	Classes  = 48
	minRate  = 1.0 / 4096 // a day
	maxRate  = 100.0
	maxCount = 1e6 // changes that one visit may count
)

var perClass = math.Log(maxRate/minRate) / (Classes - 1)

// ClassOf returns the class of a rate per day.
func ClassOf(rate float64) uint8 {
	if !(rate > minRate) {
		return 0
	}
	return uint8(min(math.Round(math.Log(rate/minRate)/perClass), Classes-1))
}

// ClassRate returns the rate per day in the middle of a class.
func ClassRate(class uint8) float64 { return classRates[min(class, Classes-1)] }

var classRates = func() (rates [Classes]float64) {
	for i := range rates {
		rates[i] = minRate * math.Exp(perClass*float64(i))
	}
	return rates
}()

// Rate estimates the changes a day of an origin: those seen in the days watched,
// and a prior for which PriorStrength changes count.
func (r Rules) Rate(s State) float64 {
	rate := (r.PriorStrength + s.Changes) / (r.PriorStrength*r.PriorDays + s.Days)
	return min(max(rate, minRate), maxRate)
}

// learn adds what a successful visit teaches of the rate. A visit that can count
// gives a number; one that compares digests gives a bit, which stands for the
// number expected when there is at least one: x/(1-e^-x).
func (r Rules) learn(s State, e Event, effect Effect) State {
	days, changes := e.Span, min(max(e.Changes, 0), maxCount)
	if !(days > 0) || math.IsNaN(changes) {
		if effect.First || s.LastSuccess == Never {
			return s // nothing to compare with
		}
		days, changes = float64(e.At-s.LastSuccess)/day, 0
		if effect.Changed {
			changes = atLeastOne(r.Rate(s) * days)
		}
	}
	days = min(days, 36500)
	fade := math.Exp2(-days / r.HalfLifeDays)
	s.Changes, s.Days = s.Changes*fade+changes, s.Days*fade+days
	return s
}

// atLeastOne is the mean of a Poisson number of mean x, given that it is not 0.
func atLeastOne(x float64) float64 {
	if x < 1e-9 {
		return 1
	}
	return x / -math.Expm1(-x)
}
