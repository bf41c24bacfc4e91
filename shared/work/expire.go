package work

import (
	"slices"

	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// expire decides when a lease's TTL ends: not while a session holds its task; else
// the lease and its waiting task go together.
func (p Policy) expire(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	under := task.AnyUnder(lease.Decode(e.Tuple).ID)
	held := tx.Held(task.Space, under)
	if slices.ContainsFunc(held, func(h space.Entry) bool { return h.Holder != "" }) {
		return nil, lease.Prolong(tx, e, p.LeaseTTL)
	}
	for _, waiting := range append(tx.Scan(task.Space, under), held...) {
		if err := task.Drop(tx, waiting); err != nil {
			return nil, err
		}
	}
	return nil, lease.Expire(tx, e)
}

// drop ends a task whose time in the queue is over, and its lease with it.
func drop(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	if err := task.Drop(tx, e); err != nil {
		return nil, err
	}
	if l, _, err := lease.Find(tx, e.Tuple.Str(3)); err == nil {
		return nil, lease.Expire(tx, l)
	}
	return nil, nil
}
