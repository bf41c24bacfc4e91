// Package work is the protocol of work-items: one lease and the one task under
// it, from the capacity check to the ingested result.
//
//	            issue               claim                final report
//	capacity ─────────▶ lease+task ─────────▶ task held ─────────────▶ results ─┐
//	                      ▲   │                 │      ▲ └ report ───▶          │ next
//	                      │   │ release, …      │      │                        ▼
//	                      └───┴─────────────────┘      └── extends ─────────  held by
//	                      │                                (not final)        a manager
//	                      ▼                                                     │ ingested
//	              queue TTL over: removed,            lease revoked ◀───────────┘
//	              its lease expired                     (final)
//
// A manager asks for its next step (Client.Next), which is a result to ingest, held
// for it, or capacity for more work. Issue adds a work-item: capacity check, grant and
// put are one transaction, because two managers may issue at once. The manager selected
// the work before, outside of the spaces. Therefore it passes what it saw then
// (InProgress), and is refused if the selection may be outdated. Ingesting a result
// (Client.Ingested) ends its hold, and extends the lease or, if the result is final,
// revokes it; only the current token changes a lease. Any manager may ingest, not only
// the one that issued.
//
// Capacity, with R the slots that serve the action and P the tasks of it that wait:
// R = 0 and P = 0 → add one; R = 0 and P > 0 → stop; R < P → stop; else add one and
// check again. So the queue is about as short as the number of slots, and a new task of
// high priority is claimed soon.
//
// Invariants: a lease does not expire while a session holds its task. When it expires,
// its waiting task ends in the same record. A task whose queue TTL is over ends with
// its lease in one record; a failed attempt restarts it. The queue TTL is shorter than the
// lease, so that no worker works without a lease. Parts that InProgress does not name are
// not leased, and no result of them waits or is held. Issue refuses parts that were leased
// or ingested since InProgress: so no part is done twice, however long a manager pauses
// between its selection and Issue. For that the space "lease" has one more tuple,
// ("ingested", (n…)).
//
// The package knows neither the catalog nor what can be selected. A manager commits a
// result to the catalog before it calls Ingested.
package work

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// Policy is the configuration of the protocol.
type Policy struct {
	Task     task.Policy
	LeaseTTL time.Duration // at most lease.MaxTTL
	QueueTTL time.Duration // less than LeaseTTL
	Ingest   time.Duration // how long a manager may hold a result
}

// Check returns fault.ErrInvalid for a policy under which a task could outlive its lease, or with a value not above
// 0.
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
	procIssue      = "work.issue"
	procNext       = "work.next"
	procIngested   = "work.ingested"
	procInProgress = "work.busy"
	procExpire     = "work.expire"
	procDrop       = "work.drop"
	procReturn     = "work.return"
)

// Procedures returns the verbs as procedures: work.issue (task, record, ingested), work.next
// (action, wantsCapacity), work.ingested (ref), work.busy (action, after); and the expiries
// work.expire (of a lease), work.drop (of a waiting task) and work.return (of a
// manager's hold).
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{
		procIssue:      space.WithArgs3(p.issue),
		procNext:       space.WithArgs2(p.next),
		procIngested:   space.WithArgs1(p.ingested),
		procInProgress: space.WithArgs2(inProgress),
		procExpire:     p.expire,
		procDrop:       p.removeUnclaimed,
		procReturn:     returnResult,
	}
}
