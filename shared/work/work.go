// Package work is the protocol of work-items: one lease and the one task under
// it, from the capacity check to the ingested result.
//
// A manager asks for its next step (Client.Next): a result to ingest, which it
// then holds, or room for more work. It issues a work-item (Issue), in which the
// capacity check, the grant and the put are one transaction, since two managers
// may look at once. Ingesting a result (Client.Ingested) ends its hold, and
// extends the lease or, if the result is final, revokes it; only the current
// token moves a lease.
//
// Capacity, with R the slots that serve the action and P the tasks of it that
// wait: R = 0 and P = 0 → add one; R = 0 and P > 0 → stop; R − P < 0 → stop; else
// add one and look again. So the queue is as short as the fleet is large, and
// priorities decide late.
//
// A lease does not expire while its task is in the hands of a live session. When
// it does, its waiting task goes in the same record. A task that is in the queue
// past its TTL goes with its lease in one record. The queue's TTL is shorter than
// the lease, so that nobody works without one.
package work

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// Policy is what the protocol leaves to configuration.
type Policy struct {
	Task     task.Policy
	LeaseTTL time.Duration
	QueueTTL time.Duration // less than LeaseTTL
	Ingest   time.Duration // how long a manager may hold a result
}

// Check refuses a policy under which a task could outlive its lease.
func (p Policy) Check() error {
	switch {
	case p.QueueTTL <= 0 || p.LeaseTTL <= p.QueueTTL:
		return fmt.Errorf("the queue TTL (%s) must be above 0 and shorter than the lease (%s): %w", p.QueueTTL, p.LeaseTTL, fault.ErrInvalid)
	case p.Task.MaxAttempts < 1 || p.Task.Backoff <= 0 || p.Ingest <= 0:
		return fmt.Errorf("work policy %+v: %w: attempts, back-off and ingest time must be above 0", p, fault.ErrInvalid)
	}
	return nil
}

// hasRoom is the capacity check.
func hasRoom(tx space.Tx, action string) bool {
	slots := int64(0)
	for _, s := range status.Serving(tx, action) {
		slots += s.Slots
	}
	waiting := int64(tx.Count(task.Space, task.AnyOf(action)))
	if slots == 0 {
		return waiting == 0
	}
	return slots >= waiting
}

// issue (task body, priority) adds a work-item if there is room; it returns the
// ids of the lease and the task, or nothing.
func (p Policy) issue(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	encoded, ok := tuple.Tuple(nil), false
	if len(args) == 1 {
		encoded, ok = args[0].(tuple.Tuple)
	}
	if !ok || !task.Any().Matches(encoded) {
		return nil, fmt.Errorf("%s: %w: a task is wanted", procIssue, fault.ErrInvalid)
	}
	wanted, err := task.Decode(encoded)
	if err != nil {
		return nil, err
	}
	if !hasRoom(tx, wanted.Action) {
		return nil, nil
	}
	l, err := lease.Grant(tx, lease.Terms{Subject: wanted.Subject, Parts: wanted.Parts, TTL: p.LeaseTTL, Expiry: procExpire})
	if err != nil {
		return nil, err
	}
	i, err := task.Create(tx, task.Spec{
		Task: wanted.Task, Lease: l.ID, Token: l.Token, Priority: wanted.Priority, TTL: p.QueueTTL, Expiry: procDrop,
	})
	return tuple.New(l.ID, i.ID), err
}

// expire decides when a lease's TTL ends: not while a live session holds its
// task; else the lease and its waiting task go together.
func expire(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	x, err := space.ParseExpired(args)
	if err != nil {
		return nil, err
	}
	e, ok := tx.Entry(x.Ref)
	if !ok {
		return nil, nil
	}
	under := task.AnyUnder(lease.Decode(e.Tuple).ID)
	for _, h := range tx.Held(task.Space, under) {
		if h.Holder == "" {
			continue
		}
		i, err := task.Decode(h.Tuple)
		if err != nil {
			return nil, err
		}
		return nil, lease.Prolong(tx, e, i.Timeout.Duration())
	}
	for _, waiting := range append(tx.Scan(task.Space, under), tx.Held(task.Space, under)...) {
		if err := tx.Take(waiting.Ref); err != nil {
			return nil, err
		}
	}
	return nil, lease.Expire(tx, e)
}

// drop ends a task whose time in the queue is over, and its lease with it.
func drop(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	x, err := space.ParseExpired(args)
	if err != nil {
		return nil, err
	}
	e, ok := tx.Entry(x.Ref)
	if !ok {
		return nil, nil
	}
	if err := tx.Take(e.Ref); err != nil {
		return nil, err
	}
	i, err := task.Decode(e.Tuple)
	if err != nil {
		return nil, err
	}
	if l, _, err := lease.Find(tx, i.Lease); err == nil {
		return nil, lease.Expire(tx, l)
	}
	return nil, nil
}
