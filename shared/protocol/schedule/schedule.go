// Package schedule is the protocol of tasks that are created periodically: at the times of a
// cron expression, or after each interval.
//
// A schedule is a tuple in the space "schedule":
//
//	("schedule", name, next, last int64, lastTask, note, body)
//
// next is when its next run is due and last when its last one was, in milliseconds since
// 1970; next is 0 while the schedule is paused. body is models.Schedule as JSON.
//
// The coordinator looks once a second (Client.RunDue) for schedules that are due. It computes the next due time, and
// calls a procedure that creates the task and replaces the tuple in one transaction, if the tuple is still the one
// that it read. So each due time has at most one task, even if the coordinator is killed or the clock jumps.
//
// Invariants: a due time is never served twice, and none is served before its time. Of the
// due times that pass at once (because no coordinator ran, or the clock was set forward) only
// the last may get a task. With models.OverlapSkip and models.OverlapWait at most one task of
// a schedule is claimed at a time, because its tasks have the unique key "schedule:" and name.
//
// Due times are of the wall clock. If it is set back, runs wait until it is past the last due
// time again; if it is set back by more than a day, the schedule goes on from the new time.
//
// The package does not run by itself (package coordinator calls RunDue).
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Space is where schedules are.
const Space = "schedule"

// Bounds.
const (
	MaxSchedules = 1000
	maxBody      = 64 << 10 // bytes of a schedule as JSON
	// clockSetBack is how far the last due time may be in the future, because the clock was
	// set back, before the schedule goes on from the new time.
	clockSetBack = 24 * time.Hour
)

// Spaces returns the space that the protocol needs, beside package task's.
func Spaces() []space.Definition {
	return []space.Definition{{Name: Space, QueryOnly: true, Options: space.Options{Capacity: MaxSchedules}}}
}

const (
	procSet    = "schedule.set"
	procChange = "schedule.change"
	procRun    = "schedule.run"
	procRemove = "schedule.remove"
	procDue    = "schedule.due"
)

// Procedures returns schedule.set (tuple), schedule.change (old tuple, new tuple),
// schedule.run (old tuple, tuple with the next due time), schedule.remove (name) and
// schedule.due (now).
func Procedures() space.Procedures {
	return space.Procedures{
		procSet:    space.WithArgs1(set),
		procChange: space.WithArgs2(change),
		procRun:    space.WithArgs2(run),
		procRemove: space.WithArgs1(remove),
		procDue:    space.WithArgs1(due),
	}
}

// set (tuple) puts a schedule, or replaces the one of that name and keeps its last run. It
// returns whether there was none. fault.ErrOverloaded: there are MaxSchedules; an error of
// decode: the tuple is malformed.
func set(tx space.Tx, t tuple.Tuple) (tuple.Tuple, error) {
	s, err := decode(t)
	if err != nil {
		return nil, err
	}
	e, exists := tx.Find(Space, matchName(s.Name), nil)
	if !exists {
		_, err := tx.Put(Space, t, space.PutOptions{})
		if errors.Is(err, fault.ErrOverloaded) {
			err = fmt.Errorf("schedule %s: there are %d already: %w", s.Name, MaxSchedules, err)
		}
		return encodeCreated(true), err
	}
	if old, err := decode(e.Tuple); err == nil { // a damaged one is replaced without its last run
		s.Last, s.LastTask = old.Last, old.LastTask
	}
	if t, err = s.encode(); err != nil {
		return nil, err
	}
	return encodeCreated(false), tx.Replace(e.Ref, t)
}

// change (old, new) replaces a schedule if it has not been changed meanwhile; otherwise it fails with
// fault.ErrConflict.
func change(tx space.Tx, old, replacement tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := unchanged(tx, old, replacement)
	if err != nil {
		return nil, err
	}
	return nil, tx.Replace(e.Ref, replacement)
}

// run (old, new) replaces a schedule as change does, and creates the task of new's last due time, or notes why there
// is none (createTask). After an error nothing is changed.
func run(tx space.Tx, old, replacement tuple.Tuple) (tuple.Tuple, error) {
	e, s, err := unchanged(tx, old, replacement)
	if err != nil {
		return nil, err
	}
	if err := createTask(tx, &s, decodeNote(old)); err != nil {
		return nil, err
	}
	t, err := s.encode()
	if err != nil {
		return nil, err
	}
	return nil, tx.Replace(e.Ref, t)
}

// createTask creates the task of the last due time of a schedule and sets LastTask. If an earlier run forbids it, or
// it fails, the reason becomes the Note and a line of the log, not an error; runs that an earlier task keeps out in a row
// have one line. noteBefore is the Note of the run before. Only fault.ErrOverloaded is returned, because the space may
// have capacity later: the due time is still to be served.
func createTask(tx space.Tx, s *State, noteBefore string) error {
	if id, alive := task.WithKey(tx, s.uniqueKey()); alive && s.overlap() == models.OverlapSkip {
		reason := fmt.Sprintf("because task %s of an earlier run is alive", id)
		s.Note = fmt.Sprintf("left out the run of %s, %s", stamp(s.Last), reason)
		if strings.HasSuffix(noteBefore, reason) {
			return nil
		}
		return record(tx, *s)
	}
	created, err := task.CreateIn(tx, s.newTask())
	switch {
	case errors.Is(err, fault.ErrOverloaded):
		return err
	case err != nil:
		s.Note = fmt.Sprintf("no task for %s: %s", stamp(s.Last), err)
		return record(tx, *s)
	}
	s.LastTask, s.Note = created[0].ID, ""
	if end := created[0].EndedAs; end != "" {
		s.Note = fmt.Sprintf("the task of %s is %s: %s", stamp(s.Last), end, created[0].State)
		return record(tx, *s)
	}
	return nil
}

// record writes the note of a schedule to the log. A full log is ignored, because the schedule must go on.
func record(tx space.Tx, s State) error {
	err := status.Record(tx, "schedule-"+s.Name, "warn", fmt.Sprintf("schedule %s: %s", s.Name, s.Note))
	if errors.Is(err, fault.ErrOverloaded) {
		return nil
	}
	return err
}

// unchanged returns the entry of old, and the decoded replacement. It fails with fault.ErrConflict if the schedule
// has been changed since old was read.
func unchanged(tx space.Tx, old, replacement tuple.Tuple) (space.Entry, State, error) {
	s, err := decode(replacement)
	if err != nil {
		return space.Entry{}, s, err
	}
	e, ok := tx.Find(Space, matchName(s.Name), nil)
	if !ok {
		return e, s, fmt.Errorf("schedule %.200q: %w", s.Name, fault.ErrNotFound)
	}
	if !e.Tuple.Equal(old) {
		return e, s, fmt.Errorf("schedule %s: %w: it was changed at the same time", s.Name, fault.ErrConflict)
	}
	return e, s, nil
}

// remove (name) takes a schedule. Its tasks stay.
func remove(tx space.Tx, name string) (tuple.Tuple, error) {
	e, ok := tx.Find(Space, matchName(name), nil)
	if !ok {
		return nil, fmt.Errorf("schedule %.200q: %w", name, fault.ErrNotFound)
	}
	return nil, tx.Take(e.Ref)
}

// due returns schedules whose next due time has come, or whose last one is so far in the future
// that the clock must have been set back: as many as one answer carries. A paused
// schedule has no next due time (0). The caller asks again after it has run these. It never fails.
func due(tx space.Tx, now int64) (tuple.Tuple, error) {
	var found tuple.Tuple
	size := 0
	for _, e := range tx.Scan(Space, anySchedule()) {
		h := decodeHeader(e.Tuple)
		isDue, clockMoved := h.next <= now, h.last > now+clockSetBack.Milliseconds()
		if h.next == 0 || !isDue && !clockMoved {
			continue
		}
		size += e.Tuple.Size()
		if size > maxAnswer || len(found) == tuple.MaxArity {
			break
		}
		found = append(found, e.Tuple)
	}
	return found, nil
}

const maxAnswer = tuple.MaxBytes - 64<<10
