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
