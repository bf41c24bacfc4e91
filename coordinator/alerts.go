package coordinator

import (
	"context"

	"leasehold/coordinator/alert"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// runAlerts tells administrators of dead letters until ctx ends. An error that cannot pass is
// logged and ends it, because tasks must go on.
func (c *Coordinator) runAlerts(ctx context.Context, repo space.Repository) {
	if err := alert.Run(ctx, task.Client{Repo: repo}, c.Alerts, c.Log); err != nil && ctx.Err() == nil {
		c.Log.Error("coordinator: dead letters are not reported to administrators any more", "error", err)
	}
}
