package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
)

// die makes a task a dead letter because an attempt failed. While the spaces take none, because one of them is full,
// the task is hidden for a back-off, and then die is called again: it stays out of the reach of workers, because its
// attempts exceed the maximum.
func (p Policy) die(tx space.Tx, e space.Entry, i Item, reason string) error {
	letter := fmt.Sprintf("given up after attempt %d", i.Attempts)
	if reason != "" { // a worker may give up without one
		letter += ": " + reason
	}
	return p.dieOf(tx, e, i, reason, letter)
}

// dieOf is die with letter as the reason in the dead letter. reason is why the last attempt failed, which the state
// of the task tells.
func (p Policy) dieOf(tx space.Tx, e space.Entry, i Item, reason, letter string) error {
	err := p.deadLetter(tx, e, i, reason, letter)
	if !errors.Is(err, fault.ErrOverloaded) {
		return err
	}
	i.State = noSpaceForIt + reason
	i.Attempts = max(i.Attempts, p.attempts(i)+1)
	return p.backOff(tx, e, i, p.Backoff)
}

// noSpaceForIt begins the state of a task whose dead letter could not be put.
const noSpaceForIt = "dead, but no space takes its dead letter yet: "

// deadLetter replaces a task by a dead letter, and writes a line to the log. If the task has a lease, it also ends
// that, and puts a final result from which a manager makes a problem. It has changed nothing if it fails with
// fault.ErrOverloaded, because a space refuses the dead letter or the result.
func (p Policy) deadLetter(tx space.Tx, e space.Entry, i Item, reason, letter string) error {
	i.State = "dead: " + reason
	if i.Lease == "" { // no manager selected the work, so none waits for its result
		return p.putDeadLetter(tx, e, i, letter)
	}
	// While this result waits, managers do not select the parts again.
	var failure bytes.Buffer
	encoder := json.NewEncoder(&failure)
	encoder.SetEscapeHTML(false) // it would make data six times as long
	if err := encoder.Encode(models.Failure{Problem: letter, Task: &i.Task}); err != nil {
		return err
	}
	result, err := ResultTuple{
		Action: i.Action, Subject: i.Subject, Part: lease.JoinParts(i.Parts), Lease: i.Lease,
		Token: i.Token, Final: true, Body: strings.TrimSpace(failure.String()),
	}.put(tx, space.PutOptions{Reserve: true})
	if err != nil {
		return err
	}
	if err := p.putDeadLetter(tx, e, i, letter); err != nil {
		if undo := tx.Take(result); undo != nil {
			return undo // not err, after which the caller goes on if a space was full
		}
		return err
	}
	return lease.End(tx, i.Lease, i.Token)
}

// deadLetterCorrupt replaces a malformed task by a dead letter with as much of its data as fits, and ends its lease
// if it has one. why is the reason of the dead letter.
func (p Policy) deadLetterCorrupt(tx space.Tx, e space.Entry, why error) error {
	h := decodeHeader(e.Tuple)
	i := Item{Task: models.Task{Action: truncate(h.Action), ID: truncate(h.ID), CreatedAt: tx.Now()}, Priority: h.Priority}
	i.Data = json.RawMessage(h.body)
	if !json.Valid(i.Data) {
		i.Data, _ = json.Marshal(beginning(h.body, maxData/6)) // JSON has up to 6 bytes for one
	} else if len(i.Data) > maxData {
		i.Data = nil
	}
	if err := p.putDeadLetter(tx, e, i, truncate(why.Error())); err != nil {
		return err
	}
	return lease.End(tx, h.Lease, h.Token)
}

// putDeadLetter puts a dead letter, takes its task, alerts the administrators, and calls afterEnd. With
// fault.ErrOverloaded no space took the dead letter, and nothing was changed. After an error of afterEnd the rest has
// been changed.
func (p Policy) putDeadLetter(tx space.Tx, e space.Entry, i Item, reason string) error {
	i.CurrentClaimant, i.Hidden, i.HiddenBy, i.onlyFor, i.Behind, i.RetryAt, i.queued = "", "", "", "", false, noTime, false
	if i.DiedAt.IsZero() { // it did not die with an attempt
		i.DiedAt = tx.Now()
	}
	t, a := DeadLetter{Item: i, Reason: reason}.tupleOf()
	if _, err := tx.Put(Dead, t, space.PutOptions{Attributes: a, Reserve: i.Lease != ""}); err != nil {
		return err
	}
	if err := Remove(tx, e); err != nil {
		return err
	}
	if err := p.alert(tx, i.ID); err != nil {
		return err
	}
	err := status.Record(tx, i.ID, "error", fmt.Sprintf("task %s (%s) is dead: %s", i.ID, i.Action, reason))
	if err != nil && !errors.Is(err, fault.ErrOverloaded) { // the dead letter has the reason too
		return err
	}
	return p.afterEnd(tx, e, i, ending{state: StateDead, note: reason})
}
