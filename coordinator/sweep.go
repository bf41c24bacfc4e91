package coordinator

import (
	"context"
	"time"

	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// sweepInterval is the time between two parts of a sweep over the tasks. A part looks at a
// thousand of them.
const sweepInterval = 5 * time.Second

// sweepTasks retires the malformed and stuck tasks of all actions, finishes what clients left
// half-way, and removes the ends of tasks that are no longer kept, part by part until ctx ends.
// next is where the next part begins. After an error, which is logged, the sweep begins again.
func (c *Coordinator) sweepTasks(ctx context.Context, repo space.Repository) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	var next task.Cursor
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var err error
		if next, err = (task.Client{Repo: repo}).Sweep(ctx, next); err != nil && ctx.Err() == nil {
			c.Log.Error("coordinator: a sweep over the tasks failed", "error", err)
			next = nil
		}
		if err := c.engine.TrimHistory(ctx, c.Retain); err != nil && ctx.Err() == nil {
			c.Log.Error("coordinator: ended tasks that are no longer kept cannot be removed", "error", err)
		}
	}
}
