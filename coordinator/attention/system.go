package attention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
)

// nearPercent is from how much of a bound on it is near.
const nearPercent = 80

// asleep is how much longer than an interval a pause of the process is, and sleptFor how long it is shown.
const (
	asleep   = 4 * time.Second
	sleptFor = 10 * time.Minute
)

// system finds what keeps the coordinator from its work.
func (w *Watcher) system(_ context.Context, now time.Time) (items []models.Attention, err error) {
	if w.Health != nil {
		if err := w.Health(); err != nil {
			items = append(items, notWritable("catalog", err))
		}
	}
	if err := w.state.Engine.Health(); err != nil {
		items = append(items, engineTrouble(err))
	}
	if failed := w.state.Engine.Stats().Failed; failed != w.failed {
		w.failed, w.failedAt = failed, now
	}
	if !w.failedAt.IsZero() && now.Sub(w.failedAt) < time.Minute {
		items = append(items, notWritable("journal", fmt.Errorf("%d commits failed", w.failed)))
	}
	for _, f := range w.state.Engine.Filled() {
		items = append(items, fullSpace(f.Name, f.Tuples, f.Capacity))
	}
	if w.slept > 0 && now.Sub(w.sleptAt) < sleptFor {
		items = append(items, models.Attention{
			Cause: models.CauseSuspended, Severity: models.ToKnow, About: "coordinator", Count: 1, Since: w.sleptAt,
			Text:    fmt.Sprintf("The coordinator did not run for %s", short(w.slept)),
			Detail:  "Its process was stopped, its machine was suspended, or its clock was set. Deadlines are later by that time.",
			Command: "leasehold log", Remedy: seen(),
		})
	}
	if w.Open != "" {
		items = append(items, models.Attention{
			Cause: models.CauseOpen, Severity: models.ToKnow, About: w.Open, Count: 1,
			Text:    "Everybody who reaches " + w.Open + " may do everything, because clients are not authenticated",
			Command: "leasehold coordinator --auth", Remedy: seen(),
		})
	}
	return items, nil
}

// noteSleep notes a pause of the process between two times that are at most expected apart otherwise.
func (w *Watcher) noteSleep(from, to time.Time, expected time.Duration) {
	monotonic, wall := to.Sub(from), to.Round(0).Sub(from.Round(0))
	if pause := max(monotonic, wall) - expected; pause > asleep {
		w.slept, w.sleptAt = pause, to
	}
}

func notWritable(what string, err error) models.Attention {
	return models.Attention{
		Cause: models.CauseNotWritable, Severity: models.StopsWork, About: what, Count: 1,
		Text: "The " + what + " cannot be written", Detail: err.Error(),
		Command: "df -h", Remedy: seen(),
	}
}

// engineTrouble is the item of an engine that cannot do all its work.
func engineTrouble(err error) models.Attention {
	if !errors.Is(err, fault.ErrOverloaded) {
		return notWritable("journal", err)
	}
	about, command := "space", "leasehold space list"
	switch {
	case errors.Is(err, journal.ErrFull):
		about, command = "disk", "df -h"
	case errors.Is(err, memory.ErrFull):
		about = "memory"
	}
	return models.Attention{
		Cause: models.CauseRefused, Severity: models.StopsWork, About: about, Count: 1,
		Text: "New tasks and tuples are refused: " + clean(err.Error(), maxName), Detail: "Workers go on, and their results free capacity.",
		Command: command, Remedy: seen(),
	}
}

func fullSpace(space string, tuples, capacity int) models.Attention {
	return models.Attention{
		Cause: models.CauseRefused, Severity: models.StopsWork, About: space, Count: int64(tuples),
		Text:    fmt.Sprintf("Space %s is full: it holds %d of %d tuples", name(space), tuples, capacity),
		Command: "leasehold space show " + word(space), Remedy: seen(),
	}
}

// spaces finds the spaces and the memory that are full or nearly so. A space that drops its oldest tuple is meant to be
// full.
func (w *Watcher) spaces(ctx context.Context, _ time.Time) (items []models.Attention, err error) {
	infos, err := w.state.Repo.List(ctx)
	if err != nil {
		return nil, err
	}
	filled := map[string]bool{}
	for _, f := range w.state.Engine.Filled() {
		filled[f.Name] = true
	}
	for _, i := range infos {
		size, capacity := i.Visible+i.Held, i.Options.Capacity
		switch {
		case capacity == 0 || i.Options.Overflow == space.DropOldest || filled[i.Name] || size*100 < capacity*nearPercent:
		case size >= capacity:
			items = append(items, fullSpace(i.Name, size, capacity))
		default:
			items = append(items, models.Attention{
				Cause: models.CauseNearBound, Severity: models.ToKnow, About: i.Name, Count: int64(size),
				Text:    fmt.Sprintf("Space %s is nearly full: it holds %d of %d tuples", name(i.Name), size, capacity),
				Command: "leasehold space show " + word(i.Name), Remedy: seen(),
			})
		}
	}
	near, err := w.nearMemory(ctx)
	return append(cut(items), near...), err
}

// nearMemory returns an item if most of the memory is used, with the action that has the most tasks.
func (w *Watcher) nearMemory(ctx context.Context) ([]models.Attention, error) {
	const refusedAt = 4 // puts are refused at three quarters of the budget
	stats := w.state.Engine.Stats()
	bound := stats.MemoryLimit / refusedAt * (refusedAt - 1)
	if bound == 0 || stats.Full || stats.Memory < bound/100*nearPercent {
		return nil, nil
	}
	all, err := w.state.Actions.Read(ctx)
	if err != nil {
		return nil, err
	}
	i := models.Attention{Cause: models.CauseNearBound, Severity: models.ToKnow, About: "memory", Command: "leasehold space list", Remedy: seen()}
	i.Count = stats.Memory * 100 / bound
	i.Text = fmt.Sprintf("%d %% of the memory for new tasks and tuples are used", i.Count)
	most := int64(0)
	for _, a := range all.Actions {
		if n := unstarted(a); n > most {
			most, i.Detail, i.Example = n, fmt.Sprintf("Action %s has the most tasks: %s wait%s.", name(a.Action), count(n, "task"), verb(n)), a.Action
		}
	}
	return []models.Attention{i}, nil
}
