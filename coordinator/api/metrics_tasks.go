package api

import (
	"context"

	"leasehold/coordinator/actions"
	"leasehold/shared/process/exposition"
	"leasehold/shared/protocol/task"
)

// collectActions collects the tasks of each action. At most actions.MaxLabels actions have series of their own; the
// others are summed up as actions.Other.
func (s *server) collectActions(ctx context.Context, to exposition.Sink) error {
	s.collectEvents(to)
	snap, err := s.Actions.Read(ctx)
	if err != nil {
		return err
	}
	type sum struct {
		actions.Action
		tasks  map[task.State]int64
		wanted int64
		oldest float64 // seconds; negative: no task is claimable
		paused float64
	}
	sums := map[string]*sum{}
	for _, a := range snap.Actions {
		label := s.Actions.Tracker().Label(a.Action)
		x := sums[label]
		if x == nil {
			x = &sum{tasks: map[task.State]int64{}, oldest: -1}
			sums[label] = x
		}
		for state, n := range a.Counts {
			x.tasks[state] += n
		}
		if !a.OldestSince.IsZero() {
			x.oldest = max(x.oldest, snap.At.Sub(a.OldestSince).Seconds(), 0)
		}
		x.Slots, x.InUse, x.wanted = x.Slots+a.Slots, x.InUse+a.InUse, x.wanted+a.Wanted(snap.At, actions.DefaultTargetWait)
		if a.IsPaused() {
			x.paused++
		}
	}
	for action, x := range sums {
		for state, n := range x.tasks {
			to.Gauge("leasehold_tasks", "This is the number of tasks that are alive, and of dead letters, by action and state.", float64(n), "action", action, "state", string(state))
		}
		if x.oldest >= 0 {
			to.Gauge("leasehold_task_oldest_claimable_seconds", "This is the time since the oldest task that a worker could claim joined the queue; it is absent if there is none.", x.oldest, "action", action)
		}
		to.Gauge("leasehold_worker_slots", "This is the number of slots of live workers that serve the action, by whether a task has them.", float64(x.InUse), "action", action, "state", "used")
		to.Gauge("leasehold_worker_slots", "This is the number of slots of live workers that serve the action, by whether a task has them.", float64(x.Slots-x.InUse), "action", action, "state", "free")
		to.Gauge("leasehold_worker_slots_wanted", "This is the number of slots with which a task of the action would wait for at most 30 seconds.", float64(x.wanted), "action", action)
		to.Gauge("leasehold_action_paused", "This is 1 while the action is paused; for other, it is the number of paused actions.", x.paused, "action", action)
	}
	return nil
}

// collectEvents collects what happened to tasks since the coordinator started.
func (s *server) collectEvents(to exposition.Sink) {
	tracker := s.Actions.Tracker()
	for action, t := range tracker.Totals() {
		to.Counter("leasehold_tasks_created_total", "This counts the tasks that were created since the coordinator started.", float64(t.Created), "action", action)
		for outcome, n := range t.Ended {
			to.Counter("leasehold_tasks_ended_total", "This counts the tasks that were resolved, cancelled, or became dead letters.", float64(n), "action", action, "outcome", outcome)
		}
		for reason, n := range t.Failed {
			to.Counter("leasehold_attempts_failed_total", "This counts the attempts that ended without a result: the worker gave the task back (failed), took too long (timeout) or was lost.", float64(n), "action", action, "reason", reason)
		}
		if t.Wait.Snapshot().Count > 0 {
			to.Histogram("leasehold_task_wait_seconds", "This is the time from when a worker could claim a task to its claim.", t.Wait, "action", action)
		}
		for outcome, h := range t.Run {
			to.Histogram("leasehold_task_seconds", "This is the time from the claim of a task to the end of the attempt, by how that ended.", h, "action", action, "outcome", outcome)
		}
	}
	to.Counter("leasehold_sessions_lost_total", "This counts the sessions that were lost because no heartbeat came in time.", float64(tracker.SessionsLost()))
	to.BuildInfo()
}
