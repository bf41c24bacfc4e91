package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	procCreate  = "task.create"
	procRequeue = "task.requeue"
)

// DeskProcedures returns what administrators do by hand: task.create (task) puts
// a task that has no lease, and returns it; task.requeue (dead letter's id, put)
// takes a dead letter, and if put says so puts its task again, as if it were new.
func DeskProcedures() space.Procedures {
	return space.Procedures{
		procCreate:  space.WithArgs(tuple.Match(tuple.Formal{Type: tuple.Nested}), create),
		procRequeue: space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyBool), requeue),
	}
}

func create(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	wanted, _ := args[0].(tuple.Tuple)
	if !Any().Matches(wanted) {
		return nil, fmt.Errorf("%w: a task is wanted", fault.ErrInvalid)
	}
	i, err := Decode(wanted)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return put(tx, i)
}

// put puts a task without a lease, and returns its tuple.
func put(tx space.Tx, i Item) (tuple.Tuple, error) {
	created, err := Create(tx, Spec{Task: i.Task, Priority: i.Priority})
	if err != nil {
		return nil, err
	}
	return Encode(created)
}

// requeue (id, put) answers the tuple of the task that was put, if one was. While
// the failure of the dead task waits to be ingested it is fault.ErrConflict: what
// is not in the catalog yet cannot be lifted there.
func requeue(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(Dead, deadWithID(args.Str(0)), nil)
	if !ok {
		return nil, fmt.Errorf("dead letter %q: %w", args.Str(0), fault.ErrNotFound)
	}
	l, err := DecodeLetter(e.Tuple)
	if err != nil {
		return nil, err
	}
	if failureWaits(tx, l.Task) {
		return nil, fmt.Errorf("dead letter %s: its failure is not in the catalog yet; try again: %w", l.ID, fault.ErrConflict)
	}
	if err := tx.Take(e.Ref); err != nil || !args.Bool(1) {
		return nil, err
	}
	return put(tx, Item{Task: l.Task})
}

// failureWaits reports whether the result that bury left is still there.
func failureWaits(tx space.Tx, t models.Task) bool {
	p := AnyResult(t.Action)
	p[2], p[3] = t.Subject, lease.JoinParts(t.Parts)
	for _, e := range slices.Concat(tx.Scan(Result, p), tx.Held(Result, p)) {
		var f models.Failure
		if err := json.Unmarshal([]byte(e.Tuple.Str(8)), &f); err == nil && f.Task != nil && f.Task.ID == t.ID {
			return true
		}
	}
	return false
}

// Letter is a dead letter.
type Letter struct {
	models.Task
	Reason string
}

func deadWithID(id string) tuple.Template {
	return tuple.Match("dead", tuple.AnyString, id, tuple.AnyInt64, tuple.AnyString, tuple.AnyString)
}

// DecodeLetter returns the dead letter of a tuple in the space "dead".
// fault.ErrCorrupt says that its task cannot be read; what can is returned.
func DecodeLetter(t tuple.Tuple) (Letter, error) {
	l := Letter{Reason: t.Str(4)}
	err := json.Unmarshal([]byte(t.Str(5)), &l.Task)
	if err != nil {
		l.Task = models.Task{}
		err = fmt.Errorf("dead letter %s: body: %w: %w", t.Str(2), fault.ErrCorrupt, err)
	}
	l.Action, l.ID, l.Attempts = t.Str(1), t.Str(2), t.Int64(3)
	return l, err
}

// Create puts a task that has no lease: whoever creates it by hand waits for its
// result in the space "result". Action, Subject, Data and Timeout count.
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

// Letter returns the dead letter of that id.
func (c Client) Letter(ctx context.Context, id string) (Letter, error) {
	t, ok, err := c.Repo.Space(Dead).QueryP(ctx, deadWithID(id))
	if err == nil && !ok {
		err = fmt.Errorf("dead letter %q: %w", id, fault.ErrNotFound)
	}
	if err != nil {
		return Letter{}, err
	}
	return DecodeLetter(t)
}

// Requeue takes a dead letter; if again says so, its task is put again, without a
// lease, its attempts and claimants forgotten. Whoever can have the work selected
// anew does that first (catalog.Lift), and leaves again false. fault.ErrConflict
// says that the task's failure is still on its way to the catalog.
func (c Client) Requeue(ctx context.Context, id string, again bool) (put *Item, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procRequeue, tuple.New(id, again))
	if err != nil || len(reply) == 0 {
		return nil, err
	}
	i, err := Decode(reply)
	return &i, err
}
