package coordinator

import (
	"context"
	"time"

	"leasehold/shared/protocol/schedule"
	"leasehold/shared/space"
)

// scheduleInterval is the time between two checks for schedules that are due. Each check reads
// the wall clock, so that the next one notices a jump of the clock.
const scheduleInterval = time.Second

// runSchedules creates the tasks of schedules that are due until ctx ends. An error is logged
// once until it changes, and the next check tries again. When they run again, that is logged with the number of checks
// that failed.
func (c *Coordinator) runSchedules(ctx context.Context, repo space.Repository) {
	client := schedule.Client{Repo: repo}
	tick := time.NewTicker(scheduleInterval)
	defer tick.Stop()
	logged, failed := "", 0
	for {
		err := client.RunDue(ctx)
		if err != nil {
			failed++
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && failed > 0:
			c.Log.Info("coordinator: schedules run again", "failed checks", failed)
			logged, failed = "", 0
		case err != nil && err.Error() != logged:
			logged = err.Error()
			c.Log.Error("coordinator: schedules that are due could not be run; trying again each second", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
