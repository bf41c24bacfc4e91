package work

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// What next answers, beside a result.
const (
	replyResult = "result"
	replyRoom   = "room"
)

// next (action, hungry) takes hold of a result of the action, or says that there
// is room for more work if the caller is hungry for it. Else it waits: for a
// result, and if hungry for a claim or a change of what serves the action.
func (p Policy) next(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	action, hungry := args.Str(0), args.Bool(1)
	if e, ok := tx.Find(task.Result, task.AnyResult(action), nil); ok {
		err := tx.Hold(e.Ref, space.HoldOptions{TTL: p.Ingest})
		return tuple.New(replyResult, e.Ref, e.Tuple), err
	}
	awaited := []space.Awaited{{Space: task.Result, Template: task.AnyResult(action)}}
	if hungry {
		if hasRoom(tx, action) {
			return tuple.New(replyRoom), nil
		}
		awaited = append(awaited,
			space.Awaited{Space: lease.Space, Template: task.AnyClaim()},
			space.Awaited{Space: status.Space, Template: status.AnyServing(action)})
	}
	return nil, tx.Wait(awaited...)
}

// ingested (ref) ends the hold of a result that the catalog has, and extends or
// revokes its lease if its token is the current one.
func (p Policy) ingested(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Entry(args.Int64(0))
	if !ok || !e.Held || e.Holder != tx.Caller() || e.Space != task.Result {
		return nil, fmt.Errorf("%s: result %d is not held by %s: %w", procIngested, args.Int64(0), tx.Caller(), fault.ErrStaleToken)
	}
	if err := tx.Done(e.Ref); err != nil {
		return nil, err
	}
	o := task.DecodeResult(e.Tuple)
	if o.Lease == "" {
		return nil, nil
	}
	var err error
	if o.Final {
		err = lease.Revoke(tx, o.Lease, o.Token)
	} else {
		err = lease.Extend(tx, o.Lease, o.Token, p.LeaseTTL)
	}
	if errors.Is(err, fault.ErrStaleToken) || errors.Is(err, fault.ErrNotFound) {
		return nil, nil // a late result: it is ingested, and moves nothing
	}
	return nil, err
}
