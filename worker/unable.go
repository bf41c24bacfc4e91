package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/process/platform"
	"leasehold/shared/protocol/task"
)

// This file decides, for all handlers, what the cause of a failed attempt is:
//
//	the machine cannot do the action   it is handed back uncounted, and the worker claims none of the action for a while
//	it lacks something for the task    another worker gets it; if all lack it, the attempt counts
//	any other                          the attempt counts

// Unable returns an error of a handler whose machine cannot do any task of the action, for example because a program
// is missing. The attempt does not count, and the worker claims no task of the action for a while. An error that the
// system returns for a full disk, a disk that cannot be written, or a lack of memory, descriptors or processes needs
// no Unable.
func Unable(err error) error { return &Failure{Err: err, Unable: true} }

// isUnable reports whether this machine cannot do the action.
func isUnable(err error) bool {
	var f *Failure
	return platform.Exhausted(err) || errors.As(err, &f) && f.Unable
}

// lacksPath reports whether this machine lacks a file or a folder, or may not read it, that another one may have.
func lacksPath(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// The pauses in which a worker claims no tasks of an action that its machine cannot do. Each is twice the one before,
// until a task of the action is done.
const (
	minPause  = 2 * time.Second
	lackPause = 250 * time.Millisecond // of the first one, if only a task lacks something: it may be the task's fault
	maxPause  = 2 * time.Minute
)

// pause is for how long, and why, a worker claims no tasks of an action.
type pause struct {
	since, until time.Time
	reason       string
	over         bool // it has ended, and the slots are reported again
}

// suspend begins a pause of an action, because the machine cannot do it: for first, or twice as long as the one
// before. A failure of a task that was claimed before the last pause began does not count again.
func (s *shift) suspend(action string, claimedAt time.Time, first time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, now := s.pauses[action], time.Now()
	if !last.since.IsZero() && claimedAt.Before(last.since) {
		return
	}
	length := min(max(first, 2*last.until.Sub(last.since)), maxPause)
	p := pause{since: now, until: now.Add(length), reason: models.Redact(firstLine(err))}
	s.pauses[action] = p
	s.heartbeat.SetSlots(action, 0)
	s.showState()
	s.Log.Warn("worker: this machine cannot do the action; claiming none of its tasks for a while", "action", action, "machine", machine(), "pause", length, "reason", p.reason)
}

// resume ends the pauses of an action, because one of its tasks was done, or no worker can do it.
func (s *shift) resume(action string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, paused := s.pauses[action]; paused {
		delete(s.pauses, action)
		s.showSlots(action)
		s.showState()
		s.Log.Info("worker: this machine can do the action again", "action", action, "after", time.Since(p.since))
	}
}

// claimable returns those of actions that are not paused now, and when the next pause of one of the others ends; zero:
// none is paused.
func (s *shift) claimable(actions []string) (ready []string, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, action := range actions {
		p, paused := s.pauses[action]
		if now.Before(p.until) {
			if next.IsZero() || p.until.Before(next) {
				next = p.until
			}
			continue
		}
		if paused && !p.over {
			p.over = true
			s.pauses[action] = p
			s.showSlots(action)
			s.showState()
		}
		ready = append(ready, action)
	}
	return ready, next
}

// showSlots reports all slots of an action. The caller holds mu.
func (s *shift) showSlots(action string) {
	for _, p := range s.pools {
		if slices.Contains(p.actions, action) {
			s.heartbeat.SetSlots(action, p.slots)
		}
	}
}

// pausesText describes the actions that are paused, for the state of the worker; "" if there are none. The caller
// holds mu.
func (s *shift) pausesText() string {
	var text strings.Builder
	now := time.Now()
	for _, p := range s.pools {
		for _, action := range p.actions {
			if one := s.pauses[action]; now.Before(one.until) {
				fmt.Fprintf(&text, "cannot do %s on %s until %s: %s; ", action, machine(), one.until.UTC().Format("15:04:05Z"), one.reason)
			}
		}
	}
	return text.String()
}

// machine returns the name of this machine.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return "an unknown machine"
	}
	return name
}

// passOn gives a task to another worker, because this machine lacks something that it needs, and claims none of the
// action for a while. It returns nil if it did. Otherwise no other worker is left, so that the fault is not one of
// this machine: the error is err with the workers and machines that agree.
func (s *shift) passOn(ctx context.Context, j *job, err error) error {
	passed, failed := s.client.PassOn(ctx, j.item.Item, models.Redact(firstLine(err)))
	switch {
	case failed != nil:
		return failed
	case passed:
		j.resolved.Store(true)
		s.suspend(j.item.Action, j.began, lackPause, err)
		return nil
	}
	s.resume(j.item.Action)
	return &lacking{err, agreed(j.item.Item)}
}

// lacking is the error of a task for which all workers lack something.
type lacking struct {
	error
	where string
}

func (e *lacking) Error() string { return e.error.Error() + " (" + e.where + ")" }
func (e *lacking) Unwrap() error { return e.error }

// agreed names the worker that has a task and its machine, and those that passed it on before.
func agreed(i task.Item) string {
	text := fmt.Sprintf("worker %s on %s", i.CurrentClaimant, machine())
	if others := i.Excluded(); len(others) > 0 {
		text += "; before it " + strings.Join(others, ", ")
	}
	return text
}
