package simulate

import (
	"math"
	"slices"

	"leasehold/shared/protocol/visit/policy"
)

// A lister names origins at its own cadence, with dates of its own quality.
type lister struct {
	cadence   int64 // seconds, whole ticks
	recall    float64
	falseRate float64
	listed    int64 // end of its last listing
	dates     policy.Dates
}

// newListers draws the listers: the first has the cadence, the recall and the false rate of the
// scenario, others have their own, drawn: up to 10 times the cadence, any recall, and a tenth to
// ten times the false rate. A cadence is a multiple of the tick.
func (w *world) newListers() []lister {
	listers := make([]lister, max(int(w.Listers), 1))
	for i := range listers {
		l := lister{recall: w.Recall, falseRate: w.FalseRate, listed: start - day}
		days := w.Cadence
		if i > 0 {
			g := w.random(forLister, int64(i), 0)
			days = w.Cadence * math.Pow(10, g.uniform())
			l.recall = g.uniform()
			l.falseRate = w.FalseRate * math.Pow(10, 2*g.uniform()-1)
		}
		l.cadence = max(int64(days*day/tick), 1) * tick
		listers[i] = l
	}
	return listers
}

// listDue applies the listings of the listers whose time has come, and once a day adds new
// origins. It passes over the origins about which no listing tells anything, because most are
// such.
func (r *run) listDue(now int64) {
	if (now-start)%day == 0 {
		r.listNewOrigins(now)
	}
	due, anyDue := make([]bool, len(r.listers)), false
	for i, l := range r.listers {
		due[i] = (now-start)%l.cadence == 0
		anyDue = anyDue || due[i]
	}
	if !anyDue {
		return
	}
	for _, key := range r.telling {
		r.listIfDue(key, due, now)
	}
	r.disabled = slices.DeleteFunc(r.disabled, func(key int32) bool {
		r.listIfDue(key, due, now)
		return r.states[key].Enabled()
	})
	for i := range r.listers {
		if due[i] {
			r.listers[i].listed = now
		}
	}
}

// tells reports whether a listing may tell something of an enabled origin: a date, or that it is gone. Listings
// leave out the others, which are the vast majority.
func (r *run) tells(o *origin) bool { return o.dated || o.unlisted && o.dies < r.end }

// listIfDue applies the listing of an origin's lister to a known origin, if that lister is due.
func (r *run) listIfDue(key int32, due []bool, now int64) {
	if o := &r.origins[key]; o.born < now && due[o.lister] {
		r.listAgain(int(key), now)
	}
}

// listNewOrigins adds the origins that have been born since the last call. It keeps the others in
// unborn, in the same memory.
func (r *run) listNewOrigins(now int64) {
	later := r.unborn[:0]
	for _, key := range r.unborn {
		if r.origins[key].born > now {
			later = append(later, key)
			continue
		}
		r.listNew(int(key), now)
	}
	r.unborn = later
}

// listNew adds an origin that a listing names for the first time. It counts as unseen from now
// until its first visit.
func (r *run) listNew(key int, now int64) {
	o := &r.origins[key]
	s := r.newState(key, now)
	if o.dated {
		s.LastUpdate = o.born
	}
	r.states[key] = s
	r.addCount(key, 1)
	o.born = now // measured from the first listing, because no policy knows it earlier
	r.unseen.add(&o.unseen, now)
	r.place(key, now)
}

// newState returns the state of an origin before its first visit.
func (r *run) newState(key int, at int64) policy.State {
	o := &r.origins[key]
	s := policy.NewState(int64(key), at, r.rules)
	s.Type, s.Lister, s.Fork, s.Created = r.typeOf(o), int32(o.lister)+1, o.fork, o.born
	return s
}

// listAgain applies a listing to a known origin: it enables one that failures disabled, disables a dead one if it
// is no longer named, and may date its last change. The counts and the place change with the state.
func (r *run) listAgain(key int, now int64) {
	o, s := &r.origins[key], &r.states[key]
	dead, date := now >= o.dies, policy.Never
	if o.dated && !dead {
		r.advance(o, now)
		date = r.dateOf(o, key, &r.listers[o.lister], now)
	}
	gone := dead && o.unlisted
	stateChanges := gone == s.Enabled() // a gone origin gets disabled, any other enabled
	if !stateChanges && date <= s.LastUpdate {
		return // the listing changes nothing
	}
	r.addCount(key, -1)
	if gone {
		*s = policy.Unlisted(*s)
	} else {
		*s = policy.Listed(*s, now, date)
	}
	r.addCount(key, 1)
	r.place(key, now)
}
