package work

import (
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
// result, and if hungry for what may make room.
func (p Policy) next(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	action, hungry := args.Str(0), args.Bool(1)
	if e, ok := tx.Find(task.Result, task.AnyResult(action), nil); ok {
		err := tx.Hold(e.Ref, space.HoldOptions{TTL: p.Ingest, Expiry: procReturn})
		return tuple.New(replyResult, e.Ref, e.Tuple), err
	}
	awaited := []space.Awaited{{Space: task.Result, Template: task.AnyResult(action)}}
	if hungry {
		if hasRoom(tx, action) {
			return tuple.New(replyRoom), nil
		}
		awaited = append(awaited, makesRoom(action)...)
	}
	return nil, tx.Wait(awaited...)
}

// makesRoom is what may make room for an action: a claim, a change of what serves
// it, and a lease that ended with its waiting task.
func makesRoom(action string) []space.Awaited {
	return []space.Awaited{
		{Space: lease.Space, Template: task.AnyClaim()},
		{Space: status.Space, Template: status.AnyServing(action)},
		{Space: lease.Space, Template: lease.AnyTotal(lease.Expired)},
	}
}

// putBack ends the hold of a manager that did not: if it stopped in order the
// result is back at its place, else behind its peers, so that a result on which
// managers fail does not keep them from the others.
func putBack(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, x, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	if x.Cause == space.Closed {
		return nil, tx.Back(e.Ref, space.OldPlace)
	}
	return nil, tx.Back(e.Ref, space.NewPlace)
}
