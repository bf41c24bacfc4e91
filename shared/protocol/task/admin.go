package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// requeue (id, put) takes a dead letter. If put is true, it puts the task again, together with its children that died
// because of it (reviveChildren), and returns it. Otherwise the caller has the work selected again: the dead letter's
// end goes into the history, and the answer is empty. It returns fault.ErrConflict while the dead task's failure
// waits to be ingested, because the catalog can only lift a problem that it already has.
func (p Policy) requeue(tx space.Tx, id string, put bool) (tuple.Tuple, error) {
	e, l, err := findDead(tx, id)
	if err != nil {
		return nil, err
	}
	if failureWaits(tx, l.Task) {
		return nil, fmt.Errorf("dead letter %s: its failure is not in the catalog yet; try again: %w", l.ID, fault.ErrConflict)
	}
	if !put {
		if err := tx.Take(e.Ref); err != nil {
			return nil, err
		}
		return nil, recordEnd(tx, e, ending{state: StateDead, note: "requeued: its work is selected again; it was dead: " + l.Reason})
	}
	i, err := p.requeueOne(tx, e, l)
	if err != nil {
		return nil, err
	}
	if err := p.reviveChildren(tx, id); err != nil {
		return nil, err
	}
	return tuple.New(encodeItems([]Item{i})), nil
}

// requeueOne puts the task of a dead letter again (revivedItem). It may fail after it took the dead letter, if a
// limit drops the task or a space is full: task.requeue undoes that, but reviveChildren goes on without the dead
// letter.
func (p Policy) requeueOne(tx space.Tx, e space.Entry, l DeadLetter) (Item, error) {
	if l.UniqueKey != "" {
		if other, taken := first(tx, keyLabel(l.UniqueKey)); taken {
			return Item{}, fmt.Errorf("dead letter %s: task %s has its unique key %q: %w", l.ID, decodeHeader(other.Tuple).ID, l.UniqueKey, fault.ErrConflict)
		}
	}
	i := revivedItem(tx, l)
	pending, failed, err := pendingParents(tx, i)
	if err != nil {
		return Item{}, err
	}
	if failed != "" {
		return Item{}, fmt.Errorf("dead letter %s: %s; %s: %w", l.ID, failed, remedy(tx, i), fault.ErrConflict)
	}
	i.Pending, i.Token = pending, tx.NextToken()
	if err := tx.Take(e.Ref); err != nil {
		return Item{}, err
	}
	if _, err := p.put(tx, i, space.PutOptions{}); err != nil {
		return Item{}, err
	}
	if keptEnd, ok := tx.Find(Data, matchParent(l.ID), nil); ok { // how it ended, which no longer holds
		if err := tx.Take(keptEnd.Ref); err != nil {
			return Item{}, err
		}
	}
	_, i, err = find(tx, l.ID)
	if errors.Is(err, fault.ErrNotFound) {
		return Item{}, fmt.Errorf("dead letter %s: its limit is reached: %w", l.ID, fault.ErrConflict)
	}
	return i, err
}

// revivedItem returns the task of a dead letter as it was created, with its id, its history and its losses but without attempts.
// A past expiry is removed, because the task would die again at once.
func revivedItem(tx space.Tx, l DeadLetter) Item {
	i := Item{Priority: l.Priority, Task: models.Task{
		ID: l.ID, Action: l.Action, Subject: l.Subject, Data: l.Data, Timeout: l.Timeout, CreatedAt: l.CreatedAt,
		Lost: l.Lost, History: l.History, TaskOptions: l.TaskOptions,
	}}
	if !validTimeout(i.Timeout) {
		i.Timeout = DefaultTimeout
	}
	if i.expired(tx) {
		i.ExpiresAt = noTime
	}
	return i
}

// remedy returns what the operator can do about a dead letter whose parents failed: requeue a dead parent, else
// create the task again.
func remedy(tx space.Tx, i Item) string {
	if slices.ContainsFunc(i.After, func(parent string) bool { return isDead(tx, parent) }) {
		return "requeue that first"
	}
	return "that cannot come back, so create this task again without that parent, and discard this dead letter"
}

// reviveChildren requeues the dead letters that name a task as a parent and died because it was dead, then the dead
// letters that died because of these, and so on. A child with another parent that failed, or whose unique key is
// taken, stays. Any error of requeueOne but fault.ErrConflict ends it.
func (p Policy) reviveChildren(tx space.Tx, parent string) error {
	revived := []string{parent}
	for n := 0; n < len(revived); n++ { // no recursion, because a long chain would overflow the stack
		for _, e := range withLabel(tx, Dead, childLabel(revived[n]), maxChildren) {
			l, err := DecodeDeadLetter(e)
			if err != nil || !strings.HasPrefix(l.Reason, parentFailed(revived[n], StateDead)) {
				continue
			}
			switch _, err := p.requeueOne(tx, e, l); {
			case err == nil:
				revived = append(revived, l.ID)
			case !errors.Is(err, fault.ErrConflict):
				return err
			}
		}
	}
	return nil
}

// discard (id) takes a dead letter for good, which may be malformed, and records its end in the history.
func (p Policy) discard(tx space.Tx, id string) (tuple.Tuple, error) {
	e, l, err := findDead(tx, id)
	if err != nil && !errors.Is(err, fault.ErrCorrupt) {
		return nil, err
	}
	if err := tx.Take(e.Ref); err != nil {
		return nil, err
	}
	if err := recordEnd(tx, e, ending{state: StateDead, note: "discarded: " + l.Reason}); err != nil {
		return nil, err
	}
	return nil, forgetParents(tx, l.Item)
}

// findDead returns the dead letter of a task. If there is none, the Ref of the entry is 0. With fault.ErrCorrupt for
// a malformed one, it also returns the entry and the fields of its tuple.
func findDead(tx space.Tx, id string) (space.Entry, DeadLetter, error) {
	e, ok := tx.Find(Dead, MatchDead(tuple.AnyString, id), nil)
	if !ok {
		return space.Entry{}, DeadLetter{}, fmt.Errorf("dead letter %.200q: %w", id, fault.ErrNotFound)
	}
	l, err := DecodeDeadLetter(e)
	return e, l, err
}

// failureWaits reports whether the result that deadLetter put for a task is not
// ingested yet.
func failureWaits(tx space.Tx, t models.Task) bool {
	p := failureTemplate(t)
	for _, e := range slices.Concat(tx.Scan(Result, p), tx.Held(Result, p)) {
		var f models.Failure
		if err := json.Unmarshal([]byte(DecodeResult(e.Tuple).Body), &f); err == nil && f.Task != nil && f.Task.ID == t.ID {
			return true
		}
	}
	return false
}

// cancel (id, reason) ends a live task. A message stops the worker that has it. It refuses a task under a manager's
// lease, because the manager decides. A malformed task becomes a dead letter, because without its record nothing else
// can be done for it.
func (p Policy) cancel(tx space.Tx, id, reason string) (tuple.Tuple, error) {
	e, i, err := find(tx, id)
	if errors.Is(err, fault.ErrCorrupt) {
		return nil, p.deadLetterCorrupt(tx, e, err)
	}
	if err != nil {
		return nil, err
	}
	if i.Lease != "" {
		return nil, fmt.Errorf("task %s: %w: it is under the lease %s of a manager", id, fault.ErrConflict, i.Lease)
	}
	note := "cancelled"
	reason = truncate(reason)
	if reason != "" {
		note += ": " + reason
	}
	if e.Holder != "" {
		tx.Tell(e.Holder, stopMessage(id, note))
	}
	return nil, p.finish(tx, e, i, Cancelled, note, "")
}

// Cancel ends a live task, waiting or claimed. A malformed task becomes a dead letter instead. Errors:
// fault.ErrConflict if the task is under a manager's lease, fault.ErrNotFound if it has ended or never existed, and
// fault.ErrOverloaded if no space takes the dead letter.
func (c Client) Cancel(ctx context.Context, id, reason string) error {
	_, err := c.call(ctx, procCancel, tuple.New(id, reason))
	return err
}

// DeadLetter returns the dead letter of that id. It fails with fault.ErrNotFound if there is none. If it is
// malformed, the fields of its tuple are returned together with fault.ErrCorrupt.
func (c Client) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procShowDead, tuple.New(id))
	if err != nil {
		return DeadLetter{}, err
	}
	return DecodeDeadLetter(shownEntry(reply))
}

// showDead (id) returns the tuple and the record of a dead letter, which may be malformed; the client decodes them.
func showDead(tx space.Tx, id string) (tuple.Tuple, error) {
	e, _, err := findDead(tx, id)
	if err != nil && !errors.Is(err, fault.ErrCorrupt) {
		return nil, err
	}
	return tuple.New(e.Tuple, e.Fields), nil
}

// Requeue takes a dead letter. If putAgain is true, it puts the task again under its id, without a lease, attempts or
// claimants, and returns it; children that died because of it are requeued too. A caller that can have the work
// selected again does that first (catalog.Lift), and passes false: then the returned task is nil. Errors:
// fault.ErrConflict if the task's failure is not in the catalog yet, another task has its unique key, a parent
// failed, or a limit drops the task; fault.ErrNotFound if there is no dead letter; fault.ErrCorrupt if it is
// malformed.
func (c Client) Requeue(ctx context.Context, id string, putAgain bool) (*Item, error) {
	reply, err := c.call(ctx, procRequeue, tuple.New(id, putAgain))
	if err != nil || len(reply) == 0 {
		return nil, err
	}
	i, err := onlyItem(reply)
	return &i, err
}

// Discard takes a dead letter for good. It may be malformed. If there is none, it fails with fault.ErrNotFound.
func (c Client) Discard(ctx context.Context, id string) error {
	_, err := c.call(ctx, procDiscard, tuple.New(id))
	return err
}
