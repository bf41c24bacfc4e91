package work

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// ingested (ref) ends the hold of a result that the catalog has, and extends or
// revokes its lease if its token is the current one.
func (p Policy) ingested(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Entry(args.Int64(0))
	if !ok || !e.Held || e.Holder != tx.Caller() || e.Space != task.Result {
		return nil, fmt.Errorf("result %d is not held by %s: %w", args.Int64(0), tx.Caller(), fault.ErrStaleToken)
	}
	if err := tx.Done(e.Ref); err != nil {
		return nil, err
	}
	o := task.DecodeResult(e.Tuple)
	if o.Lease == "" {
		return nil, nil // nobody chose it
	}
	err := noteIngested(tx, o.Subject)
	switch {
	case err != nil:
	case o.Final:
		err = lease.Revoke(tx, o.Lease, o.Token)
	default:
		err = lease.Extend(tx, o.Lease, o.Token, p.LeaseTTL)
	}
	if errors.Is(err, fault.ErrStaleToken) || errors.Is(err, fault.ErrNotFound) {
		return nil, lease.CountLate(tx) // it is ingested, and moves nothing
	}
	return nil, err
}
