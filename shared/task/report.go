package task

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// report (id, result) puts a result of a task; a final one resolves the task,
// another lets its timeout begin anew. It answers whether the token is current:
// a late result is put all the same.
func report(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	o, err := resultOf(args)
	if err != nil {
		return nil, err
	}
	o.Worker = tx.Caller()
	e, i, err := heldBy(tx, args.Str(0), o.Token)
	switch {
	case errors.Is(err, fault.ErrStaleToken):
		return tuple.New(false), putLate(tx, o)
	case err != nil:
		return nil, err
	}
	o.Action, o.Subject, o.Lease = i.Action, i.Subject, i.Lease // of this task, and no other
	if err := o.Put(tx); err != nil {
		return nil, err
	}
	if o.Final {
		return tuple.New(true), resolve(tx, e, i)
	}
	return tuple.New(true), hold(tx, e.Ref, i)
}

// resolve ends a task that is done.
func resolve(tx space.Tx, e space.Entry, i Item) error {
	if err := hideClaim(tx, i.ID); err != nil {
		return err
	}
	return tx.Done(e.Ref)
}

// putLate puts the result of somebody who does not hold the task. It keeps the
// token of its attempt, but not one that would move the lease: such a token
// belongs to another, or to a result that is put already.
func putLate(tx space.Tx, o Outcome) error {
	if _, l, err := lease.Find(tx, o.Lease); err == nil && o.Token >= l.Token {
		o.Token = 0
	}
	return o.Put(tx)
}

// resultOf returns the result among the arguments of a report.
func resultOf(args tuple.Tuple) (Outcome, error) {
	if len(args) == 2 {
		if t, ok := args[1].(tuple.Tuple); ok && AnyResult(t.Str(1)).Matches(t) {
			return DecodeResult(t), nil
		}
	}
	return Outcome{}, fmt.Errorf("%s: %w: a task's id and a result are wanted", procReport, fault.ErrInvalid)
}
