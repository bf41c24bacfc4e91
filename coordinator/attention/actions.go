package attention

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/protocol/task"
)

func (w *Watcher) tasks() task.Client { return task.Client{Repo: w.state.Repo} }

// actions finds the actions whose tasks wait for something that only a person can do: to start a worker, or to end a
// pause.
func (w *Watcher) actions(ctx context.Context, now time.Time) (items []models.Attention, err error) {
	all, err := w.state.Actions.Read(ctx)
	if err != nil {
		return nil, err
	}
	suspended, err := w.suspended(ctx, now)
	if err != nil {
		return nil, err
	}
	for _, a := range all.Actions {
		switch {
		case unstarted(a) == 0:
		case a.IsPaused():
			i := paused(a)
			first, _, err := w.tasks().List(ctx, task.Filter{State: task.StatePaused, Action: a.Action}, nil, 1)
			if err != nil {
				return nil, err
			}
			if len(first) > 0 {
				i.Example = first[0].ID
			}
			items = append(items, i)
		case a.Workers == 0 && suspended[a.Action] == 0:
			i := noWorker(a)
			i.Detail = strings.TrimSpace(i.Detail + " " + w.lastServed(a.Action))
			items = append(items, i)
		}
	}
	return cut(items), nil
}

// unstarted counts the tasks that a worker could claim now or after a pause, a limit or a back-off.
func unstarted(a actions.Action) int64 { return a.Counts[task.Waiting] + a.Counts[task.StatePaused] }

// paused is the item of an action that is paused while tasks wait.
func paused(a actions.Action) models.Attention {
	n := unstarted(a)
	i := models.Attention{
		Cause: models.CausePaused, Severity: models.StopsWork, About: a.Action, Count: n, Example: a.Oldest, Since: a.Pause.Since,
		Text:    fmt.Sprintf("%s is paused since %s, and %s wait%s", name(a.Action), clock(a.Pause.Since), count(n, "task"), verb(n)),
		Command: "leasehold task resume " + word(a.Action),
		Remedy:  remedy("Resume "+name(a.Action), "resumeAction", "action", a.Action),
	}
	if a.Pause.By != "" {
		i.Detail = "By " + name(a.Pause.By) + ". "
	}
	if a.Pause.Why != "" {
		i.Detail += "Reason: " + name(a.Pause.Why)
	}
	return i
}

// noWorker is the item of an action that no live worker serves. Nothing at the coordinator can start one, so the remedy
// cancels the tasks.
func noWorker(a actions.Action) models.Attention {
	n, state := unstarted(a), task.Waiting
	if a.Counts[state] == 0 {
		state = task.StatePaused
	}
	cancels := a.Counts[state]
	cancel := with(remedy("Cancel "+count(cancels, "task"), "cancelSelected"),
		types.BulkCancel{State: string(state), Bulk: types.Bulk{Action: a.Action, Count: cancels, Reason: "no worker serves " + name(a.Action)}})
	cancel.Count = cancels
	start := "leasehold worker --exec " + word(a.Action+"=PROGRAM")
	if _, ours := models.ActionNamed(a.Action); ours {
		start = "leasehold worker --actions " + word(a.Action)
	}
	i := models.Attention{
		Cause: models.CauseNoWorker, Severity: models.StopsWork, About: a.Action, Count: n, Example: a.Oldest,
		Text:    fmt.Sprintf("No worker serves %s, and %s wait%s", name(a.Action), count(n, "task"), verb(n)),
		Command: start,
		Remedy:  lasting(cancel),
	}
	if !a.OldestSince.IsZero() {
		i.Detail = "The oldest waits since " + clock(a.OldestSince) + "."
	}
	return i
}
