// Package task is the protocol of one unit of work for one worker: create, claim, extend,
// report, resolve, release, hand back, time out, die, cancel, requeue.
//
// A task is a tuple in the space "task", ordered by priority and then by turn. Only a task
// that a worker may claim is visible. While a worker works on it, the tuple is held, and a
// claim in the space "lease" shows that; a task that waits for something else is held
// without a session:
//
//	("task", action, id, lease, token int64, priority int64, data)
//	("claim", task, worker, dueMs int64, token int64)
//
// data is the user's JSON or empty. The rest of a task is in the attributes of its tuple: a record (record.go) and
// labels (labels.go), by which related tasks are found. Results go to the space "result", if the task has a lease or
// its creator asked for them, and a task that will not be tried again goes to the space "dead":
//
//	("result", action, subject, part, lease, token int64, worker, final bool, body)
//	("dead", action, id, attempts int64, reason, data)
//
//	create ──▶ blocked ─▶ delayed ─▶ paused ─▶ limited ─▶ waiting (visible)
//	             each only if it applies, decided by      │   ▲ hand back, resume
//	             place.go whenever one of them ends       │   │
//	                                                claim ▼   │
//	   back-off ◀── release, time out, session lost ── claimed ──▶ resolved
//	      │              attempts + 1, a new token,       │
//	      └─▶ place      the worker is a claimant         ├──▶ cancelled
//	                                                      └──▶ dead (attempts > maximum)
//
// Invariants: at most one session holds a task. Only its holder, with the current token, can extend, report, resolve,
// release it or hand it back. Release, hand back and time-out raise the token, so that no two attempts share one. A
// late result of a lease is put too, because what was found is true, but never with a token that changes a lease. A
// claim exists exactly while a session holds the task. A hold ends exactly once, and each change of a task is one
// transaction. At most one live task has a unique key. At most as many tasks are claimed that name a limit as the
// limit allows.
//
// The space "taskdata" has what the protocol knows beside the tasks:
//
//	("paused", action, since)                       the action is paused
//	("resuming", action)                            it was, and not all of its tasks are back
//	("limit", name, max int64, rate float64, next int64)
//	("limited", limit, action)                      tasks of the action wait for the limit
//	("parent", task, state, result)                 a task that has ended and has children
//
// The space "alert" has an alert for each dead letter and each channel that reports
// it to administrators: ("alert", channel, task, diedMs int64).
//
// Foreign clients may write tasks. A malformed task is never claimed, and becomes a
// dead letter when a claim meets it or a sweep does (Client.Sweep).
//
// A task that has ended without becoming a dead letter, and a discarded dead letter, leave a record in the history of
// the spaces, on the disk only, for as long as the coordinator keeps it: how it ended, when, with which result and
// after which attempts.
//
// The package does not end leases or queue TTLs (package work does), and does not read
// the data of a task (the handler of the action does).
package task

import (
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The spaces of the protocol.
const (
	Space  = "task"
	Result = "result"
	Dead   = "dead"
	Data   = "taskdata" // limits, pauses, and parents that have ended
	Ends   = "taskends" // tells the ends of tasks to waiting clients
)

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{
		{Name: Space, Options: space.Options{Kind: space.Ordered, OrderBy: priorityField}, Reserving: true, ShareBy: actionField, Check: checkPut},
		{Name: Result, Reserving: true, Check: checkPutResult},
		{Name: Dead, QueryOnly: true, Reserving: true, ShareBy: actionField},
		{Name: Data, QueryOnly: true},
		{Name: Alerts, QueryOnly: true, Options: space.Options{Capacity: maxAlerts, Overflow: space.DropOldest}},
		{Name: Ends, QueryOnly: true, Options: space.Options{Volatile: true, Capacity: maxWatched}},
	}
}

// Bounds: a task must fit into an answer with its record, and a result into the answer that
// carries it.
const (
	maxData   = tuple.MaxBytes / 2 // of a task
	maxResult = tuple.MaxBytes - 64<<10

	maxHistory   = 16 // attempts
	maxClaimants = 64
	maxReason    = 256     // bytes
	maxOutput    = 2 << 10 // bytes
	maxWatched   = 100_000 // tasks whose end a client waits for
)

const (
	procClaim = "task.claim"
	procNext  = "task.next"
	procGet   = "task.get"

	procExtend        = "task.extend"
	procReport        = "task.report"
	procRelease       = "task.release"
	procHandBack      = "task.handback"
	procReviveStuck   = "task.unstick"
	procSweep         = "task.sweep"
	procCreate        = "task.create"
	procCancel        = "task.cancel"
	procRequeue       = "task.requeue"
	procDiscard       = "task.discard"
	procPause         = "task.pause"
	procResume        = "task.resume"
	procSetLimit      = "task.setlimit"
	procRemoveLimit   = "task.removelimit"
	procLimits        = "task.limits"
	procShowDead      = "task.showdead"
	procShow          = "task.show"
	procList          = "task.list"
	procCounts        = "task.counts"
	procActions       = "task.actions"
	procOverview      = "task.overview"
	procBulk          = "task.bulk"
	procWatch         = "task.watch"
	procWait          = "task.wait"
	procRemoveAlert   = "task.removealert"
	procPostponeAlert = "task.postponealert"
	procRemoveAlerts  = "task.removealerts"
	procEnded         = "task.ended"
	procListEnded     = "task.listended"
	procParents       = "task.parents"
	procSuspects      = "task.suspects"

	procTimeout    = "task.timeout"
	procReturn     = "task.return"
	procExpireTask = "task.expire"
	procRefill     = "task.refill"
)

// Policy is the configuration of the protocol.
type Policy struct {
	MaxAttempts int64         // at least 1; a task whose failed attempts exceed it becomes a dead letter, so 3 means up to four tries
	Backoff     time.Duration // before a task is offered again to workers that gave it back
	Alerts      []string      // channels that report dead letters to administrators

	ended *[]endedParent // of the call of releaseChildren that runs in this transaction; nil: none
}

// Procedures returns the verbs as procedures, and the expiries task.timeout (of a worker's
// hold), task.return (of a hold without a session), task.expire (of a task that was not
// claimed in time) and task.refill (of a limit whose rate was exhausted).
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{
		procClaim: p.claim,
		procNext:  p.next,
		procGet:   p.get,

		procExtend:      extend,
		procReport:      p.report,
		procRelease:     p.release,
		procHandBack:    p.handBack,
		procReviveStuck: space.WithArgs1(p.reviveStuck),
		procSweep:       p.sweep,
		procTimeout:     p.endHold,
		procReturn:      p.endHiding,
		procExpireTask:  p.endWaiting,
		procRefill:      p.refill,
	}
}

// AdminProcedures returns the procedures for those who create and manage tasks.
func (p Policy) AdminProcedures() space.Procedures {
	return space.Procedures{
		procCreate:      space.WithArgs(tuple.Match(tuple.Formal{Type: tuple.Bytes}), p.create),
		procCancel:      space.WithArgs2(p.cancel),
		procRequeue:     space.WithArgs2(p.requeue),
		procDiscard:     space.WithArgs1(p.discard),
		procPause:       p.pause,
		procResume:      space.WithArgs1(p.resume),
		procSetLimit:    space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64, tuple.Formal{Type: tuple.Float64}), p.setLimit),
		procRemoveLimit: space.WithArgs1(p.removeLimit),
		procLimits:      space.WithArgs(tuple.Match(), limits),
		procShowDead:    space.WithArgs1(showDead),
		procShow:        space.WithArgs1(showTask),
		procParents:     space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64), parents),
		procList:        list,
		procCounts:      space.WithArgs1(counts),
		procSuspects:    space.WithArgs(tuple.Match(), suspects),
		procActions:     space.WithArgs(tuple.Match(), actions),
		procOverview:    overview,
		procBulk:        p.bulk,
		procWatch:       space.WithArgs1(watchTask),
		procWait:        space.WithArgs1(awaitEnd),

		procRemoveAlert:   space.WithArgs(anyAlert, removeAlert),
		procPostponeAlert: space.WithArgs(anyAlert, postponeAlert),
		procRemoveAlerts:  space.WithArgs1(removeAlerts),
	}
}
