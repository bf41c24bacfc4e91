package work

import (
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// issue (task, its record, ingested) adds a work-item if there is capacity, for a task that was selected when this
// many results had been ingested. It returns the ids of the lease and the task, or nil without capacity.
func (p Policy) issue(tx space.Tx, wanted tuple.Tuple, record string, ingested int64) (tuple.Tuple, error) {
	selected, err := task.DecodeNew(wanted, record)
	if err != nil {
		return nil, err
	}
	if !hasCapacity(tx, selected.Action) {
		return nil, nil
	}
	if err := checkIssue(tx, selected, ingested); err != nil {
		return nil, err
	}
	l, err := lease.Grant(tx, lease.Terms{Subject: selected.Subject, Parts: selected.Parts, TTL: p.LeaseTTL, Expiry: procExpire})
	if err != nil {
		return nil, err
	}
	i, err := task.Create(tx, task.Spec{
		Task: selected.Task, Lease: l.ID, Token: l.Token, Priority: selected.Priority, TTL: p.QueueTTL, Expiry: procDrop,
	})
	if err != nil {
		return nil, err
	}
	return tuple.New(l.ID, i.ID), nil
}

// hasCapacity reports whether one more task of an action may wait.
func hasCapacity(tx space.Tx, action string) bool {
	return capacity(status.Slots(tx, action), int64(task.CountWaiting(tx, action)))
}

// capacity reports whether one more task may wait where this many slots serve the
// action and this many of its tasks wait already.
func capacity(slots, waiting int64) bool {
	if slots == 0 {
		return waiting == 0
	}
	return slots >= waiting
}

// expire is the procedure that runs when the TTL of a lease ends. While a session holds the lease's task, the lease
// goes on for another LeaseTTL; otherwise the lease and its waiting task end together. A hold without a session is a
// back-off, which does not count.
func (p Policy) expire(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	under := task.AnyUnder(lease.Decode(e.Tuple).ID)
	held := tx.Held(task.Space, under)
	for _, h := range held {
		if h.Holder != "" {
			return nil, lease.Prolong(tx, e, p.LeaseTTL)
		}
	}
	for _, waiting := range append(tx.Scan(task.Space, under), held...) {
		if err := p.Task.Withdraw(tx, waiting, "its lease expired before a worker claimed it; its work is selected again"); err != nil {
			return nil, err
		}
	}
	return nil, lease.Expire(tx, e)
}

// removeUnclaimed is the procedure that runs when the queue TTL of a task ends. It ends the task and its lease, if
// there still is one.
func (p Policy) removeUnclaimed(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	if err := p.Task.Withdraw(tx, e, "no worker claimed it in time; its work is selected again"); err != nil {
		return nil, err
	}
	if l, _, err := lease.Find(tx, task.LeaseOf(e.Tuple)); err == nil {
		return nil, lease.Expire(tx, l)
	}
	return nil, nil
}
