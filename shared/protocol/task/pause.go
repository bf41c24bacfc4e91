package task

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// matchPaused matches the tuple of a paused action; both may be formals. resuming matches
// an action that was resumed and whose tasks are not all back.
func matchPaused(action any) tuple.Template { return tuple.Match("paused", action, tuple.AnyString) }

func resuming(action any) tuple.Template { return tuple.Match("resuming", action) }

// matchPauseNote matches the tuple that tells who paused an action, and why; the action may be a formal.
func matchPauseNote(action any) tuple.Template {
	return tuple.Match("pausenote", action, tuple.AnyString, tuple.AnyString)
}

// isPaused reports whether no task of an action may be claimed.
func isPaused(tx space.Tx, action string) bool {
	_, paused := tx.Find(Data, matchPaused(action), nil)
	return paused
}

// CountWaiting counts the tasks of an action that wait for a worker, or for the end of the
// action's pause.
func CountWaiting(tx space.Tx, action string) int {
	return tx.Count(Space, AnyOf(action)) + tx.CountLabelled(Space, stateLabel(StatePaused, action))
}

// pause (action[, by, why]) pauses an action: from now on none of its tasks is claimed. by and why are for people; those
// of the first call are kept. It hides up to maxOffered tasks and returns how many; the caller repeats it until it
// returns 0.
func (p Policy) pause(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	w, err := parsePause(args)
	if err != nil {
		return nil, err
	}
	action := w.action
	if !models.ValidID(action) {
		return nil, fmt.Errorf("action %.100q: %w: %s", action, fault.ErrInvalid, models.IDRule)
	}
	if !isPaused(tx, action) {
		if _, err := tx.Put(Data, tuple.New("paused", action, tx.Now().Format(time.RFC3339)), space.PutOptions{}); err != nil {
			return nil, err
		}
		if w.by+w.why != "" {
			if _, err := tx.Put(Data, tuple.New("pausenote", action, w.by, w.why), space.PutOptions{}); err != nil {
				return nil, err
			}
		}
		if e, ok := tx.Find(Data, resuming(action), nil); ok {
			if err := tx.Take(e.Ref); err != nil {
				return nil, err
			}
		}
	}
	n, err := p.hidePaused(tx, action)
	return tuple.New(int64(n)), err
}

// hidePaused hides visible tasks of a paused action, at most maxOffered, and returns how many it took from view,
// malformed ones included. It offers the slots that were meant for them to tasks of other actions.
func (p Policy) hidePaused(tx space.Tx, action string) (hidden int, err error) {
	var visible []space.Entry
	tx.Walk(space.Walk{Space: Space, Template: AnyOf(action)}, func(e space.Entry) bool {
		visible = append(visible, e)
		return len(visible) < maxOffered
	})
	var limits []string
	for _, e := range visible {
		i, err := p.decodeClaimable(e)
		if err != nil {
			err = p.retire(tx, e, i, err)
		} else {
			limits = append(limits, i.Limits...)
			err = hide(tx, e, i, Paused, "")
		}
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(limits)
	return len(visible), p.freeSlots(tx, slices.Compact(limits))
}

// resume (action) ends the pause of an action. It brings up to maxOffered tasks back, and returns how many; the
// caller repeats it until it returns 0.
func (p Policy) resume(tx space.Tx, action string) (tuple.Tuple, error) {
	if e, ok := tx.Find(Data, matchPauseNote(action), nil); ok {
		if err := tx.Take(e.Ref); err != nil {
			return nil, err
		}
	}
	if e, ok := tx.Find(Data, matchPaused(action), nil); ok {
		if err := tx.Take(e.Ref); err != nil {
			return nil, err
		}
		if _, err := tx.Put(Data, tuple.New("resuming", action), space.PutOptions{}); err != nil {
			return nil, err
		}
	}
	paused := withLabel(tx, Space, stateLabel(StatePaused, action), maxOffered)
	for _, e := range paused {
		i, err := DecodeEntry(e)
		if err == nil {
			err = p.place(tx, e, i, space.OldPlace)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(paused) < maxOffered {
		if e, ok := tx.Find(Data, resuming(action), nil); ok {
			if err := tx.Take(e.Ref); err != nil {
				return nil, err
			}
		}
	}
	return tuple.New(int64(len(paused))), nil
}

// Pause pauses an action: its tasks are kept, and none is claimed until Resume. Running tasks go on. It fails with
// fault.ErrInvalid for an invalid id.
func (c Client) Pause(ctx context.Context, action string) error {
	return c.untilDone(ctx, procPause, tuple.New(action))
}

// PauseFor is Pause and notes who paused the action, and why, unless it is paused already. Both may be empty; they are
// cut to a line of at most 256 bytes.
func (c Client) PauseFor(ctx context.Context, action, by, why string) error {
	return c.untilDone(ctx, procPause, tuple.New(action, by, why))
}

// Resume ends the pause of an action. Without a pause it does nothing.
func (c Client) Resume(ctx context.Context, action string) error {
	return c.untilDone(ctx, procResume, tuple.New(action))
}

// PausedAction is an action, and since when it has been paused. By and Why are empty if they are not known.
type PausedAction struct {
	Action string
	Since  time.Time
	By     string `json:",omitempty"` // name of the identity that paused it
	Why    string `json:",omitempty"` // as it said
}

// PausedActions returns the actions that are paused.
func (c Client) PausedActions(ctx context.Context) ([]PausedAction, error) {
	found, err := c.Repo.Space(Data).QueryAll(ctx, matchPaused(tuple.AnyString))
	if err != nil {
		return nil, err
	}
	all := make([]PausedAction, len(found))
	if len(found) == 0 {
		return all, nil
	}
	notes, err := c.Repo.Space(Data).QueryAll(ctx, matchPauseNote(tuple.AnyString))
	for n, t := range found {
		all[n] = decodePaused(t)
		for _, note := range notes {
			if subjectOf(note) == all[n].Action {
				all[n].By, all[n].Why = decodePauseNote(note)
			}
		}
	}
	return all, err
}
