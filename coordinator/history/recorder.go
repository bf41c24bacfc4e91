package history

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// flushTimeout bounds the last write, when the coordinator stops.
const flushTimeout = 2 * time.Second

// Config has what Run reads and writes.
type Config struct {
	Store   *Store
	Tracker *actions.Tracker
	// Waiting returns how many tasks of each action wait for a worker.
	Waiting func(context.Context) (map[string]int64, error)
	// Spaces returns how many tuples each space has.
	Spaces func(context.Context) (map[string]Tuples, error)
	Now    func() time.Time // the wall clock, which may jump
	Log    *slog.Logger
}

// WaitingOf returns the Waiting of a Config from the figures of a source: tasks that wait for a worker, or that wait because
// their action is paused.
func WaitingOf(s *actions.Source) func(context.Context) (map[string]int64, error) {
	return func(ctx context.Context) (map[string]int64, error) {
		snap, err := s.Read(ctx)
		if err != nil {
			return nil, err
		}
		waiting := map[string]int64{}
		for _, a := range snap.Actions {
			waiting[a.Action] = a.Counts[task.Waiting] + a.Counts[task.StatePaused]
		}
		return waiting, nil
	}
}

// SpacesOf returns the Spaces of a Config from a repository.
func SpacesOf(r space.Repository) func(context.Context) (map[string]Tuples, error) {
	return func(ctx context.Context) (map[string]Tuples, error) {
		all, err := r.List(ctx)
		if err != nil {
			return nil, err
		}
		spaces := map[string]Tuples{}
		for _, i := range all {
			spaces[i.Name] = Tuples{Visible: int64(i.Visible), Held: int64(i.Held)}
		}
		return spaces, nil
	}
}

// Run adds the counts of each minute to the store when the minute ends by the wall clock, and those of a part of a minute
// when ctx ends. Then it returns. Counts that cannot be written are added to the next minute; an error is logged once
// until a write succeeds.
func Run(ctx context.Context, c Config) {
	r := recorder{Config: c, latest: time.Now(), before: map[string]Counts{}}
	for {
		now := c.Now()
		timer := time.NewTimer(now.Truncate(Minute).Add(Minute).Sub(now))
		select {
		case <-ctx.Done():
			timer.Stop()
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			r.record(last)
			return
		case <-timer.C:
			r.record(ctx)
		}
	}
}

// recorder adds to a store what was counted since it did so last.
type recorder struct {
	Config
	latest  time.Time // when it wrote, by the monotonic clock
	before  map[string]Counts
	waiting map[string]int64  // as it was read last
	spaces  map[string]Tuples // as they were read last
	failing bool
}

// record writes what was counted since the latest write. It belongs to the minute in which half of that time lies, so that
// a timer that fires early or late changes nothing. After a pause of the process, it belongs to the last minute.
func (r *recorder) record(ctx context.Context) {
	now, moment := r.Now(), time.Now()
	at := now.Add(-min(moment.Sub(r.latest), Minute) / 2)
	waiting, waitingErr := r.Waiting(ctx)
	if waitingErr == nil {
		r.waiting = waiting
	}
	spaces, spacesErr := r.Spaces(ctx)
	if spacesErr == nil {
		r.spaces = spaces
	}
	counted := r.counted()
	err := r.Store.Add(ctx, at, now, Sample{r.since(counted), r.spaces})
	if err == nil {
		r.latest, r.before = moment, counted
		err = cmp.Or(waitingErr, spacesErr)
	}
	if err != nil && !r.failing && ctx.Err() == nil {
		r.Log.Warn("the history has a gap", "error", err)
	}
	r.failing = err != nil
}

// counted returns what the tracker has counted.
func (r *recorder) counted() map[string]Counts {
	counted := map[string]Counts{}
	for action, t := range r.Tracker.Totals() {
		n := Counts{Created: t.Created, Done: t.Ended[string(task.Resolved)], Dead: t.Ended[string(task.StateDead)]}
		for _, failed := range t.Failed {
			n.Failed += failed
		}
		counted[action] = n
	}
	return counted
}

// since returns what counted has more than the latest write, and the tasks that wait.
func (r *recorder) since(counted map[string]Counts) map[string]Counts {
	all := map[string]Counts{}
	for action, n := range counted {
		b := r.before[action]
		all[action] = Counts{Created: n.Created - b.Created, Done: n.Done - b.Done, Failed: n.Failed - b.Failed, Dead: n.Dead - b.Dead}
	}
	for action, waiting := range r.waiting {
		if waiting > 0 {
			label := r.Tracker.Label(action)
			all[label] = all[label].plus(Counts{Waiting: waiting})
		}
	}
	return all
}
