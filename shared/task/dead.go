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

// bury makes a dead letter of a task, tells administrators, ends its lease, and
// leaves a final result from which a manager makes a problem.
func bury(tx space.Tx, e space.Entry, i Item, reason string) error {
	i.State = "dead: " + reason
	body, err := json.Marshal(i.Task)
	if err != nil {
		return err
	}
	reason = fmt.Sprintf("given up after %d attempts, the last one: %s", i.Attempts, reason)
	if err := tx.Take(e.Ref); err != nil {
		return err
	}
	if _, err := tx.Put(Dead, tuple.New("dead", i.Action, i.ID, i.Attempts, reason, string(body)), space.PutOptions{}); err != nil {
		return err
	}
	if err := putFailure(tx, i, reason); err != nil {
		return err
	}
	return status.Record(tx, i.ID, "error", fmt.Sprintf("task %s (%s %s) is dead: %s", i.ID, i.Action, i.Subject, reason))
}

// putFailure ends the lease of a dead task and puts the result that stands for
// it; while that waits, its parts are not selected again.
func putFailure(tx space.Tx, i Item, reason string) error {
	body, err := json.Marshal(models.Failure{Problem: reason, Task: &i.Task})
	if err != nil {
		return err
	}
	o := Outcome{
		Action: i.Action, Subject: i.Subject, Part: lease.JoinParts(i.Parts), Lease: i.Lease,
		Token: i.Token, Final: true, Body: string(body),
	}
	if i.Lease == "" {
		return nil
	}
	if err := lease.End(tx, i.Lease); err != nil {
		return err
	}
	return o.Put(tx)
}
