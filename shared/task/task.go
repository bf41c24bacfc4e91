// Package task is the protocol of one unit of work for one worker: create,
// claim, report, resolve, release, hand back, time out, die.
//
// A task is a tuple in the space "task", ordered by priority; while a worker has
// it, it is held, and a claim in the space "lease" shows so:
//
//	("task", action, id, lease, token int64, priority int64, body)
//	("claim", task, worker, dueMs int64, token int64)
//
// What it yields goes to the space "result", and a task that nobody can do to the
// space "dead":
//
//	("result", action, subject, part, lease, token int64, worker, final bool, body)
//	("dead", action, id, attempts int64, reason, body)
//
//	          claim              resolve
//	create ──▶ waiting ──────▶ held ──────▶ (result, final)
//	             ▲  ▲            │ │
//	             │  └─ hand back ┘ │ release, time out, session lost: attempts + 1,
//	             │                 ▼ a new token, the worker is a claimant
//	             └── back-off ── held by nobody ──▶ dead (attempts > maximum)
//
// Invariants: at most one session holds a task. Only its holder, with the current
// token, can extend, report, resolve, release it or hand it back, and each way of
// giving it up raises the token, so that no later attempt shares it. A late result
// is put all the same, since what was found is true, but never with a token that
// moves a lease. A claim is shown exactly while a session holds the task. A hold
// ends exactly once, and everything that happens to a task is one transaction.
//
// Bodies may be written by strangers: a task that cannot be understood is never
// claimed, and becomes a dead letter (Client.Unstick).
//
// The package does not end leases or queues in time (package work does), and does
// not know what a body means to its handler.
package task

import (
	"encoding/json"
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

// priorityField is where a task's tuple has its priority.
const priorityField = 5

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{
		{Name: Space, Options: space.Options{Kind: space.Ordered, OrderBy: priorityField}},
		{Name: Result},
		{Name: Dead},
	}
}

// Bounds of bodies: what happens to a task must always fit into its tuple, and a
// result into the answer that carries it.
const (
	maxBody   = tuple.MaxBytes / 2     // of a new task
	maxGrown  = tuple.MaxBytes * 3 / 4 // with history, claimants and state
	maxResult = tuple.MaxBytes - 64<<10

	maxHistory   = 16 // attempts that are remembered
	maxClaimants = 64
	maxReason    = 256 // bytes
)

// Policy is what the protocol leaves to configuration.
type Policy struct {
	MaxAttempts int64         // at least 1; a task that failed more often is dead
	Backoff     time.Duration // before a task that was given back is offered again
}

// Item is a task as its tuple has it.
type Item struct {
	models.Task
	Lease    string // empty: none
	Token    int64  // of the attempt
	Priority int64  // higher is sooner
}

// Encode returns the tuple of a task.
func Encode(i Item) (tuple.Tuple, error) {
	body, err := json.Marshal(i.Task)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w: %w", i.ID, fault.ErrInvalid, err)
	}
	return tuple.New("task", i.Action, i.ID, i.Lease, i.Token, i.Priority, string(body)), nil
}

// Decode returns the task of a tuple that Any matches.
func Decode(t tuple.Tuple) (Item, error) {
	i := Item{Lease: t.Str(3), Token: t.Int64(4), Priority: t.Int64(priorityField)}
	if err := json.Unmarshal([]byte(t.Str(6)), &i.Task); err != nil {
		return Item{}, fmt.Errorf("task %s: body: %w: %w", t.Str(2), fault.ErrCorrupt, err)
	}
	i.Action, i.ID = t.Str(1), t.Str(2)
	return i, nil
}

// sound is Decode for a tuple that anybody may have put: fault.ErrCorrupt says that
// no worker should be troubled with it.
func sound(t tuple.Tuple) (Item, error) {
	i, err := Decode(t)
	switch {
	case err != nil:
		return Item{}, err
	case !validTimeout(i.Timeout):
		return Item{}, fmt.Errorf("task %s: a timeout of %vs: %w", i.ID, i.Timeout, fault.ErrCorrupt)
	case len(t.Str(6)) > maxGrown:
		return Item{}, fmt.Errorf("task %s: a body of %d bytes: %w", i.ID, len(t.Str(6)), fault.ErrCorrupt)
	}
	return i, nil
}

func validTimeout(s models.Seconds) bool { return s > 0 && s <= models.SecondsOf(lease.MaxTTL) }

// rewrite makes i what the task at ref says, wherever it is.
func rewrite(tx space.Tx, ref int64, i Item) error {
	t, err := Encode(i)
	if err != nil {
		return err
	}
	return tx.Replace(ref, t)
}

// Any matches every task; its fields may be made actual.
func Any() tuple.Template {
	return tuple.Match("task", tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString)
}

// AnyOf matches the tasks of one action.
func AnyOf(action string) tuple.Template {
	p := Any()
	p[1] = action
	return p
}

// AnyUnder matches the task of one lease.
func AnyUnder(lease string) tuple.Template {
	p := Any()
	p[3] = lease
	return p
}

func withID(id string) tuple.Template {
	p := Any()
	p[2] = id
	return p
}
