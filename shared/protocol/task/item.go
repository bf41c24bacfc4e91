package task

import (
	"time"

	"leasehold/models"
)

// DefaultTimeout is the timeout of an attempt of a task that names none, in seconds.
const DefaultTimeout models.Seconds = 600

// Item is a task with what the protocol adds to it.
type Item struct {
	models.Task
	Lease    string // empty: none
	Token    int64  // of the attempt
	Priority int64  // higher is sooner

	Hidden   Hidden    // why no worker may claim it now; empty: it waits in the space, or is claimed
	HiddenBy string    // the parent, the task with the same unique key, or the limit, that it waits for
	Pending  []string  // parents that have not ended
	Behind   bool      // it waits until the claimed task with its unique key has ended
	RetryAt  time.Time // when its back-off ends
	DiedAt   time.Time // of a dead letter; zero: it is none
	Existing bool      // in the answer to its creation: it is an older task, which has the unique key
	EndedAs  State     // in the answer to its creation: it was dropped or died at once, and its State is the reason; empty: it is alive

	queued    bool          // it has a turn among the tasks of its priority
	onlyFor   string        // of a suspect: the session that has it alone, or that is reserved for it
	queuedAt  time.Time     // when it joined the queue; zero: when it was created
	backAt    time.Time     // when the last attempt ended, if it kept its place in the queue; zero: it did not
	offeredAt time.Duration // of a suspect: since when workers may claim it, by the clock of deadlines

	forgiven int // so many of Claimants, the first ones, may claim it again, because no other worker served the action
}

// Hidden is why an unclaimed task cannot be claimed.
type Hidden string

// The reasons.
const (
	Blocked Hidden = "blocked" // a parent, or the running task with its unique key, has not ended
	Delayed Hidden = "delayed" // its time has not come
	BackOff Hidden = "back-off"
	Paused  Hidden = "paused" // its action is paused
	Limited Hidden = "limit"  // one of its limits has no free slot
)
