package policy

import "math"

// Value is the default policy. A visit is worth the index of the freshness optimum (Cho
// and Garcia-Molina 2003; Azar et al. 2018) plus a small part of the index of the harmonic
// penalty (Kolobov et al. 2019). Both follow from the probability that nothing has
// changed since the last success: by the rate of change and, for an origin with dates, by
// their recall and false rate (belief.go); by its habit, if it changes regularly
// (habit.go). docs/visits.md derives them.
type Value struct{ Rules }

// Name implements Policy.
func (Value) Name() string { return "value" }

// Place returns the queue of the origin's pool, its rate class, and the class of its document if it may lose items.
func (p Value) Place(s State) Place {
	place := p.placeByRate(s)
	place.Class += p.windowClass(s) * perWindow
	if s.Fork {
		place.Class += Classes
	}
	return place
}

// placeByRate returns the place of an origin as if it was no fork: the pool by the first case
// that applies, the class by its rate after its last silence, and as ref the time of its last
// success, from which Worth computes the expected changes. Only an origin without dates can have
// a habit, because the dates of listers tell more. In PoolFailing the field Lister has the
// failures in a row, so that each number has a queue. A second Retry-After in a row counts as a
// failure there, because it is as likely that the next visit comes to nothing.
func (p Value) placeByRate(s State) Place {
	place := Place{Class: ClassOf(p.RateNow(s)), Ref: s.LastSuccess}
	failures := max(s.Failures, s.Refusals-1)
	switch {
	case s.LastSuccess == Never && s.Failures == 0:
		place.Pool, place.Lister, place.Ref = PoolFirst, s.Lister, p.firstRef(s)
	case failures > 0:
		place.Pool, place.Lister = PoolFailing, int32(min(failures, mostFailures))
		if s.LastStatus == NotFound {
			place.Lister++ // a vanished origin comes back less often than one that failed
		}
		if s.LastSuccess == Never {
			place.Ref = s.FirstSeen
		}
	case s.LastUpdate > s.LastSuccess:
		place.Pool, place.Lister = PoolSignal, s.DatedBy()
	case s.LastUpdate != Never:
		place.Pool, place.Lister = PoolQuiet, s.DatedBy()
	default:
		place.Pool = PoolKnown
		if h, ok := s.Habit(); ok {
			return placeDue(s, h)
		}
	}
	return place
}

// firstRef returns the time that orders first visits. Origins without a date of update
// count as updated when they were first seen; an activity is a time that runs backwards, so
// that recent updates come first. One whose server refused its first visit goes behind those
// that were not tried, because else two such origins would keep all others of their host
// waiting.
func (p Value) firstRef(s State) int64 {
	switch {
	case s.LastVisit != Never:
		return s.LastVisit
	case p.FirstOrder == ByCreation && s.Created != Never:
		return min(s.Created, s.FirstSeen)
	case p.FirstOrder == ByUpdate && s.LastUpdate != Never:
		return min(s.LastUpdate, s.FirstSeen)
	case p.FirstOrder == ByActivity && s.LastUpdate != Never:
		return -s.LastUpdate
	case p.FirstOrder == ByActivity:
		return -s.FirstSeen
	}
	return s.FirstSeen
}

// mostFailures is the number of failures in a row beyond which more do not matter.
const mostFailures = 8

// Worth returns the value in days: WeightFresh times the index of freshness and of items that may be lost, plus
// WeightLag times the index of lag. First visits of a lister with priority get firstVisitBonus in addition; each
// failure in a row multiplies the value by FailedFactor, but not that of items that may be lost, because its rests
// grow anyway. The class has the document and tells forks (Place).
func (p Value) Worth(place Place, q Quality, now int64) float64 {
	class := place.Class
	place.Class %= Classes
	worth := p.indexes(place, q, now)
	switch {
	case place.Pool == PoolFirst && q.FirstVisits:
		worth += firstVisitBonus
	case place.Pool == PoolFailing:
		worth *= math.Pow(p.FailedFactor, float64(place.Lister))
	}
	if window := windowOf(class / perWindow); window > 0 {
		worth += p.WeightFresh * lossIndex(window, p.expectedItems(place, q, now))
	}
	if class%perWindow >= Classes {
		worth *= p.ForkWeight
	}
	return worth
}

// indexes returns the weighted indexes of freshness and lag, in days.
func (p Value) indexes(place Place, q Quality, now int64) float64 {
	rate, days := ClassRate(place.Class), max(float64(now-place.Ref)/day, 0)
	if place.Pool == PoolDue {
		chance, _ := dueChance(place, now)
		return p.WeightFresh*dueIndex(place, now, 1/p.HorizonDays) + p.WeightLag*chance*days
	}
	x := p.unseenChanges(place, q, now)
	_, lag := Terms(x, days, rate) // the signals give the index of freshness
	switch place.Pool {
	case PoolFirst:
		if p.FirstOrder == ByActivity { // its ref counts backwards
			lag = 0
		}
		return p.WeightFresh*p.freshAfterFirst() + p.WeightLag*lag
	case PoolQuiet, PoolSignal:
		return p.WeightFresh*q.signals(rate).index(x, 1/p.HorizonDays) + p.WeightLag*lag
	}
	return p.WeightFresh*noSignals(rate).index(x, 1/p.HorizonDays) + p.WeightLag*lag
}

// expectedItems returns how many items have probably come since the last success. A date after it does not tell how
// many. The ref of an origin with a habit is when the first is expected.
func (p Value) expectedItems(place Place, q Quality, now int64) float64 {
	switch place.Pool {
	case PoolQuiet:
		return p.unseenChanges(place, q, now)
	case PoolDue:
		return 1 + ClassRate(place.Class)*float64(now-place.Ref)/day
	}
	return ClassRate(place.Class) * float64(now-place.Ref) / day
}

// firstVisitBonus, in days, exceeds every value without it.
const firstVisitBonus = 1e9

// freshAfterFirst returns for how many days a first visit is expected to keep an origin
// fresh. The rate is unknown: a gamma distribution with the mean 1/PriorDays and the
// weight PriorStrength. Slow origins make that longer than the time to a change at the
// mean rate. The integral is a sum of trapezoids that get wider, up to ten times HorizonDays.
func (p Value) freshAfterFirst() float64 {
	scale := p.PriorStrength * p.PriorDays
	days, from, chance := 0.0, 0.0, 1.0
	for step := 0.25; from < 10*p.HorizonDays; step *= 1.25 {
		to := from + step
		next := math.Pow(scale/(scale+to), p.PriorStrength) * math.Exp(-to/p.HorizonDays)
		days += (to - from) * (chance + next) / 2
		from, chance = to, next
	}
	return days
}

// certain is the expected number of changes that counts as a sure change.
const certain = 7

// unseenChanges returns -ln of the probability that nothing changed since the last success. A
// first visit counts as sure to find a change.
func (p Value) unseenChanges(place Place, q Quality, now int64) float64 {
	place.Class %= Classes
	rate, days := ClassRate(place.Class), max(float64(now-place.Ref)/day, 0)
	switch place.Pool {
	case PoolFirst:
		return rate*days + certain
	case PoolKnown, PoolFailing:
		return rate * days
	case PoolDue:
		chance, _ := dueChance(place, now)
		return -math.Log1p(-min(chance, 1-1e-9))
	}
	return q.signals(rate).unseen(days, min(max(float64(q.Listed-place.Ref)/day, 0), days), place.Pool == PoolSignal)
}

// Terms returns the index of freshness and the index of the harmonic penalty, both in
// days, for x expected unseen changes after that many days at rate changes per day.
func Terms(x, days, rate float64) (fresh, lag float64) {
	changed := -math.Expm1(-x) // the probability of at least one change
	fresh = (changed - x*math.Exp(-x)) / rate
	if x > 0 {
		lag = days * (1 - changed/x)
	}
	return fresh, max(lag, 0)
}

// Fresh returns the probability that an origin has no unseen change at a time.
func (p Value) Fresh(s State, q Quality, now int64) float64 {
	return math.Exp(-p.unseenChanges(p.Place(s), q, now))
}

// visited are the pools of all but first visits.
var visited = []Pool{PoolKnown, PoolDue, PoolQuiet, PoolSignal, PoolFailing}

// everywhere are all pools of Value.
var everywhere = append([]Pool{PoolFirst}, visited...)

// answering are the pools that MaxLag concerns.
var answering = []Pool{PoolKnown, PoolDue, PoolQuiet, PoolSignal, PoolFailing}

// Shares reserves FirstShare of the slots for first visits and KnownShare for other
// visits, so that neither starves the other. Of the rest and of the slots that these leave,
// origins that are late get at most LateShare of all slots; the best of all pools get the others.
func (p Value) Shares(n int, c Counts) (shares, refill []Share) {
	known := min(p.KnownShare, 1-p.FirstShare)
	slots := splitSlots(n, c.Served, max(1-p.FirstShare-known, 0), p.FirstShare, known)
	shares = []Share{{Pools: []Pool{PoolFirst}, N: slots[1]}, {Pools: visited, N: slots[2]}}
	if c.Late {
		late := splitSlots(n, c.Served, 1-LateShare, LateShare)[1]
		reserved := min(late, slots[0])
		shares = append(shares, Share{Pools: answering, N: reserved, Late: true})
		refill = append(refill, Share{Pools: answering, N: late - reserved, Late: true})
		slots[0] -= reserved
	}
	return append(shares, Share{Pools: everywhere, N: slots[0]}), append(refill, Share{Pools: everywhere})
}
