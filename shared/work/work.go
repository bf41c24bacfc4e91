// Package work is the protocol of work-items: one lease and the one task under
// it, from the capacity check to the ingested result.
//
//	        issue               claim                final report
//	room ─────────▶ lease+task ─────────▶ task held ─────────────▶ results ─┐
//	                  ▲   │                 │      ▲ └ report ───▶          │ next
//	                  │   │ release, …      │      │                        ▼
//	                  └───┴─────────────────┘      └── extends ─────────  held by
//	                  │                                (not final)        a manager
//	                  ▼                                                     │ ingested
//	          queue TTL over: dropped,            lease revoked ◀───────────┘
//	          its lease expired                     (final)
//
// A manager asks for its next step (Client.Next): a result to ingest, which it
// then holds, or room for more work. It issues a work-item (Issue), in which the
// capacity check, the grant and the put are one transaction, since two managers
// may look at once. What it issues it chose before, outside of the spaces: so it says
// what it saw first (Busy), and is refused if its choice may have been overtaken.
// Ingesting a result (Client.Ingested) ends its hold, and
// extends the lease or, if the result is final, revokes it; only the current
// token moves a lease. Any manager may ingest, whoever issued.
//
// Capacity, with R the slots that serve the action and P the tasks of it that
// wait: R = 0 and P = 0 → add one; R = 0 and P > 0 → stop; R − P < 0 → stop; else
// add one and look again. So the queue is as short as the fleet is large, and
// priorities decide late.
//
// Invariants: a lease does not expire while a session holds its task. When it
// does, its waiting task goes in the same record. A task that is in the queue past
// its TTL, or comes back past it, goes with its lease in one record. The queue's
// TTL is shorter than the lease, so that nobody works without one. What Busy does
// not name is in nobody's hands: not leased, and in no result that waits or is
// held. No part is issued that was ingested, or came into anybody's hands, since the
// manager that chose it looked: so nothing is done to the end twice, however long a
// manager pauses between its choice and Issue. For that the space "lease" has one
// more tuple, ("ingested", (n…)).
//
// The package knows neither the catalog nor what is selectable: whoever ingests
// commits to the catalog first, and selecting what is in it is a manager's.
package work

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// Policy is what the protocol leaves to configuration.
type Policy struct {
	Task     task.Policy
	LeaseTTL time.Duration // at most lease.MaxTTL
	QueueTTL time.Duration // less than LeaseTTL
	Ingest   time.Duration // how long a manager may hold a result
}

// Check refuses a policy under which a task could outlive its lease.
func (p Policy) Check() error {
	switch {
	case p.QueueTTL <= 0 || p.LeaseTTL <= p.QueueTTL || p.LeaseTTL > lease.MaxTTL:
		return fmt.Errorf("%w: the queue TTL (%s) must be above 0 and shorter than the lease (%s), and that at most %s",
			fault.ErrInvalid, p.QueueTTL, p.LeaseTTL, lease.MaxTTL)
	case p.Task.MaxAttempts < 1 || p.Task.Backoff <= 0 || p.Ingest <= 0:
		return fmt.Errorf("%w: the attempts (%d), the back-off (%s) and the time to ingest (%s) must be above 0",
			fault.ErrInvalid, p.Task.MaxAttempts, p.Task.Backoff, p.Ingest)
	}
	return nil
}

const (
	procIssue    = "work.issue"
	procNext     = "work.next"
	procIngested = "work.ingested"
	procBusy     = "work.busy"
	procExpire   = "work.expire"
	procDrop     = "work.drop"
	procReturn   = "work.return"
)

// Procedures returns the verbs as procedures: work.issue (task,
// ingested), work.next
// (action, hungry), work.ingested (ref), work.busy (action, after); and the
// expiries work.expire (of a lease), work.drop (of a waiting task) and work.return
// (of a manager's hold).
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{
		procIssue:    space.WithArgs(tuple.Match(tuple.Formal{Type: tuple.Nested}, tuple.AnyInt64), p.issue),
		procNext:     space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyBool), p.next),
		procIngested: space.WithArgs(tuple.Match(tuple.AnyInt64), p.ingested),
		procBusy:     space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64), busy),
		procExpire:   p.expire,
		procDrop:     drop,
		procReturn:   putBack,
	}
}
