package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// missedAfter is how late a run may be before its due time counts as missed.
const missedAfter = time.Minute

// RunDue creates the tasks of all schedules that are due. It goes on after an error, and returns
// the errors joined; a schedule that was changed or removed meanwhile is not an error. The error of
// asking which are due is returned at once; the due time of a schedule that could not be run is
// served by the next call.
func (c Client) RunDue(ctx context.Context) error {
	now := c.now()
	reply, err := c.Repo.Call(ctx, space.OpID{}, procDue, tuple.New(now.UnixMilli()))
	if err != nil {
		return err
	}
	var failed []error
	for _, t := range decodeDue(reply) {
		err := c.runOne(ctx, t, now)
		if err != nil && !errors.Is(err, fault.ErrConflict) && !errors.Is(err, fault.ErrNotFound) { // changed or removed meanwhile
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// runOne creates the task of the last due time of a schedule, and computes the next. Due times before that one are
// skipped. It creates none if the run was missed and the schedule leaves missed runs out, or if the clock was set
// back; the Note has the reason.
func (c Client) runOne(ctx context.Context, old tuple.Tuple, now time.Time) error {
	s, err := decode(old)
	if err != nil {
		return err
	}
	when, err := newTiming(s.Schedule)
	if err != nil {
		return fmt.Errorf("schedule %s: %w: %v", s.Name, fault.ErrCorrupt, err)
	}
	if s.Last.Sub(now) > clockSetBack {
		s.Note = fmt.Sprintf("the clock was set back from %s to %s", stamp(s.Last), stamp(now))
		s.Next, s.Last = when.after(time.Time{}, now), time.Time{}
		return c.replace(ctx, procChange, old, s)
	}
	s.Last = when.last(s.Next, now)
	s.Next = when.after(s.Last, now)
	if s.Missed == models.MissedNone && now.Sub(s.Last) > missedAfter {
		s.Note = fmt.Sprintf("left out the run of %s, because it was missed", stamp(s.Last))
		return c.replace(ctx, procChange, old, s)
	}
	return c.replace(ctx, procRun, old, s)
}
