package policy

import "math"

// LateShare is the largest share of the slots for origins that were not visited for Rules.MaxLag, and of the visits
// a day that they may need.
const LateShare = 0.5

// lateVisits implement policies that know which origins are late. Shares with Late need it.
type lateVisits interface {
	// Lateness returns the time since the last success of an origin as a multiple of its MaxLag: from 1 on it is
	// late. It is 0 for places that MaxLag does not concern. In one queue a smaller ref is at least as late.
	Lateness(p Place, now int64) float64
}

// lateness returns the time since the last success as a multiple of bound, in seconds. First visits have shares of
// their own, and origins that failed twice in a row do not answer. One failure is often a short fault, and its value
// is halved, so that it might wait for months. For one that changes regularly the last success lies between its
// last change and its expected one, so that at most half of the bound is assumed to have passed at the latter: a
// visit that finds no change moves the expected one, and the origin is not late again at once.
func lateness(p Place, now, bound int64) float64 {
	p.Class %= Classes
	since := p.Ref
	switch p.Pool {
	case PoolKnown, PoolQuiet, PoolSignal:
	case PoolDue:
		since -= int64(min(day/ClassRate(p.Class), float64(bound)/2))
	case PoolFailing:
		if p.Lister > 1 {
			return 0
		}
	default:
		return 0
	}
	if bound <= 0 {
		return 0
	}
	return float64(now-since) / float64(bound)
}

// Lateness implements lateVisits.
func (p Value) Lateness(w Place, now int64) float64 { return lateness(w, now, seconds(p.MaxLag)) }

// perBound is the number of classes of origins with the same MaxLag. A Plan adds them for each further one, because
// the types of a group may differ in it.
const perBound = windowClasses * perWindow

// mostBounds is how many fit into a class.
const mostBounds = math.MaxUint16 / perBound

// lateBound returns the MaxLag of a type in seconds; 0: its policy has none.
func (p *Plan) lateBound(visitType string) int64 {
	if _, ok := p.of(visitType).policy.(Value); !ok {
		return 0
	}
	return seconds(p.Rules(visitType).MaxLag)
}

// addBound notes the MaxLag of a type.
func (p *Plan) addBound(visitType string) {
	bound := p.lateBound(visitType)
	for i, b := range p.bounds {
		if b == bound {
			p.boundOf[visitType] = uint16(i)
			return
		}
	}
	p.boundOf[visitType] = uint16(len(p.bounds))
	p.bounds = append(p.bounds, bound)
}

// boundClass returns what a Plan adds to the classes of a type.
func (p *Plan) boundClass(visitType string) uint16 {
	i, ok := p.boundOf[visitType]
	if !ok {
		i = p.boundOf[""]
	}
	return i * perBound
}

// Lateness implements lateVisits.
func (p *Plan) Lateness(w Place, now int64) float64 {
	bound := p.bounds[min(int(w.Class/perBound), len(p.bounds)-1)]
	if w.Pool == PoolFixed {
		return 0
	}
	w.Pool %= perGroup
	return lateness(w, now, bound)
}

// LateVisits returns how many visits a day visit each origin once in its MaxLag.
func (p *Plan) LateVisits(c Counts) (perDay float64) {
	others := c.A + c.B
	add := func(visitType string, origins int) {
		if bound := p.lateBound(visitType); bound > 0 {
			perDay += float64(origins) * day / float64(bound)
		}
	}
	for name, n := range c.Types {
		add(name, n.A+n.B)
		others -= n.A + n.B
	}
	add("", max(others, 0))
	return perDay
}

// A Pace is how many visits a day were granted lately. One counts less with time, 37 % after paceDays.
type Pace struct {
	PerDay float64
	At     int64 // when the last ones were granted
}

const paceDays = 7

// Add returns the pace after n visits were granted at a time.
func (p Pace) Add(n int, now int64) Pace {
	days := float64(max(now-p.At, 0)) / day
	return Pace{PerDay: p.PerDay*math.Exp(-days/paceDays) + float64(n)/paceDays, At: max(p.At, now)}
}
