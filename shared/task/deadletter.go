package task

import (
	"encoding/json"
	"errors"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
)

// die makes a task a dead letter. While the spaces take none, because one of them is full,
// the task is hidden for a back-off, and then die is called again: it stays out of the
// reach of workers, because its attempts exceed the maximum.
func (p Policy) die(tx space.Tx, e space.Entry, i Item, reason string) error {
	err := deadLetter(tx, e, i, reason)
	if !errors.Is(err, fault.ErrOverloaded) {
		return err
	}
	i.State = noSpaceForIt + reason
	return p.backOff(tx, e.Ref, i)
}

// noSpaceForIt begins the state of a task whose dead letter could not be put.
const noSpaceForIt = "dead, but no space takes its dead letter yet: "

// deadLetter replaces a task by a dead letter, writes a line to the log, ends the
// task's lease, and puts a final result from which a manager makes a problem. If a space
// refuses a tuple with fault.ErrOverloaded, it has changed nothing.
func deadLetter(tx space.Tx, e space.Entry, i Item, reason string) error {
	i.State = "dead: " + reason
	reason = fmt.Sprintf("given up after %d attempts, the last one: %s", i.Attempts, reason)
	body, err := json.Marshal(i.Task)
	if err != nil {
		return err
	}
	if i.Lease == "" { // no manager selected the work, so none waits for its result
		return putDeadLetter(tx, e, i.Attempts, reason, string(body))
	}
	// While this result waits, managers do not select the parts again.
	failure, err := json.Marshal(models.Failure{Problem: reason, Task: &i.Task})
	if err != nil {
		return err
	}
	result, err := ResultTuple{
		Action: i.Action, Subject: i.Subject, Part: lease.JoinParts(i.Parts), Lease: i.Lease,
		Token: i.Token, Final: true, Body: string(failure),
	}.put(tx)
	if err != nil {
		return err
	}
	if err := putDeadLetter(tx, e, i.Attempts, reason, string(body)); err != nil {
		return errors.Join(err, tx.Take(result))
	}
	return lease.End(tx, i.Lease, i.Token)
}

// deadLetterCorrupt replaces a malformed task by a dead letter with as much of its body
// as fits, and ends its lease if it has one.
func deadLetterCorrupt(tx space.Tx, e space.Entry, why error) error {
	h := decodeHeader(e.Tuple)
	if err := putDeadLetter(tx, e, 0, truncate(why.Error()), h.body[:min(len(h.body), maxGrown)]); err != nil {
		return err
	}
	return lease.End(tx, h.Lease, h.Token)
}

// putDeadLetter puts a dead letter, and then takes its task.
func putDeadLetter(tx space.Tx, e space.Entry, attempts int64, reason, body string) error {
	h := decodeHeader(e.Tuple)
	l := DeadLetter{Reason: reason}
	l.Action, l.ID, l.Attempts = truncate(h.Action), truncate(h.ID), attempts
	if _, err := tx.Put(Dead, l.encode(body), space.PutOptions{}); err != nil {
		return err
	}
	if err := Remove(tx, e); err != nil {
		return err
	}
	err := status.Record(tx, l.ID, "error", fmt.Sprintf("task %s (%s) is dead: %s", l.ID, l.Action, reason))
	if errors.Is(err, fault.ErrOverloaded) {
		return nil // the dead letter has the reason too
	}
	return err
}
