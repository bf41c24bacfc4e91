package coordinator

import (
	"time"

	"leasehold/shared/process/histogram"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space/engine"
)

// taskBounds are the bounds of the durations of tasks and leases.
var taskBounds = []time.Duration{
	10 * time.Millisecond, 100 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second,
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour,
}

// durations are those that the engine measures.
type durations struct{ tasks, leases *histogram.Histogram }

func newDurations() durations {
	return durations{tasks: histogram.New(taskBounds...), leases: histogram.New(taskBounds...)}
}

// measures returns what the engine has to measure: how long sessions hold tasks, and how long
// leases are in their space.
func (d durations) measures() []engine.Measure {
	return []engine.Measure{
		{Space: task.Space, Name: task.Space, Held: true, Durations: d.tasks},
		{Space: lease.Space, Name: lease.Space, Durations: d.leases},
	}
}

// Durations returns how long tasks took from their claims to their ends, and leases from
// their grants to theirs, since New.
func (c *Coordinator) Durations() (tasks, leases *histogram.Histogram) {
	return c.durations.tasks, c.durations.leases
}
