package task_test

import (
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// naive is the protocol of tasks without spaces, holds, labels and turns: each question is
// answered by looking at all tasks.
type naive struct {
	tasks  []*naiveTask // in the order of their creation
	paused map[string]bool
	limits map[string]*naiveLimit
}

type naiveTask struct {
	models.Task // its options do not change, but for the times
	priority    int64
	state       task.State // Waiting: alive and not claimed
	discarded   bool       // it is dead, and its dead letter is gone
	pending     []string
	behind      bool // its unique key is taken by a task that was claimed
	worker      string
	item        task.Item // of the last claim
	due         time.Time
	retryAt     time.Time
	result      string
	failedBy    string // the parent that made it dead
	untouched   bool   // nothing ever stood in the way of its claim
}

type naiveLimit struct {
	task.Limit
	next time.Time // no claim before, because of the rate
}

func (m *naive) find(id string) *naiveTask {
	for _, t := range m.tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

func (t *naiveTask) alive() bool { return t.state == task.Waiting || t.state == task.Claimed }

// withKey returns the live task that has a unique key, or waits for it.
func (m *naive) withKey(key string, behind bool) *naiveTask {
	for _, t := range m.tasks {
		if t.alive() && key != "" && t.UniqueKey == key && t.behind == behind {
			return t
		}
	}
	return nil
}

// parents returns the parents that have not ended, and one that failed; empty: none did.
func (m *naive) parents(t *naiveTask) (pending []string, failed string) {
	for _, id := range t.After {
		switch p := m.find(id); {
		case p.alive():
			pending = append(pending, id)
		case p.state != task.Resolved && t.OnFailure != models.RunAnyway:
			failed = id
		}
	}
	return pending, failed
}

// finish ends a task, and does what follows for its children and its unique key.
func (m *naive) finish(t *naiveTask, state task.State) {
	t.state, t.worker = state, ""
	for _, c := range m.tasks {
		if !c.alive() || !slices.Contains(c.pending, t.ID) {
			continue
		}
		c.pending = slices.DeleteFunc(slices.Clone(c.pending), func(id string) bool { return id == t.ID })
		if state != task.Resolved && c.OnFailure != models.RunAnyway {
			c.failedBy = t.ID
			m.finish(c, task.StateDead)
		}
	}
	if next := m.withKey(t.UniqueKey, true); next != nil && m.withKey(t.UniqueKey, false) == nil {
		next.behind = false
	}
	t.behind = false
}

// failAttempt is a failed attempt.
func (m *naive) failAttempt(t *naiveTask, now time.Time, delay time.Duration, giveUp bool) {
	if !slices.Contains(t.Claimants, t.worker) {
		t.Claimants = append(t.Claimants, t.worker)
	}
	t.state, t.worker, t.failedBy = task.Waiting, "", ""
	t.Attempts++
	maximum := naivePolicy.MaxAttempts
	if t.MaxAttempts > 0 {
		maximum = t.MaxAttempts - 1
	}
	if giveUp || t.Attempts > maximum {
		m.finish(t, task.StateDead)
		return
	}
	delay = max(delay, t.Backoff.Duration())
	if delay == 0 {
		delay = naivePolicy.Backoff
	}
	t.retryAt = now.Add(delay)
}

// requeue makes a dead task alive again, and its children that are dead because of it. It
// reports whether it could.
func (m *naive) requeue(t *naiveTask, now time.Time) bool {
	pending, failed := m.parents(t)
	if failed != "" || m.withKey(t.UniqueKey, false) != nil {
		return false
	}
	if t.OnLimit == models.Drop && !t.NotBefore.After(now) && !m.paused[t.Action] && m.fullLimit(t, now) != "" {
		return false
	}
	t.state, t.pending, t.Attempts, t.Claimants, t.retryAt = task.Waiting, pending, 0, nil, time.Time{}
	t.failedBy, t.untouched = "", false
	if !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) {
		t.ExpiresAt = time.Time{}
	}
	for _, c := range m.tasks {
		if c.state == task.StateDead && !c.discarded && c.failedBy == t.ID {
			m.requeue(c, now)
		}
	}
	return true
}

// event returns the time of the next change that time brings, after a moment.
func (m *naive) event(after time.Time) (next time.Time) {
	for _, t := range m.tasks {
		times := []time.Time{t.NotBefore, t.retryAt, t.ExpiresAt}
		if t.state == task.Claimed {
			times = []time.Time{t.due}
		} else if !t.alive() {
			continue
		}
		for _, at := range times {
			if at.After(after) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// pass does what time brings until a moment. At most one task is due since the last call.
func (m *naive) pass(now time.Time) {
	for _, t := range m.tasks {
		if t.state == task.Claimed && !now.Before(t.due) {
			m.failAttempt(t, t.due, 0, false)
		}
		if t.state == task.Waiting && !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) {
			t.failedBy = ""
			m.finish(t, task.StateDead)
		}
	}
}

// isDue reports whether a task could be claimed but for a pause and limits.
func (t *naiveTask) isDue(now time.Time) bool {
	return t.state == task.Waiting && len(t.pending) == 0 && !t.behind && !t.NotBefore.After(now) && !t.retryAt.After(now)
}

func (m *naive) running(limit string) (all []*naiveTask) {
	for _, t := range m.tasks {
		if t.state == task.Claimed && slices.Contains(t.Limits, limit) {
			all = append(all, t)
		}
	}
	return all
}

func (m *naive) isFull(limit string, now time.Time) bool {
	l := m.limits[limit]
	return l != nil && (l.next.After(now) || l.Max > 0 && len(m.running(limit)) >= int(l.Max))
}

func (m *naive) fullLimit(t *naiveTask, now time.Time) string {
	for _, limit := range t.Limits {
		if m.isFull(limit, now) {
			return limit
		}
	}
	return ""
}

// claimable returns the tasks of an action that a worker may claim.
func (m *naive) claimable(worker, action string, now time.Time) (all []*naiveTask) {
	for _, t := range m.tasks {
		if t.Action == action && !m.paused[action] && t.isDue(now) && m.fullLimit(t, now) == "" && !slices.Contains(t.Claimants, worker) {
			all = append(all, t)
		}
	}
	return all
}

// claim notes that a worker claimed a task.
func (m *naive) claim(t *naiveTask, i task.Item, worker string, now time.Time) {
	t.state, t.worker, t.item, t.due, t.untouched = task.Claimed, worker, i, now.Add(t.Timeout.Duration()), false
	t.retryAt = time.Time{}
	for _, name := range t.Limits {
		if l := m.limits[name]; l != nil && l.Rate > 0 {
			if l.next.Before(now) {
				l.next = now
			}
			l.next = l.next.Add(time.Duration(float64(time.Second) / l.Rate))
		}
	}
}

// explained returns the state of an unclaimed task and the code of the reason. It cannot tell whether a due task with
// limits is hidden because of one.
func (m *naive) explained(t *naiveTask, now time.Time) (task.State, string) {
	switch {
	case t.state != task.Waiting:
		return t.state, ""
	case len(t.pending) > 0:
		return task.StateBlocked, task.WhyParent
	case t.behind:
		return task.StateBlocked, task.WhyUniqueKey
	case t.NotBefore.After(now):
		return task.StateDelayed, task.WhyNotDue
	case t.retryAt.After(now):
		return task.Waiting, task.WhyBackOff
	case m.paused[t.Action]:
		return task.StatePaused, task.WhyPaused
	}
	return task.Waiting, task.WhyNoWorker
}
