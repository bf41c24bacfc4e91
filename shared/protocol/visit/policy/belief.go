package policy

import "math"

// signals are the dates of an origin as a process: it changes rate times a day, the
// lister dates a change with the probability recall, and gives false dates beside them.
type signals struct {
	rate   float64 // changes per day
	recall float64
	wrong  float64 // false dates per day
}

// noSignals describes an origin without dates.
func noSignals(rate float64) signals { return signals{rate: rate} }

// dates is the number of dates per day, true or false.
func (g signals) dates() float64 { return g.recall*g.rate + g.wrong }

// undated is the number of changes per day without a date.
func (g signals) undated() float64 { return (1 - g.recall) * g.rate }

// unseen returns -ln of the probability that nothing changed in the last days, if a lister
// listed the origin during the first of them (listed), and gave a date or none. With
// the prior e^(-rate·days), Bayes' rule gives
//
//	none:  e^-(undated·listed + rate·(days-listed))
//	dated: e^-(rate·days) · (1-e^-(wrong·listed)) / (1-e^-(dates·listed))
//
// because without a change a date is a false one, and with or without changes, dates
// come at the rate of true and false ones together.
func (g signals) unseen(days, listed float64, dated bool) float64 {
	if !dated {
		return g.undated()*listed + g.rate*(days-listed)
	}
	listed = max(listed, 1e-6) // the limit for 0 is wrong/dates
	falsely := -math.Expm1(-g.wrong * listed)
	atAll := -math.Expm1(-g.dates() * listed)
	switch {
	case !(falsely > 0): // no date is false, so a date is certain; also of NaN
		return g.rate*days + mostUnseen
	case !(atAll > falsely): // all dates are false, so a date means nothing
		return g.rate * days
	}
	return min(g.rate*days+math.Log(atAll/falsely), g.rate*days+mostUnseen)
}

// mostUnseen limits how much a date alone can tell.
const mostUnseen = 20

// index returns the value of a visit, in days of freshness, if the probability that
// nothing changed is e^-x; forgotten is the share of a future day's worth that a day's
// wait costs. It is that price of a visit at which this is the best moment for one:
//
//	index = E[fresh days until the next visit] - e^-x · E[days until the next visit]
//
// if each visit comes when the probability has fallen to e^-x: after early days if there
// was a date by then, with the first date after that, or else after late days. Without
// dates both are x/rate, and with forgotten = 0 the index is (1-e^-x(1+x))/rate.
func (g signals) index(x, forgotten float64) float64 {
	if x <= 0 {
		return 0
	}
	late := x / max(g.undated(), 1e-9)
	early := g.early(x, late)
	fresh := upTo(early, g.rate+forgotten) + between(early, late, g.rate+g.wrong+forgotten)
	days := upTo(early, forgotten) + math.Exp(-g.dates()*early)*math.Exp(-forgotten*early)*upTo(late-early, g.dates()+forgotten)
	return max(fresh-math.Exp(-x)*days, 0)
}

// early returns after how many days a date makes the probability of no change e^-x, at most late. It returns late
// without dates (recall 0), and 0 if a date at once suffices. It uses bisection, because unseen grows with the
// days and has no inverse in closed form.
func (g signals) early(x, late float64) float64 {
	if g.recall <= 0 || g.rate <= 0 {
		return late
	}
	const dated = true
	if g.wrong <= 0 || g.unseen(0, 0, dated) >= x {
		return 0
	}
	low, high := 0.0, min(late, x/g.rate)
	for range 40 {
		middle := (low + high) / 2
		if g.unseen(middle, middle, dated) < x {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// upTo returns the integral of e^(-rate·t) from 0 to days. For a product near 0 it is days, which
// avoids a division by 0.
func upTo(days, rate float64) float64 {
	if rate*days < 1e-9 {
		return days
	}
	return -math.Expm1(-rate*days) / rate
}

// between is the integral of e^(-rate·t) from one day to a later one.
func between(from, to, rate float64) float64 {
	return math.Exp(-rate*from) * upTo(to-from, rate)
}
