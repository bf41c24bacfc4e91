package simulate

import (
	"math"
	"slices"

	"leasehold/shared/protocol/visit/policy"
)

const day = 86400 // seconds

// An origin is the true state of a simulated origin, which policies do not see.
type origin struct {
	rate       float64 // changes per day
	born, dies int64
	next       int64 // time of the next change
	lastChange int64
	listed     int64  // the last change that a listing had the chance to date
	switches   int64  // end of the present phase, if the rate switches on and off
	changes    uint32 // since born
	seen       uint32 // changes at the last successful visit
	unseen     times  // of changes, in world.unseen
	size       float32
	rng        rng // of the changes only, so that they do not depend on the policy
	lister     uint16
	host       int32
	burstLeft  uint8 // changes left in the present burst
	unlisted   bool  // its lister does not name it once it is dead
	dated      bool  // its lister gives dates
	misdated   bool  // all of these dates are wrong
	fork       bool  // changes a tenth as often
	off        bool  // in a phase without changes
	recorded   int32 // of a recorded world: in world.recorded
	kind       uint8 // of Scenario.Kinds, from 1; 0: none
}

// maxUnseen limits the length of origin.unseen; later changes are missing in the delays
// only.
const maxUnseen = 1 << 14

// The simulated time begins at start. Origins that exist then were visited once during
// the history seconds before, unless the start is cold.
const (
	start   int64 = 1_700_000_000
	history int64 = 30 * day
)

// A world is what the scenario and the seed determine: all that does not depend on the
// policy.
type world struct {
	Scenario
	seed    uint64
	end     int64
	origins []origin
	listers []lister
	hosts   []host
	unseen  timesOf

	recorded [][]int64 // of each origin of a recorded world: times of the changes to come
}

// The purposes for which random numbers are drawn. Each has numbers of its own, so that
// two policies meet the same world although they visit at different times.
const (
	forOrigin = iota
	forHistory
	forFirstVisit
	forOutcome
	forDate
	forHost
	forLister
	forRange
)

// random returns a generator for a purpose, a subject and a time. It depends on nothing else, so
// that two policies draw the same numbers.
func (w *world) random(purpose int, subject, at int64) rng {
	g := rng(w.seed<<32 ^ uint64(purpose)<<56 ^ uint64(subject))
	g = rng(g.next() ^ uint64(at))
	g.next()
	return g
}

// newWorld draws the world of a scenario with n origins, or with at most most of them, spread evenly by their
// keys. They are drawn as in the world with all n.
func newWorld(s Scenario, n, most int, seed uint64, end int64) *world {
	w := &world{Scenario: s, seed: seed, end: end}
	w.Scenario = s.drawn(w)
	w.listers = w.newListers()
	w.hosts = w.newHosts()
	w.origins = make([]origin, min(n, most))
	for i := range w.origins {
		key := i * n / len(w.origins)
		w.origins[i] = w.newOrigin(int64(key), float64(key)/float64(n))
	}
	return w
}

// newOrigin returns one origin. position, 0 to 1, is its place among all; the first ones are
// those that the scenario adds later. Every number is drawn from the origin's own generator in a
// fixed order, so that each policy meets the same origins.
func (w *world) newOrigin(key int64, position float64) origin {
	if len(w.Recorded) > 0 {
		return w.recordedOrigin(w.Recorded[key])
	}
	g := rng(w.seed<<32 + uint64(key))
	g.next() // not used; all worlds were drawn so, and shall stay the same
	o := origin{rate: w.MedianRate * math.Exp(w.Spread*g.normal()), born: start - history, dies: math.MaxInt64}
	o.rate = min(max(o.rate, 1e-6), 100)
	if g.uniform() < w.Forks {
		o.rate /= 10
		o.fork = true
	}
	o.size = float32(min(math.Pow(g.uniform(), -1/w.SizeShape), 1e6))
	switch {
	case position < w.Flood:
		o.born = start + int64(w.FloodDay*day)
	case position < w.Flood+w.New:
		o.born = start + int64(g.uniform()*float64(w.end-start))
	}
	if w.Cold > 0 && o.born < start && g.uniform() < w.Cold {
		o.born = start
	}
	// Dying is the share that dies within a year; died is in days.
	died := g.exponential() / -math.Log1p(-min(w.Dying, 0.999)) * 365
	if alreadyDead := g.uniform() < w.Dead; alreadyDead {
		o.dies = o.born
	} else if w.Dying > 0 && died < 36500 {
		o.dies = max(o.born, start) + int64(died*day)
	}
	o.unlisted = g.uniform() < w.Unlisted
	w.drawRelations(&o, key)
	o.rng, o.lastChange, o.listed, o.switches = g, o.born, o.born, o.born
	o.next = w.nextChange(&o, o.born)
	return o
}

// drawRelations draws the lister and the host of an origin, and whether its dates are good. Its
// generator is not the one of the changes, so that scenarios with other listers or hosts change
// as often.
func (w *world) drawRelations(o *origin, key int64) {
	g := w.random(forOrigin, key, 0)
	o.lister = uint16(min(g.uniform()*float64(len(w.listers)), float64(len(w.listers)-1)))
	if u := g.uniform(); len(w.hosts) > 0 { // a few hosts have most of the origins
		o.host = int32(min(u*u*float64(len(w.hosts)), float64(len(w.hosts)-1)))
	}
	o.dated = w.Dated && g.uniform() < w.DatedShare
	o.misdated = g.uniform() < w.Misdated
	w.drawKind(o, &g)
}

// recordedOrigin returns an origin that changes when the recorded one did. Changes before the
// start or beyond the longest run are moved into that time.
func (w *world) recordedOrigin(from Recorded) origin {
	o := origin{born: start, dies: math.MaxInt64, size: 1, lastChange: start, listed: start}
	changes := slices.Sorted(slices.Values(from.Changes))
	for i, at := range changes {
		changes[i] = start + min(max(at, 1), maxDays*day)
	}
	o.recorded, w.recorded = int32(len(w.recorded)), append(w.recorded, changes)
	o.rate = max(float64(len(changes))*day/float64(w.end-start), 1e-6)
	o.next = w.nextChange(&o, start)
	return o
}

// nextChange draws the time of the change that follows one at a time. With drift the rate changes
// by the time since the last change. Changes in nights and weekends are drawn again by their
// share (quiet); after maxRejections the next second is taken. A recorded origin without further
// changes has math.MaxInt64.
func (w *world) nextChange(o *origin, at int64) int64 {
	if len(w.Recorded) > 0 {
		left := w.recorded[o.recorded]
		if len(left) == 0 {
			return math.MaxInt64
		}
		w.recorded[o.recorded] = left[1:]
		return left[0]
	}
	if w.Drift > 0 && at > o.lastChange {
		days := float64(at-o.lastChange) / day
		o.rate = min(max(o.rate*math.Exp(w.Drift*math.Sqrt(days)*o.rng.normal()), 1e-6), 100)
	}
	for range maxRejections {
		next := w.afterPhases(o, at, w.secondsToChange(o))
		if o.rng.uniformIf(w.Night > 0 || w.Weekend > 0) >= w.quiet(next) {
			return next
		}
		at = next
	}
	return at + 1
}

// maxRejections bounds the draws of one change in a night or a weekend.
const maxRejections = 1000

// uniformIf returns a number in (0, 1), or 1 without a draw if it is not needed.
func (g *rng) uniformIf(needed bool) float64 {
	if !needed {
		return 1
	}
	return g.uniform()
}

// quiet returns the share of the changes that are left out at a time: at night, from 20
// to 6 o'clock, and on the last two days of a week.
func (w *world) quiet(at int64) (share float64) {
	if hour := at % day / 3600; hour < 6 || hour >= 20 {
		share = w.Night
	}
	if at/day%7 >= 5 {
		share = max(share, w.Weekend)
	}
	return share
}

// afterPhases returns the time at which an origin has been in phases with changes for so many
// seconds since the time at. It draws the phases that follow on the way, so at must not decrease
// from call to call. Without phases it is at + seconds.
func (w *world) afterPhases(o *origin, at, seconds int64) int64 {
	if w.OnDays <= 0 {
		return at + seconds
	}
	for {
		if o.switches <= at {
			o.off = !o.off
			mean := w.OnDays
			if o.off {
				mean = w.OffDays
			}
			// Pareto with shape 1.5 has the mean 3 times its smallest value.
			length := mean / 3 * math.Pow(o.rng.uniform(), -1/1.5)
			o.switches = at + max(1, int64(min(length, 36500)*day))
		}
		left := o.switches - at
		if !o.off && seconds <= left {
			return at + seconds
		}
		if !o.off {
			seconds -= left
		}
		at = o.switches
	}
}

// secondsToChange draws the seconds from one change to the next, at least 1. In a burst they are
// an hour in the mean; the bursts are so much further apart that the rate stays the same.
func (w *world) secondsToChange(o *origin) int64 {
	days := 1 / o.rate // in the mean
	switch w.Changes {
	case "regular": // ± 15 %
		days *= 0.85 + 0.3*o.rng.uniform()
	case "bursts":
		if o.burstLeft > 0 {
			o.burstLeft--
			days = 1.0 / 24 * o.rng.exponential()
			break
		}
		o.burstLeft = uint8(min((w.BurstSize-1)*o.rng.exponential(), 255))
		days *= w.BurstSize * o.rng.exponential()
	default:
		days *= o.rng.exponential()
	}
	return max(1, int64(min(days, 1e6)*day))
}

// advance applies the changes of an origin up to now, or until its death, and adds them to the
// unseen ones.
func (w *world) advance(o *origin, now int64) {
	for o.next <= now && o.next < o.dies {
		o.changes++
		if o.unseen.length < maxUnseen {
			w.unseen.add(&o.unseen, o.next)
		}
		next := w.nextChange(o, o.next)
		o.lastChange, o.next = o.next, next
	}
}

// pastChanges draws the changes of the days before an origin was born, the latest first, because
// first visits see them. It returns at most most of them, and how many there are: beyond most
// their number is drawn, and not their times. The origin itself stays as it is.
func (w *world) pastChanges(key int64, days float64, most int) (times []int64, total int) {
	past := w.origins[key]
	past.rng, past.burstLeft = w.random(forHistory, key, 0), 0
	at, from := past.born, past.born-int64(days*day)
	for len(times) < most {
		at -= w.secondsToChange(&past)
		if at < from {
			return times, len(times)
		}
		times = append(times, at)
	}
	left := past.rate * float64(at-from) / day
	if w.Changes == "bursts" {
		return times, len(times) + int(float64(past.rng.poisson(left/w.BurstSize))*w.BurstSize)
	}
	return times, len(times) + past.rng.poisson(left)
}

// stationary reports whether changes are Poisson with rates that stay, so that the
// closed form has the optimum.
func (w *world) stationary() bool {
	return w.Changes == "poisson" && w.Drift == 0 && w.OnDays == 0 && w.Night == 0 && w.Weekend == 0 && !w.Dated &&
		len(w.hosts) == 0 && len(w.Recorded) == 0
}

// dateOf returns the date that a listing gives now, or policy.Never if it gives no new one: the
// last change with the probability of the lister's recall, or a false date. Each change gets one
// chance, at the first listing after it (origin.listed).
func (w *world) dateOf(o *origin, key int, l *lister, now int64) int64 {
	changed := o.lastChange > o.listed
	o.listed = max(o.listed, o.lastChange)
	g := w.random(forDate, int64(key), now)
	switch {
	case changed && !o.misdated && g.uniform() < l.recall:
		return o.lastChange
	case g.uniform() < -math.Expm1(-l.falseRate*float64(now-l.listed)/day):
		return now
	}
	return policy.Never
}
