// Package task is the protocol of one unit of work for one worker: create,
// claim, report, resolve, release, hand back, time out, die.
//
// A task is a tuple in the space "task", ordered by priority. While a worker works on
// it, the tuple is held, and a claim in the space "lease" shows that:
//
//	("task", action, id, lease, token int64, priority int64, body)
//	("claim", task, worker, dueMs int64, token int64)
//
// Its results go to the space "result", and a task past its attempts goes to the space
// "dead":
//
//	("result", action, subject, part, lease, token int64, worker, final bool, body)
//	("dead", action, id, attempts int64, reason, body)
//
//	          claim              resolve
//	create ──▶ waiting ──────▶ held ──────▶ (result, final)
//	             ▲  ▲            │ │
//	             │  └─ hand back ┘ │ release, time out, session lost: attempts + 1,
//	             │                 │ a new token, the worker is a claimant
//	             ├─────────────────┤ another worker serves the action: at once
//	             │                 ▼ no other worker does
//	             └── back-off ── held, hidden ────▶ dead (attempts > maximum)
//
// Invariants: at most one session holds a task. Only its holder, with the current
// token, can extend, report, resolve, release it or hand it back. Release, hand back
// and time-out raise the token, so that no two attempts share one. A late result is
// put too, because what was found is true, but never with a token that changes a
// lease. A claim exists exactly while a session holds the task. A hold ends exactly
// once, and each change of a task is one transaction.
//
// Foreign clients may write tasks. A malformed task is never claimed, and becomes a
// dead letter (Client.ReviveStuck).
//
// The package does not end leases or queue TTLs (package work does), and does not read
// the data in a body (the handler of the action does).
package task

import (
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The spaces of the protocol.
const (
	Space  = "task"
	Result = "result"
	Dead   = "dead"
)

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{
		{Name: Space, Options: space.Options{Kind: space.Ordered, OrderBy: priorityField}},
		{Name: Result},
		{Name: Dead},
	}
}

// Bounds of bodies: a task must fit into its tuple with its history, and a result into
// the answer that carries it.
const (
	maxBody   = tuple.MaxBytes / 2     // of a new task
	maxGrown  = tuple.MaxBytes * 3 / 4 // with history, claimants and state
	maxResult = tuple.MaxBytes - 64<<10

	maxHistory   = 16 // attempts
	maxClaimants = 64
	maxReason    = 256 // bytes
)

const (
	procClaim       = "task.claim"
	procExtend      = "task.extend"
	procReport      = "task.report"
	procRelease     = "task.release"
	procHandBack    = "task.handback"
	procReviveStuck = "task.unstick"
	procTimeout     = "task.timeout"
	procReturn      = "task.return"
)

// Policy is the configuration of the protocol.
type Policy struct {
	MaxAttempts int64         // at least 1; a task whose failed attempts exceed it becomes a dead letter, so 3 means up to four tries
	Backoff     time.Duration // before a task is offered again to workers that gave it back
}

// Procedures returns the verbs as procedures: task.claim (action…), task.extend
// (id, token), task.report (id, result), task.release (id, token, reason),
// task.handback (id, token), procReviveStuck (action); and the expiries task.timeout
// (of a worker's hold) and task.return (of a back-off).
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{
		procClaim:       p.claim,
		procExtend:      space.WithArgs2(extend),
		procReport:      space.WithArgs2(report),
		procRelease:     space.WithArgs3(p.release),
		procHandBack:    space.WithArgs2(handBack),
		procReviveStuck: space.WithArgs1(p.reviveStuck),
		procTimeout:     p.timeout,
		procReturn:      p.endBackOff,
	}
}

// decodeValid is Decode for a tuple that a foreign client may have put. A task that no
// worker could do is fault.ErrCorrupt.
func decodeValid(t tuple.Tuple) (Item, error) {
	i, err := Decode(t)
	switch {
	case err != nil:
		return Item{}, err
	case !validTimeout(i.Timeout):
		return Item{}, fmt.Errorf("task %s: timeout %vs: want more than 0 and at most %s: %w", i.ID, i.Timeout, lease.MaxTTL, fault.ErrCorrupt)
	case len(decodeHeader(t).body) > maxGrown:
		return Item{}, fmt.Errorf("task %s: a body of %d bytes, at most %d: %w", i.ID, len(decodeHeader(t).body), maxGrown, fault.ErrCorrupt)
	}
	return i, nil
}

func validTimeout(s models.Seconds) bool { return s > 0 && s <= models.SecondsOf(lease.MaxTTL) }

// rewrite replaces the task at ref, waiting or held, by i.
func rewrite(tx space.Tx, ref int64, i Item) error {
	t, err := Encode(i)
	if err != nil {
		return err
	}
	return tx.Replace(ref, t)
}
