package work

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// next (action, wantsCapacity) holds a result of the action, or reports capacity for more work if the caller wants
// it. Otherwise it waits for a result and, if wantsCapacity, for a change that may add capacity: a claim, a worker
// that serves the action, and a lease that expires together with its waiting task. The engine runs it again when one
// of these is put. If the holder does not finish within Policy.Ingest, the result returns.
func (p Policy) next(tx space.Tx, action string, wantsCapacity bool) (tuple.Tuple, error) {
	if e, ok := tx.Find(task.Result, task.AnyResult(action), nil); ok {
		return encodeHeld(e), tx.Hold(e.Ref, space.HoldOptions{TTL: p.Ingest, Expiry: procReturn})
	}
	awaited := []space.Awaited{{Space: task.Result, Template: task.AnyResult(action)}}
	if wantsCapacity {
		if hasCapacity(tx, action) {
			return tuple.New(replyCapacity), nil
		}
		awaited = append(awaited,
			space.Awaited{Space: lease.Space, Template: task.AnyClaim()},
			space.Awaited{Space: status.Space, Template: status.AnyServing(action)},
			space.Awaited{Space: lease.Space, Template: lease.AnyTotal(lease.Expired)})
	}
	return nil, tx.Wait(awaited...)
}

// ingested (ref) ends the hold of a result stored in the catalog. If the result's token is the current one, it
// revokes the lease (final result) or extends it; with an old token, or if the lease has ended, it is only counted as
// late, because the result is in the catalog all the same. For a result without a lease, which no manager selected,
// only the hold ends. It fails with fault.ErrStaleToken if the caller does not hold the result.
func (p Policy) ingested(tx space.Tx, ref int64) (tuple.Tuple, error) {
	e, ok := tx.Entry(ref)
	if !ok || !e.Held || e.Holder != tx.Caller() || e.Space != task.Result {
		return nil, fmt.Errorf("result %d is not held by %s: %w", ref, tx.Caller(), fault.ErrStaleToken)
	}
	if err := tx.Done(e.Ref); err != nil {
		return nil, err
	}
	r := task.DecodeResult(e.Tuple)
	if r.Lease == "" {
		return nil, nil
	}
	if err := countIngested(tx, r.Subject, lease.SplitParts(r.Part)); err != nil {
		return nil, err
	}
	var err error
	if r.Final {
		err = lease.Revoke(tx, r.Lease, r.Token)
	} else {
		err = lease.Extend(tx, r.Lease, r.Token, p.LeaseTTL)
	}
	if errors.Is(err, fault.ErrStaleToken) || errors.Is(err, fault.ErrNotFound) {
		return nil, lease.CountLate(tx)
	}
	return nil, err
}

// returnResult is the expiry of a manager's hold of a result. If the manager closed its session, the result returns
// to its old place; else it goes behind the others, so that a result on which managers fail does not block them.
func returnResult(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, x, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	if x.Cause == space.Closed {
		return nil, tx.Back(e.Ref, space.OldPlace)
	}
	return nil, tx.Back(e.Ref, space.NewPlace)
}
