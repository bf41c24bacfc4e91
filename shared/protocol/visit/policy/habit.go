package policy

import (
	"encoding/binary"
	"math"
	"slices"
)

// A Habit is how an origin changes regularly, learned from the dates of its last changes.
type Habit struct {
	Gap    int64 // seconds from one change to the next: the median
	Spread int64 // seconds by which the next change may come earlier or later than Next
	Next   int64 // when the next change is expected
}

// recentChanges is how many dates of changes are kept of an origin.
const recentChanges = 8

// Recent are the dates of an origin's last changes in whole seconds, ascending; 0 stands
// for none. They are 32-bit numbers because there are millions of origins, so dates after
// the year 2106 are not kept.
type Recent [recentChanges]uint32

// with returns the dates together with newer ones, which are ascending; of these at most the last
// MostTimes count. Dates after until, and dates before the last known one, are left out. A date
// that closely follows the one before it replaces that one, because changes together count as one:
// within burst, and within a quarter of the mean time between the dates, or a fast rhythm would
// leave one date only.
func (r Recent) with(times []int64, until int64) Recent {
	times = times[max(len(times)-MostTimes, 0):]
	within := r.closeWithin(times, until)
	for _, at := range times {
		if at <= 0 || at > min(until, math.MaxUint32) || at < int64(r[recentChanges-1]) {
			continue
		}
		if at-int64(r[recentChanges-1]) <= within {
			r[recentChanges-1] = uint32(at)
			continue
		}
		copy(r[:], r[1:])
		r[recentChanges-1] = uint32(at)
	}
	return r
}

// Newest returns the date of the last change, or Never if none is known. It may be older than the last success.
func (r Recent) Newest() int64 {
	if r[recentChanges-1] == 0 {
		return Never
	}
	return int64(r[recentChanges-1])
}

// closeWithin returns the seconds within which a date replaces the one before it.
func (r Recent) closeWithin(times []int64, until int64) int64 {
	var oldest, n int64
	note := func(at int64) {
		if at <= 0 || at > until {
			return
		}
		if n++; oldest == 0 || at < oldest {
			oldest = at
		}
	}
	for _, at := range r {
		note(int64(at))
	}
	for _, at := range times {
		if at > int64(r[recentChanges-1]) {
			note(at)
		}
	}
	if n == 0 {
		return burst
	}
	return min((until-oldest)/(4*n), burst)
}

// Bytes returns the dates as 32 bytes, which RecentOf reads, or no bytes if it has no date.
func (r Recent) Bytes() []byte {
	if r == (Recent{}) {
		return nil
	}
	var b []byte
	for _, at := range r {
		b = binary.BigEndian.AppendUint32(b, at)
	}
	return b
}

// RecentOf returns the dates that Bytes wrote; other bytes, and dates that do not ascend,
// are none.
func RecentOf(b []byte) (r Recent) {
	if len(b) != 4*recentChanges {
		return r
	}
	for i := range r {
		r[i] = binary.BigEndian.Uint32(b[4*i:])
		if i > 0 && r[i] < r[i-1] {
			return Recent{}
		}
	}
	return r
}

// The limits of a habit.
const (
	shortestGap  = 4 * burst // seconds; visits cannot follow a faster rhythm
	mostSilent   = 2.5       // gaps without a change after which the habit has ended
	leastSpread  = 1800      // seconds
	perDeviation = 1.25      // a standard deviation is about 1.25 mean deviations
	roundGap     = 0.25      // largest part of a day or week by which a gap may differ from whole ones
)

// mostDeviation is the largest mean deviation from a rhythm, as a part of the one that
// random changes have, by the number of gaps. Random changes are taken for a habit
// in less than one of a hundred origins.
var mostDeviation = [recentChanges]float64{3: 0.06, 4: 0.12, 5: 0.17, 6: 0.22, 7: 0.25}

// Habit returns how an origin changes regularly; ok is false if it does not, or if more
// than two expected changes did not come. The next change is expected a median gap after
// the last, or at the day's or week's hour of the earlier ones if they keep to it.
func (s State) Habit() (h Habit, ok bool) {
	first := 0
	for first < recentChanges && s.Recent[first] == 0 {
		first++
	}
	times := s.Recent[first:]
	if len(times) < 4 { // mostDeviation is known from three gaps on
		return Habit{}, false
	}
	var buffer [recentChanges - 1]int64
	gaps := buffer[:0]
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, int64(times[i]-times[i-1]))
	}
	gap, most := median(gaps), mostDeviation[len(gaps)]
	if gap < shortestGap {
		return Habit{}, false
	}
	last := int64(times[len(times)-1])
	if away := deviation(gaps, gap); away <= most*float64(gap) { // random gaps deviate by about their median
		h, ok = Habit{Gap: gap, Spread: int64(perDeviation * away), Next: last + gap}, true
	}
	for _, period := range []int64{7 * day, day} {
		if byClock, fits := clockHabit(times, gaps, gap, period); fits && (!ok || byClock.Spread < h.Spread) {
			h, ok = byClock, true
		}
	}
	h.Spread = max(h.Spread, leastSpread, gap/50) // at least 2 % of the gap
	return h, ok && float64(s.LastSuccess-last) < mostSilent*float64(gap)
}

// clockHabit returns the habit of changes that come at one time of a period, a day or a
// week; fits is false if they do not. Most gaps must be of the same number of periods.
// Weekdays on which no change came in more than a week are left out.
func clockHabit(times []uint32, gaps []int64, gap, period int64) (h Habit, fits bool) {
	whole := (gap + period/2) / period // the gap in periods, rounded
	same := 0                          // gaps of as many periods
	for _, g := range gaps {
		if (g+period/2)/period == whole {
			same++
		}
	}
	differs := max(gap-whole*period, whole*period-gap) // seconds from whole periods
	if whole < 1 || float64(differs) > roundGap*float64(period) || 2*same <= len(gaps) {
		return Habit{}, false
	}
	var buffer [recentChanges]int64
	off := buffer[:0] // seconds after the phase of the last change, at most half a period
	last := int64(times[len(times)-1])
	for _, at := range times {
		off = append(off, period/2-(last-int64(at)+period/2)%period)
	}
	phase := median(off)
	away := deviation(off, phase)
	if away > mostDeviation[len(gaps)]*float64(period)/4 { // random phases deviate by a quarter of the period
		return Habit{}, false
	}
	h = Habit{Gap: gap, Spread: int64(perDeviation * away), Next: last + phase + whole*period}
	if period == day && last-int64(times[0]) > 7*day {
		for i := 0; i < 6 && !onWeekday(times, h.Next); i++ {
			h.Next += day
		}
	}
	return h, true
}

// onWeekday reports whether one of the changes came on the weekday of a time.
func onWeekday(times []uint32, at int64) bool {
	return slices.ContainsFunc(times, func(t uint32) bool { return int64(t)/day%7 == at/day%7 })
}

// median returns the median of at least one number, and leaves them as they are.
func median(numbers []int64) int64 {
	var buffer [recentChanges]int64
	sorted := append(buffer[:0], numbers...)
	slices.Sort(sorted)
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// deviation returns the mean distance of numbers from a middle.
func deviation(numbers []int64, middle int64) float64 {
	sum := 0.0
	for _, x := range numbers {
		sum += math.Abs(float64(x - middle))
	}
	return sum / float64(len(numbers))
}

// The queues of PoolDue tell habits apart by their spread, as a part of the gap.
var spreads = []float64{0.03, 0.06, 0.12, 0.2, 0.3}

// placeDue returns the place of an origin with a habit: the queue of its gap (Class) and of its
// spread (Lister, an index of spreads). Its ref is the time at which the next change is expected;
// if that passed without one, the time is as much later as such a delay makes likely.
func placeDue(s State, h Habit) Place {
	p := Place{Pool: PoolDue, Class: ClassOf(day / float64(h.Gap)), Ref: h.Next}
	for p.Lister = 0; int(p.Lister) < len(spreads)-1 && float64(h.Spread) > spreads[p.Lister]*float64(h.Gap); p.Lister++ {
	}
	p.Ref = max(p.Ref, s.LastSuccess+h.Spread/2)
	return p
}

// dueChance returns the probability that the expected change has come by now, and the days
// between two changes, which the class of the place gives. The time of the change has a logistic
// distribution around the expected time, whose spread the queue (Lister) gives; see placeDue.
func dueChance(w Place, now int64) (chance, gap float64) {
	gap = 1 / ClassRate(w.Class)
	spread := spreads[min(max(int(w.Lister), 0), len(spreads)-1)] * gap
	late := float64(now-w.Ref) / day
	return 1 / (1 + math.Exp(-min(max(1.7*late/spread, -500), 500))), gap
}

// dueIndex is the value of a visit to an origin with a habit, in days: if the change has come, the visit gains
// the days until the next one; if not, it comes too early, at the price that signals.index has.
func dueIndex(w Place, now int64, forgotten float64) float64 {
	chance, gap := dueChance(w, now)
	gained := chance * upTo(gap, forgotten)
	since := max(gap+float64(now-w.Ref)/day, 0)
	return max(gained-(1-chance)*upTo(since, forgotten), gained*1e-3)
}
