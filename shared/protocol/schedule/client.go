package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/tuple"
)

// State is a schedule and what became of its runs.
type State struct {
	Name string
	models.Schedule
	Next     time.Time // zero: it is paused
	Last     time.Time // the last due time that passed; zero: none has
	LastTask string    // id of the last task that it created
	Note     string    // why the last run was left out; empty: it was not
}

// Paused reports whether it creates no tasks until it is resumed.
func (s State) Paused() bool { return s.Next.IsZero() }

func (s State) overlap() string { return cmp.Or(s.Overlap, models.OverlapSkip) }

// uniqueKey is the unique key of the schedule's tasks, unless they may overlap.
func (s State) uniqueKey() string { return "schedule:" + s.Name }

// stamp is a due time as a tag and a note have it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// newTask returns the task of the last due time. The unique key keeps tasks of earlier runs out,
// unless they may overlap; with OverlapWait the new task replaces one that still waits.
func (s State) newTask() task.New {
	w := s.Task
	n := task.New{Priority: w.Priority, Task: models.Task{
		Action: w.Action, Subject: w.Subject, Data: w.Data, Timeout: cmp.Or(w.Timeout, task.DefaultTimeout),
		TaskOptions: models.TaskOptions{
			MaxAttempts: w.MaxAttempts, Backoff: w.Backoff, Group: w.Group, Limits: w.Limits, OnLimit: w.OnLimit,
			Tags: append(slices.Clone(w.Tags), "schedule:"+s.Name, "due:"+stamp(s.Last)),
		},
	}}
	if s.overlap() != models.OverlapAllow {
		n.UniqueKey = s.uniqueKey()
	}
	if s.overlap() == models.OverlapWait {
		n.OnConflict = task.Replace
	}
	return n
}

// check validates the schedule and the task that it would create.
func (s State) check() (timing, error) {
	oneOf := func(what, value string, accepted ...string) error {
		if value == "" || slices.Contains(accepted, value) {
			return nil
		}
		return fmt.Errorf("%w: %s %.50q: want %s", fault.ErrInvalid, what, value, wording.Or(accepted...))
	}
	if !models.ValidID(s.Name) || len(s.Name) > 100 {
		return nil, fmt.Errorf("%w: name %.200q of a schedule: want 1 to 100 of A-Z a-z 0-9 . _ : -", fault.ErrInvalid, s.Name)
	}
	if err := oneOf("missed", s.Missed, models.MissedOne, models.MissedNone); err != nil {
		return nil, err
	}
	if err := oneOf("overlap", s.Overlap, models.OverlapSkip, models.OverlapWait, models.OverlapAllow); err != nil {
		return nil, err
	}
	when, err := newTiming(s.Schedule)
	if err != nil {
		return nil, err
	}
	if s.Cron != "" && !IsCron(s.Cron) { // only when it is set: newTiming reads older schedules, such as one with "1,,2"
		return nil, fmt.Errorf("%w: cron expression %q: a field has another form; %s", fault.ErrInvalid, s.Cron, wantCron)
	}
	return when, s.newTask().Check()
}

// Client reads and changes schedules over one session. It may be used concurrently.
type Client struct {
	Repo space.Repository
	Now  func() time.Time // nil: time.Now
}

// now returns the present time, by the clock of a test if there is one.
func (c Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// Set adds a schedule, or replaces the one of that name, whose next due time is kept if it is due at the same times
// as before and not paused. It reports whether it was added. Errors: fault.ErrOverloaded if there are MaxSchedules
// already; fault.ErrInvalid or fault.ErrTooLarge for a malformed schedule or task, fault.ErrNotFound for an unknown time
// zone, and fault.ErrConflict for a cron expression whose range begins after its end or that has no due time within
// five years. The schedule may have been set even if Set fails, because Set
// reads it again afterwards.
func (c Client) Set(ctx context.Context, name string, m models.Schedule) (s State, created bool, err error) {
	s = State{Name: name, Schedule: m}
	when, err := s.check()
	if err != nil {
		return s, false, err
	}
	old, err := c.Get(ctx, name)
	switch { // a missing or damaged schedule leaves no due time to keep
	case err == nil && !old.Paused() && old.Cron == m.Cron && old.Every == m.Every && old.Zone == m.Zone:
		s.Next = old.Next
	case err != nil && !errors.Is(err, fault.ErrNotFound) && !errors.Is(err, fault.ErrCorrupt):
		return s, false, err
	default:
		s.Next = when.after(time.Time{}, c.now())
		if s.Next.IsZero() {
			return s, false, fmt.Errorf("%w: cron expression %q: it has no due time within five years", fault.ErrConflict, s.Cron)
		}
	}
	t, err := s.encode()
	if err != nil {
		return s, false, err
	}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procSet, tuple.New(t))
	if err != nil {
		return s, false, err
	}
	s, err = c.Get(ctx, name)
	return s, decodeCreated(reply), err
}

// Get returns a schedule. It fails with fault.ErrNotFound for an unknown name. If its body is malformed, Get returns
// fault.ErrCorrupt, and a State with all but the body.
func (c Client) Get(ctx context.Context, name string) (State, error) {
	_, s, err := c.read(ctx, name)
	return s, err
}

// read is Get, and returns the tuple of the schedule too, by which replace notices a change.
// fault.ErrNotFound: there is no such schedule; an error of decode: its tuple is malformed.
func (c Client) read(ctx context.Context, name string) (tuple.Tuple, State, error) {
	t, ok, err := c.Repo.Space(Space).QueryP(ctx, matchName(name))
	if err != nil {
		return nil, State{}, err
	}
	if !ok {
		return nil, State{}, fmt.Errorf("schedule %.200q: %w", name, fault.ErrNotFound)
	}
	s, err := decode(t)
	return t, s, err
}

// List returns all schedules by name. One that cannot be decoded has the error as its Note.
func (c Client) List(ctx context.Context) ([]State, error) {
	page, err := browse.Client{Repo: c.Repo}.Page(ctx, browse.Query{Space: Space, Template: anySchedule(), Limit: MaxSchedules})
	if err != nil {
		return nil, err
	}
	var all []State
	for _, e := range page.Entries {
		s, err := decode(e.Tuple)
		if err != nil {
			s.Note = err.Error()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b State) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Remove removes a schedule. The tasks that it created stay. It fails with fault.ErrNotFound for an unknown name.
func (c Client) Remove(ctx context.Context, name string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procRemove, tuple.New(name))
	return err
}

// Pause has a schedule create no tasks until it is resumed. Due times that pass meanwhile are not missed ones. It
// returns the schedule as it is then. It fails with fault.ErrNotFound if there is no such schedule.
func (c Client) Pause(ctx context.Context, name string) (State, error) {
	return c.change(ctx, name, func(s State) (State, error) {
		s.Next = time.Time{}
		return s, nil
	})
}

// Resume ends the pause of a schedule: its next due time is the first one after now. For one that is not paused it
// does nothing. It fails with fault.ErrNotFound if there is no such schedule, and with the errors of Set if the stored
// one is not valid.
func (c Client) Resume(ctx context.Context, name string) (State, error) {
	return c.change(ctx, name, func(s State) (State, error) {
		if !s.Paused() {
			return s, nil
		}
		when, err := s.check()
		if err == nil {
			s.Next = when.after(time.Time{}, c.now())
		}
		return s, err
	})
}

// change replaces a schedule by the result of f, and calls f again if it was changed meanwhile. After an error
// nothing is changed.
func (c Client) change(ctx context.Context, name string, f func(State) (State, error)) (State, error) {
	for {
		old, s, err := c.read(ctx, name)
		if err != nil {
			return s, err
		}
		if s, err = f(s); err != nil {
			return s, err
		}
		if err := c.replace(ctx, procChange, old, s); !errors.Is(err, fault.ErrConflict) {
			return s, err
		}
	}
}

// replace calls schedule.change or schedule.run, which replace old by s and fail with fault.ErrConflict if old has
// been changed meanwhile.
func (c Client) replace(ctx context.Context, procedure string, old tuple.Tuple, s State) error {
	t, err := s.encode()
	if err != nil {
		return err
	}
	_, err = c.Repo.Call(ctx, space.OpID{}, procedure, tuple.New(old, t))
	return err
}
