package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	procCreate  = "task.create"
	procRequeue = "task.requeue"
)

// AdminProcedures returns the procedures for administrators: task.create (task) puts
// a task that has no lease, and returns it; task.requeue (dead letter's id, put)
// takes a dead letter and, if put is true, puts its task again as a new one.
func AdminProcedures() space.Procedures {
	return space.Procedures{procCreate: space.WithArgs1(create), procRequeue: space.WithArgs2(requeue)}
}

func create(tx space.Tx, wanted tuple.Tuple) (tuple.Tuple, error) {
	i, err := DecodeNew(wanted)
	if err != nil {
		return nil, err
	}
	return putNew(tx, i)
}

// putNew puts a task without a lease, and returns its tuple.
func putNew(tx space.Tx, i Item) (tuple.Tuple, error) {
	created, err := Create(tx, Spec{Task: i.Task, Priority: i.Priority})
	if err != nil {
		return nil, err
	}
	return Encode(created)
}

// requeue (id, put) takes a dead letter, and returns the tuple of the task that it put
// or nothing. It returns fault.ErrConflict while the dead task's failure waits to be
// ingested, because the catalog can only lift a problem that it already has.
func requeue(tx space.Tx, id string, put bool) (tuple.Tuple, error) {
	e, ok := tx.Find(Dead, MatchDead(tuple.AnyString, id), nil)
	if !ok {
		return nil, fmt.Errorf("dead letter %q: %w", id, fault.ErrNotFound)
	}
	l, err := DecodeDeadLetter(e.Tuple)
	if err != nil {
		return nil, err
	}
	if failureWaits(tx, l.Task) {
		return nil, fmt.Errorf("dead letter %s: its failure is not in the catalog yet; try again: %w", l.ID, fault.ErrConflict)
	}
	if err := tx.Take(e.Ref); err != nil || !put {
		return nil, err
	}
	return putNew(tx, Item{Task: l.Task})
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

// Create puts a task that has no lease; its result stays in the space "result" for the
// caller. Only Action, Subject, Data and Timeout of t are used.
func (c Client) Create(ctx context.Context, t models.Task, priority int64) (Item, error) {
	t.ID, t.CreatedAt = "", time.Time{}
	wanted, err := Encode(Item{Task: t, Priority: priority})
	if err != nil {
		return Item{}, err
	}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procCreate, tuple.New(wanted))
	if err != nil {
		return Item{}, err
	}
	return Decode(reply)
}

// DeadLetter returns the dead letter of that id.
func (c Client) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	t, ok, err := c.Repo.Space(Dead).QueryP(ctx, MatchDead(tuple.AnyString, id))
	if err == nil && !ok {
		err = fmt.Errorf("dead letter %q: %w", id, fault.ErrNotFound)
	}
	if err != nil {
		return DeadLetter{}, err
	}
	return DecodeDeadLetter(t)
}

// Requeue takes a dead letter. If putAgain is true, it puts the task again without a
// lease, attempts or claimants, and returns it. A caller that can have the work
// selected again does that first (catalog.Lift), and passes false.
// fault.ErrConflict means that the task's failure is not in the catalog yet.
func (c Client) Requeue(ctx context.Context, id string, putAgain bool) (*Item, error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procRequeue, tuple.New(id, putAgain))
	if err != nil || len(reply) == 0 {
		return nil, err
	}
	i, err := Decode(reply)
	return &i, err
}
