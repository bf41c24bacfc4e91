package policy

import (
	"math"
	"math/bits"
)

// Many documents, such as feeds, have only their latest items: a window on the changes of their origin. A visit
// then sees back to the oldest item and no further (Event.Open), and if more changes come between two visits than
// the window holds, some are never seen.

// burst is the longest time, in seconds, within which two changes count as one, because the first of them ends the
// freshness.
const burst = 3 * 3600

// closeShare is the part of the mean time between changes within which two are close.
const closeShare = 0.1

// changesApart returns how many changes some ascending times in a span of seconds stand for if each burst counts
// as one, at most len(times). Two are close if the time between them is at most closeShare of the mean time
// and at most burst. Close ones are bursts if they are more than random changes bring, by two standard deviations.
// The mean time grows with each burst that was merged. A steady rhythm is never a burst, however fast it is.
func changesApart(times []int64, span int64) int {
	apart := len(times) - closeGaps(times, 0) // of one second
	for span > 0 {
		mean := float64(span) / float64(apart)
		within := min(closeShare*mean, burst)
		random := float64(apart-1) * within / mean
		left := len(times) - closeGaps(times, int64(within))
		if float64(apart-left) <= random+2*math.Sqrt(random) {
			break
		}
		apart = left
	}
	return apart
}

// withoutPinned leaves out the oldest of some ascending times while it is older than half of the span to a time
// before the next one is, at most twice: some feeds keep a trailer of years ago beside their latest items. Of eight
// random times that happens to one in a hundred.
func withoutPinned(times []int64, until int64) []int64 {
	for range 2 {
		if len(times) >= 8 && times[1]-times[0] > (until-times[0])/2 {
			times = times[1:]
		}
	}
	return times
}

// closeGaps returns how many times follow another within some seconds.
func closeGaps(times []int64, within int64) (n int) {
	for i := 1; i < len(times); i++ {
		if times[i]-times[i-1] <= within {
			n++
		}
	}
	return n
}

// changesIn returns the number of changes in the span of an event, each burst counted as one; counted is false if
// the visit could not count them. The share of Times that are apart is taken for all changes, because only the
// times of the latest may be known. Times may be older than the span.
func (r Rules) changesIn(e Event) (changes float64, counted bool) {
	if e.Open {
		return float64(changesApart(e.Times, e.openSpan())), true
	}
	changes = min(max(e.Changes, 0), maxCount)
	if !(e.Span > 0) || math.IsNaN(changes) {
		return 0, false
	}
	if len(e.Times) < 2 {
		return changes, true
	}
	span := e.At - e.Times[0]
	if changes <= float64(len(e.Times)) {
		span = max(span, int64(min(e.Span, 36500)*day)) // nothing changed in the rest of it
	}
	return changes * float64(changesApart(e.Times, span)) / float64(len(e.Times)), true
}

// openSpan returns the seconds from the oldest of the times to the visit, at least leastOpen.
func (e Event) openSpan() int64 { return max(e.At-e.Times[0], leastOpen) }

// leastOpen bounds the rate that items dated at the time of the visit suggest, in seconds.
const leastOpen = 600

// observeOpen returns the changes and the days of an event with Open, as if the origin had been watched since the
// oldest change: what is HalfLifeDays old counts half. The span was not chosen but ends at a change, so that the n
// changes are n-1 whole intervals and one under way, half of it over on average. Half of the
// oldest change therefore does not count. Without it, an estimate from five changes would be 7 % too high in the
// median if changes are random, and 11 % in the mean if they are regular.
func (r Rules) observeOpen(e Event) (changes, days float64) {
	span := e.openSpan()
	share := float64(changesApart(e.Times, span)) / float64(len(e.Times))
	fade := math.Ln2 / (r.HalfLifeDays * day)
	for _, at := range e.Times {
		changes += share * math.Exp(-fade*float64(e.At-at))
	}
	changes -= math.Exp(-fade*float64(span)) / 2
	return max(changes, 0), -math.Expm1(-fade*float64(span)) / fade / day
}

// priorGap returns the days between changes that the prior assumes. Nothing is known of a new origin, so it is
// PriorDays. The faster changes come than that, and the more were seen, the more the observed time replaces it,
// because else 27 days without a change would outweigh a day with 24.
func (r Rules) priorGap(changes, days float64) float64 {
	if changes <= 0 || days >= changes*r.PriorDays {
		return r.PriorDays
	}
	observed := max(days/(changes*r.PriorDays), 1e-9) // above 0, for the logarithm
	doubt := 1 / (1 + changes*changes)
	return r.PriorDays * math.Exp((1-doubt)*math.Log(observed)) // math.Pow takes twice as long
}

// missed estimates how many changes an event with Open has missed, as a whole number: those between the newest
// change that was known before and the oldest one in the document, at the rate that is estimated after the visit. s is
// the origin before the visit. It is 0 for a first visit.
func (r Rules) missed(s, after State, e Event) int {
	if !e.Open || s.LastSuccess == Never {
		return 0
	}
	newest := s.Recent.Newest()
	if newest == Never {
		newest = s.LastSuccess
	}
	between := r.Rate(after)*float64(e.Times[0]-newest)/day - 1 // n changes in between make n+1 intervals
	return int(min(max(math.Round(between), 0), maxCount))
}

// Overflow returns after how many seconds without a visit half of a document's items are likely to be replaced by
// new ones. A visit should come by then, so that none is missed if changes come twice as fast for a time. It is
// longestOverflow if the document is not a window, or if it takes longer.
func (r Rules) Overflow(s State) int64 {
	if s.Window <= 0 {
		return longestOverflow
	}
	return int64(min(float64(s.Window)/2/r.Rate(s)*day, longestOverflow))
}

// longestOverflow is the longest time in seconds for which Overflow matters: a rest is shorter, and more queues
// would make each claim slower.
const longestOverflow = 90 * day

// windowClass returns the class of a document that items can be lost from, for Place.Class: 0 for any other.
// windowOf is the inverse.
func (r Rules) windowClass(s State) uint16 {
	if r.Overflow(s) >= longestOverflow {
		return 0
	}
	return min(uint16(bits.Len(uint(s.Window))), windowClasses-1)
}

// windowClasses is the number of classes of documents: those with 512 items or more have one. A Place adds
// perWindow to its class for each, because all pools have such documents.
const (
	windowClasses = 11
	perWindow     = 2 * Classes
)

// windowOf returns the smallest number of items of a class of documents; 0 for class 0.
func windowOf(class uint16) float64 {
	if class == 0 {
		return 0
	}
	return math.Exp2(float64(class - 1))
}

// lossIndex returns the value of a visit, in days of freshness, that comes before items are lost: half a day for each
// expected change beyond half of the window. With a whole day, freshness is below that of round robin where the visits
// do not suffice for all items; with less, items are lost where they do.
func lossIndex(window, expected float64) float64 { return max(expected-window/2, 0) / 2 }

// learn sets in s what a successful visit shows about the rate of an origin and about its document, and in effect
// how many items were missed.
func (r Rules) learn(s State, e Event, effect *Effect) State {
	before := s
	s = r.learnRate(s, e, *effect)
	effect.Missed = r.missed(before, s, e)
	if effect.Missed > 0 {
		s.Overflows++
		s.Missed = min(s.Missed+effect.Missed, maxCount)
	}
	if !e.Unmodified {
		s.Window = min(max(e.Window, 0), maxCount)
	}
	return s
}
