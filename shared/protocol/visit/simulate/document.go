package simulate

import (
	"math"
	"slices"

	"leasehold/shared/protocol/visit/policy"
)

// readDocument sets in e what a visit now reads of an origin whose document has only its last items, as the store
// does from an outcome of a feed: their dates, how many are new, and whether all are.
func (r *run) readDocument(key int, now int64, e *policy.Event) {
	o, s, window := &r.origins[key], &r.states[key], r.window(key)
	first, items := s.LastSuccess == policy.Never, r.documents[key]
	if first {
		items, _ = r.pastChanges(int64(key), maxDays, window)
		slices.Reverse(items)
	}
	fresh := 0
	for at := range r.unseen.of(&o.unseen) {
		if !first || at != o.born { // at which a listing named it first
			items = append(items, at)
			fresh++
		}
	}
	items = slices.Delete(items, 0, max(len(items)-window, 0))
	r.documents[key] = items
	e.Window = len(items)
	switch {
	case first:
		e.Open, e.Times = len(items) > 1, items
	case o.changes == o.seen:
		e.Span = float64(now-s.LastSuccess) / day
	default:
		e.Changes, e.Span = float64(min(max(fresh, 1), window)), float64(now-s.LastSuccess)/day
		e.Open, e.Times = len(items) > 0 && fresh >= len(items), items
	}
}

// window is how many of its last changes the document of an origin has; math.MaxInt32: all.
func (r *run) window(key int) int {
	window := r.Window
	if k := r.kindOf(&r.origins[key]); k != nil && k.Window > 0 {
		window = k.Window
	}
	if window < 1 {
		return math.MaxInt32
	}
	return int(window)
}

// changesCounted returns the changes that a visit now can count: their times, their number, and
// over how many days. These are the changes since the last success or, at the first visit, those
// of 180 days before, which are drawn then. With recorded origins the past is not drawn; then a first visit
// sets LastSuccess to when the origin was listed, and counts from there. The times are valid until the next call.
func (r *run) changesCounted(key int, now int64) (times []int64, changes, span float64) {
	o, s := &r.origins[key], &r.states[key]
	r.times = r.times[:0]
	first := s.LastSuccess == policy.Never
	if first && len(r.Recorded) == 0 {
		const back = 180.0
		past, total := r.pastChanges(int64(key), back-float64(now-o.born)/day, policy.MostTimes)
		slices.Reverse(past)
		r.times = append(r.times, past...)
		changes, span = float64(total)+float64(o.changes), back
	} else {
		if first {
			s.LastSuccess = s.FirstSeen
		}
		changes, span = float64(o.changes-o.seen), float64(now-s.LastSuccess)/day
	}
	for at := range r.unseen.of(&o.unseen) {
		r.times = append(r.times, at)
	}
	return r.times, changes, span
}
