package task

import (
	"encoding/json"
	"fmt"

	"leasehold/models"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// AnyDead matches the dead letters of one action.
func AnyDead(action string) tuple.Template {
	return tuple.Match("dead", action, tuple.AnyString, tuple.AnyInt64, tuple.AnyString, tuple.AnyString)
}

// bury makes a dead letter of a task, tells administrators, ends its lease, and
// leaves a final result from which a manager makes a problem.
func bury(tx space.Tx, e space.Entry, i Item, reason string) error {
	i.State = "dead: " + reason
	reason = fmt.Sprintf("given up after %d attempts, the last one: %s", i.Attempts, reason)
	body, err := json.Marshal(i.Task)
	if err != nil {
		return err
	}
	if err := putDead(tx, e, i.Attempts, reason, string(body)); err != nil {
		return err
	}
	if err := lease.End(tx, i.Lease, i.Token); err != nil {
		return err
	}
	return putFailure(tx, i, reason)
}

// buryCorrupt makes a dead letter of a task that cannot be understood, and ends
// its lease if it has one.
func buryCorrupt(tx space.Tx, e space.Entry, why error) error {
	body := e.Tuple.Str(6)
	if err := putDead(tx, e, 0, brief(why.Error()), body[:min(len(body), maxGrown)]); err != nil {
		return err
	}
	return lease.End(tx, e.Tuple.Str(3), e.Tuple.Int64(4))
}

// putDead puts a dead letter in a task's place.
func putDead(tx space.Tx, e space.Entry, attempts int64, reason, body string) error {
	action, id := brief(e.Tuple.Str(1)), brief(e.Tuple.Str(2))
	if err := Drop(tx, e); err != nil {
		return err
	}
	if _, err := tx.Put(Dead, tuple.New("dead", action, id, attempts, reason, body), space.PutOptions{}); err != nil {
		return err
	}
	return status.Record(tx, id, "error", fmt.Sprintf("task %s (%s) is dead: %s", id, action, reason))
}

// putFailure puts the result that stands for a dead task; while it waits, the
// task's parts are not selected again.
func putFailure(tx space.Tx, i Item, reason string) error {
	if i.Lease == "" {
		return nil // nobody selected it
	}
	body, err := json.Marshal(models.Failure{Problem: reason, Task: &i.Task})
	if err != nil {
		return err
	}
	o := Outcome{
		Action: i.Action, Subject: i.Subject, Part: lease.JoinParts(i.Parts), Lease: i.Lease,
		Token: i.Token, Final: true, Body: string(body),
	}
	return o.Put(tx)
}
