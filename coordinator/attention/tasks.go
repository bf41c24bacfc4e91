package attention

import (
	"context"
	"fmt"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// suspects finds the tasks whose workers were lost twice.
func (w *Watcher) suspects(ctx context.Context, _ time.Time) (items []models.Attention, err error) {
	all, err := w.tasks().Suspects(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		where := l.Why.Text
		if l.CurrentClaimant != "" {
			where = "worker " + name(l.CurrentClaimant) + " has it alone"
		}
		items = append(items, models.Attention{
			Cause: models.CauseSuspect, Severity: models.Degrades, About: l.ID, Count: l.Lost, Example: l.ID,
			Text:    fmt.Sprintf("Task %s of %s was held at %d losses of its worker, and may be the reason", l.ID, name(l.Action), l.Lost),
			Detail:  where,
			Command: "leasehold task cancel " + word(l.ID),
			Remedy:  lasting(remedy("Cancel "+l.ID, "cancelTask", "task", l.ID)),
		})
	}
	return cut(items), nil
}

// Of slow attempts: how many times the 95th percentile of an action's attempts is slow, for at least how long an attempt
// must run, from how many attempts on the percentile counts, and how many running tasks of an action are read.
const (
	slowTimes   = 5
	slowAtLeast = time.Minute
	slowFrom    = 20
	maxRunning  = 10_000
)

// slowAttempts finds the actions with attempts that run far longer than their others.
func (w *Watcher) slowAttempts(ctx context.Context, now time.Time) (items []models.Attention, err error) {
	all, err := w.state.Actions.Read(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all.Actions {
		if a.Number < slowFrom || a.Counts[task.Claimed] == 0 {
			continue
		}
		i, err := w.slowOf(ctx, now, a)
		if err != nil {
			return nil, err
		}
		if i.Count > 0 {
			items = append(items, i)
		}
	}
	return cut(items), nil
}

// slowOf returns the item of an action; its count is 0 if none of its attempts is slow.
func (w *Watcher) slowOf(ctx context.Context, now time.Time, a actions.Action) (i models.Attention, err error) {
	limit := max(slowTimes*a.P95, slowAtLeast)
	var oldest task.Listed
	for from, read := task.Cursor(nil), 0; read < maxRunning; {
		page, next, err := w.tasks().List(ctx, task.Filter{State: task.Claimed, Action: a.Action}, from, task.MaxListed)
		if err != nil {
			return i, err
		}
		for _, l := range page {
			if l.Err != nil || now.Sub(l.ClaimedAt) < limit {
				continue
			}
			i.Count++
			if oldest.ID == "" || l.ClaimedAt.Before(oldest.ClaimedAt) {
				oldest = l
			}
		}
		read += len(page)
		if len(next) == 0 {
			break
		}
		from = next
	}
	if i.Count == 0 {
		return i, nil
	}
	i.Cause, i.Severity, i.About, i.Example, i.Since = models.CauseSlow, models.Degrades, a.Action, oldest.ID, oldest.ClaimedAt.Add(limit)
	i.Text = fmt.Sprintf("%s of %s run%s for over %s, while 95 of 100 take at most %s", count(i.Count, "attempt"), name(a.Action), verb(i.Count), short(limit), short(a.P95))
	i.Detail = fmt.Sprintf("Longest: task %s on %s since %s.", oldest.ID, name(oldest.CurrentClaimant), clock(oldest.ClaimedAt))
	i.Command = "leasehold task show " + word(oldest.ID)
	i.Remedy = lasting(remedy("Cancel "+oldest.ID, "cancelTask", "task", oldest.ID))
	return i, nil
}
