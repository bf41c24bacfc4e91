package task

import (
	"slices"

	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// allGaveBack is the state of a task that no live worker may claim.
const allGaveBack = "every worker gave it back; they may try again after the back-off"

// willingWorkers returns the live workers that serve a task's action and have not given it back.
func willingWorkers(tx space.Tx, i Item) []status.Serving {
	return slices.DeleteFunc(status.Servers(tx, i.Action), func(s status.Serving) bool {
		return slices.Contains(i.Excluded(), nameOf(tx, s.ID))
	})
}

// unclaimable reports whether workers serve the action and all of them gave the task
// back.
func unclaimable(tx space.Tx, i Item) bool {
	return len(i.Excluded()) > 0 && len(willingWorkers(tx, i)) == 0 && len(status.Servers(tx, i.Action)) > 0
}

// reviveStuck (action) finds the waiting tasks of an action that no worker will ever claim. If all live workers gave
// a task back, because the worker that could have done it left, the task goes into a back-off, after which all may
// try again. If only machines from which it was given back are left, their other workers may claim it. A task
// malformed or past its attempts becomes a dead letter. The answer is empty.
func (p Policy) reviveStuck(tx space.Tx, action string) (tuple.Tuple, error) {
	for _, e := range tx.Scan(Space, AnyOf(action)) {
		if err := p.revive(tx, e); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// revive does for one waiting task what reviveStuck does for all of an action. Most tasks need nothing.
func (p Policy) revive(tx space.Tx, e space.Entry) error {
	i, err := p.decodeClaimable(e)
	switch {
	case err != nil:
		return p.retire(tx, e, i, err)
	case unclaimable(tx, i):
		i.State = allGaveBack
		if err := p.backOff(tx, e, i, p.Backoff); err != nil {
			return err
		}
		return p.freeSlots(tx, i.Limits)
	case len(i.Hosts) > 0 && !otherHostServes(tx, i):
		i.Hosts = nil
		return rewrite(tx, e, i, e.Turn) // wakes the workers that wait on these machines
	}
	return nil
}

// maxSwept bounds the tasks that one sweep looks at.
const maxSwept = 1000

// sweep (position…) does for a part of the tasks of all actions what reviveStuck does for one action, and finishes
// pauses, resumptions and changes of limits whose caller stopped half-way. It returns the position from which the
// next sweep goes on; nothing at the end.
func (p Policy) sweep(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	w := space.Walk{Space: Space, Template: Any(), After: decodePosition(args)}
	var all []space.Entry
	tx.Walk(w, func(e space.Entry) bool {
		all = append(all, e)
		return len(all) < maxSwept
	})
	for _, e := range all {
		if now, ok := tx.Entry(e.Ref); !ok || now.Held {
			continue // it was a child of a task that became a dead letter
		}
		if err := p.revive(tx, e); err != nil {
			return nil, err
		}
	}
	if len(args) == 0 { // at the beginning, so once for all tasks
		if err := p.finishChanges(tx); err != nil {
			return nil, err
		}
	}
	if len(all) < maxSwept {
		return nil, nil
	}
	return encodePosition(all[len(all)-1].Position), nil
}

// finishChanges goes on with what Client.Pause, Resume, SetLimit and RemoveLimit began.
func (p Policy) finishChanges(tx space.Tx) error {
	for _, e := range tx.Scan(Data, matchPaused(tuple.AnyString)) {
		if _, err := p.hidePaused(tx, subjectOf(e.Tuple)); err != nil {
			return err
		}
	}
	for _, e := range tx.Scan(Data, resuming(tuple.AnyString)) {
		if _, err := p.resume(tx, subjectOf(e.Tuple)); err != nil {
			return err
		}
	}
	limits := map[string]bool{}
	for _, e := range tx.Scan(Data, tuple.Match("limited", tuple.AnyString, tuple.AnyString)) {
		if limit := subjectOf(e.Tuple); !limits[limit] {
			limits[limit] = true
			if _, err := p.offerSlots(tx, limit); err != nil {
				return err
			}
		}
	}
	return nil
}

func encodePosition(p space.Position) tuple.Tuple { return tuple.New(p.Major, p.Turn, p.Minor) }
