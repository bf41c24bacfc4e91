package clips

import (
	"context"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/clips/match"
	"leasehold/shared/process/platform"
)

// meter divides the processor time of the process and its children among tasks. A task
// gets the time since the previous task ended, or since it began if no other was running.
// So the shares add up to the total for any number of slots.
type meter struct {
	mu     sync.Mutex    // guards the fields below
	active int           // tasks that run
	last   time.Duration // processor time of the process at the last begin of a first task, or share
}

// begin notes that a task begins. If no other runs, the time since the last one was not
// spent on a task, so it is left out.
func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.active == 0 {
		m.last = platform.ProcessorTime()
	}
	m.active++
}

// end notes that a task has ended.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active--
}

// share returns the processor time since the last call, or since the first of the tasks that run
// began. It is never negative.
func (m *meter) share() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := platform.ProcessorTime()
	passed := now - m.last
	m.last = now
	return max(0, passed)
}

// reportCost adds the costs of the task so far to those of its action, and logs them. An error is
// logged only, because the costs are for people and the task itself succeeds.
func (a *attempt) reportCost(ctx context.Context, e *episode, opened, searched time.Duration) {
	c := models.Cost{
		How: models.ResearchDecoded, Tasks: 1, Wall: models.SecondsOf(opened + searched), CPU: models.SecondsOf(a.handler.meter.share()), Windows: int64(e.windows),
	}
	if e.known {
		c.How = models.ResearchKnown
	}
	log := a.handler.opt.Log.With("episode", a.task.Episode.ID)
	log.InfoContext(ctx, "research", "how", c.How, "minutes", e.Samples/match.RateHz/60, "clips", len(a.task.Clips),
		"opened", opened, "searched", searched, "cpu", c.CPU.Duration(), "windows", c.Windows)
	if err := a.job.Spend(ctx, c); err != nil {
		log.WarnContext(ctx, "research: its cost is not counted", "error", err)
	}
}
