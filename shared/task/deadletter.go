package task

import (
	"encoding/json"
	"fmt"

	"leasehold/models"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
)

// deadLetter replaces a task by a dead letter, writes a line to the log, ends the
// task's lease, and puts a final result from which a manager makes a problem.
func deadLetter(tx space.Tx, e space.Entry, i Item, reason string) error {
	i.State = "dead: " + reason
	reason = fmt.Sprintf("given up after %d attempts, the last one: %s", i.Attempts, reason)
	body, err := json.Marshal(i.Task)
	if err != nil {
		return err
	}
	if err := putDeadLetter(tx, e, i.Attempts, reason, string(body)); err != nil {
		return err
	}
	if err := lease.End(tx, i.Lease, i.Token); err != nil {
		return err
	}
	if i.Lease == "" {
		return nil // no manager selected the work, so none waits for its result
	}
	// While this result waits, managers do not select the parts again.
	failure, err := json.Marshal(models.Failure{Problem: reason, Task: &i.Task})
	if err != nil {
		return err
	}
	return ResultTuple{
		Action: i.Action, Subject: i.Subject, Part: lease.JoinParts(i.Parts), Lease: i.Lease,
		Token: i.Token, Final: true, Body: string(failure),
	}.Put(tx)
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

// putDeadLetter takes a task and puts a dead letter.
func putDeadLetter(tx space.Tx, e space.Entry, attempts int64, reason, body string) error {
	h := decodeHeader(e.Tuple)
	l := DeadLetter{Reason: reason}
	l.Action, l.ID, l.Attempts = truncate(h.Action), truncate(h.ID), attempts
	if err := Remove(tx, e); err != nil {
		return err
	}
	if _, err := tx.Put(Dead, l.encode(body), space.PutOptions{}); err != nil {
		return err
	}
	return status.Record(tx, l.ID, "error", fmt.Sprintf("task %s (%s) is dead: %s", l.ID, l.Action, reason))
}
