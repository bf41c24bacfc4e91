package actions

import (
	"math"
	"time"

	"leasehold/shared/protocol/task"
)

// Bounds of the wait that a caller of Wanted may aim at, and the one for callers that name none.
const (
	MinTargetWait     = time.Second
	MaxTargetWait     = 24 * time.Hour
	DefaultTargetWait = 30 * time.Second
)

// The parts of the target within which a queue is claimed. In the usual one no task has waited for long, and waits stay
// below the target if arrivals vary. The oldest task of a late one has waited for nearly the target, or longer.
const (
	usualShare = 2
	lateShare  = 4
)

// Wanted returns how many slots the action needs, so that a task waits for no longer than about target: at least those
// that are in use, and by Little's law (J. D. C. Little, Operations Research 9, 1961) tasks a second × the mean time of
// an attempt. The tasks are those that arrive, or those that wait, if that is more: they are to be claimed within half of
// target, or sooner if the oldest has waited, but not within less than a quarter. Before an attempt has ended, nothing
// is known of their time, and every task that waits gets a slot.
func (a Action) Wanted(now time.Time, target time.Duration) int64 {
	waiting, inWork := a.Counts[task.Waiting], a.Counts[task.Claimed]
	if a.Number == 0 {
		return waiting + inWork
	}
	target = min(max(target, MinTargetWait), MaxTargetWait)
	left := target / usualShare
	if !a.OldestSince.IsZero() {
		left = min(left, max(target-now.Sub(a.OldestSince), target/lateShare))
	}
	arrivals := float64(a.Created) / time.Minute.Seconds()
	queue := float64(waiting) / left.Seconds()
	return max(int64(math.Ceil(max(arrivals, queue)*a.Mean.Seconds())), inWork)
}
