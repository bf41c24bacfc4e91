package research

import (
	"context"
	"sync"
	"syscall"
	"time"

	"leasehold/models"
	"leasehold/shared/audio/match"
)

// meter shares out the processor time of the process, its children's included, among the
// tasks that end: each gets what has passed since the one before, or since it began if none
// was under way. So all shares make up the whole, whatever the number of slots.
type meter struct {
	mu     sync.Mutex // guards what follows
	active int
	last   time.Duration
}

func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.active == 0 {
		m.last = processorTime()
	}
	m.active++
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active--
}

// share returns what has passed since the last call.
func (m *meter) share() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := processorTime()
	passed := now - m.last
	m.last = now
	return max(0, passed)
}

// processorTime of this process and of its children that have ended.
func processorTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil { // it fails for no such who
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// tell tells what the task has cost so far, and logs it.
func (a *attempt) tell(ctx context.Context, e *episode, opened, searched time.Duration) {
	c := models.Cost{
		How: models.ResearchDecoded, Tasks: 1, Wall: models.SecondsOf(opened + searched), CPU: models.SecondsOf(a.h.meter.share()), Windows: int64(e.windows),
	}
	if e.known {
		c.How = models.ResearchKnown
	}
	log := a.h.opt.Log.With("episode", a.task.Episode.ID)
	log.InfoContext(ctx, "research", "how", c.How, "minutes", e.Samples/match.RateHz/60, "clips", len(a.task.Clips),
		"opened", opened, "searched", searched, "cpu", c.CPU.Duration(), "windows", c.Windows)
	if err := a.job.Spend(ctx, c); err != nil { // the work itself is done
		log.WarnContext(ctx, "research: its cost is not counted", "error", err)
	}
}
