package coordinator

import (
	"time"

	"leasehold/shared/process/histogram"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space/engine"
)

// leaseBounds are the bounds of the durations of leases.
var leaseBounds = []time.Duration{
	10 * time.Millisecond, 100 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second,
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour,
}

// durations are those that the engine measures. How long tasks take is in the events of tasks (coordinator/actions).
type durations struct{ leases *histogram.Histogram }

func newDurations() durations { return durations{leases: histogram.New(leaseBounds...)} }

// measures returns what the engine has to measure: how long leases are in their space.
func (d durations) measures() []engine.Measure {
	return []engine.Measure{{Space: lease.Space, Name: lease.Space, Durations: d.leases}}
}

// Durations returns how long leases took from their grants to their ends, since New.
func (c *Coordinator) Durations() (leases *histogram.Histogram) { return c.durations.leases }
