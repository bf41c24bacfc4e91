package task

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// report (id, result) puts a result of a task. A final result resolves the task; any
// other restarts its timeout. It returns whether the token is the current one. A
// result with a stale token is put too, because what was found is true.
func report(tx space.Tx, id string, result tuple.Tuple) (tuple.Tuple, error) {
	r, err := decodeReport(result)
	if err != nil {
		return nil, err
	}
	r.Worker = tx.Caller()
	e, i, err := findHeld(tx, id, r.Token)
	if errors.Is(err, fault.ErrStaleToken) {
		return tuple.New(false), putLate(tx, r)
	}
	if err != nil {
		return nil, err
	}
	// A worker reports on the task that it holds and on no other.
	r.Action, r.Subject, r.Lease = i.Action, i.Subject, i.Lease
	if err := r.Put(tx); err != nil {
		return nil, err
	}
	if !r.Final {
		return tuple.New(true), holdUntilTimeout(tx, e.Ref, i)
	}
	if err := removeClaim(tx, i.ID); err != nil {
		return nil, err
	}
	return tuple.New(true), tx.Done(e.Ref)
}

// putLate puts a result of a worker that does not hold the task. It keeps the token of
// its attempt, unless that token could change the lease: then the token belongs to
// another attempt, or to a result that was put before.
func putLate(tx space.Tx, r ResultTuple) error {
	if _, l, err := lease.Find(tx, r.Lease); err == nil && r.Token >= l.Token {
		r.Token = 0
	}
	return r.Put(tx)
}

// Put puts a result. A body over maxResult is fault.ErrTooLarge, because no answer
// could carry it.
func (r ResultTuple) Put(tx space.Tx) error {
	_, err := r.put(tx)
	return err
}

func (r ResultTuple) put(tx space.Tx) (ref int64, err error) {
	if len(r.Body) > maxResult {
		return 0, fmt.Errorf("result of %s %s: %w: a body of %d bytes, at most %d", r.Action, r.Subject, fault.ErrTooLarge, len(r.Body), maxResult)
	}
	return tx.Put(Result, EncodeResult(r), space.PutOptions{})
}
