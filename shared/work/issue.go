package work

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// issue (task, ingested) adds a work-item if there is room, for a task that was
// chosen when so many results had been ingested; it returns the ids of the lease and
// the task, or nothing.
func (p Policy) issue(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	wanted, err := wantedTask(args)
	if err != nil {
		return nil, err
	}
	if !hasRoom(tx, wanted.Action) {
		return nil, nil
	}
	if err := checkChoice(tx, wanted, args.Int64(1)); err != nil {
		return nil, err
	}
	l, err := lease.Grant(tx, lease.Terms{Subject: wanted.Subject, Parts: wanted.Parts, TTL: p.LeaseTTL, Expiry: procExpire})
	if err != nil {
		return nil, err
	}
	i, err := task.Create(tx, task.Spec{
		Task: wanted.Task, Lease: l.ID, Token: l.Token, Priority: wanted.Priority, TTL: p.QueueTTL, Expiry: procDrop,
	})
	if err != nil {
		return nil, err
	}
	return tuple.New(l.ID, i.ID), nil
}

func wantedTask(args tuple.Tuple) (task.Item, error) {
	t, _ := args[0].(tuple.Tuple)
	if !task.Any().Matches(t) {
		return task.Item{}, fmt.Errorf("%w: a task is wanted", fault.ErrInvalid)
	}
	i, err := task.Decode(t)
	if err != nil {
		return task.Item{}, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return i, nil
}
