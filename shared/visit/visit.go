// Package visit is the protocol by which the coordinator has origins visited: it
// puts a visit, a manager holds it and looks, and the outcome is a result that the
// coordinator records.
//
//	("visit", kind, origin, visit, body)                       in the space "visit"
//	("result", "visit", origin, visit, "", 0, manager, true, outcome)
//
//	     put            take             end (outcome)
//	───────▶ waiting ─────────▶ held ──────────────────▶ result ──▶ recorded
//	            ▲                │ │                        ▲
//	            └── in order ────┘ └── session lost, ───────┘
//	                stopped            too long ("lost")
//
// Invariants: at most one session holds a visit, and only it can end it. A visit
// that was put has exactly one outcome; putting it again while it waits, is held,
// or has an outcome that is not recorded yet changes nothing.
//
// The package does not choose what is visited, and does not record outcomes.
package visit

import (
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// Space is where visits are.
const Space = "visit"

// Action is the action of the results that say how visits ended.
const Action = "visit"

// Spaces returns the spaces that the protocol needs, beside package task's.
func Spaces() []space.Definition { return []space.Definition{{Name: Space}} }

// Policy is what the protocol leaves to configuration.
type Policy struct {
	Timeout time.Duration // of one visit
}

// Check refuses a policy under which a visit could be held for ever.
func (p Policy) Check() error {
	if p.Timeout <= 0 {
		return fmt.Errorf("%w: the timeout of a visit (%s) must be above 0", fault.ErrInvalid, p.Timeout)
	}
	return nil
}

const (
	procPut  = "visit.put"
	procTake = "visit.take"
	procEnd  = "visit.end"
	procRoom = "visit.room"
	procLost = "visit.lost"
)

// Procedures returns the verbs as procedures: visit.put (visit), visit.take (),
// visit.end (visit's id, outcome), visit.room (); and the expiry visit.lost (of a manager's
// hold).
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{
		procPut:  space.WithArgs(tuple.Match(tuple.Formal{Type: tuple.Nested}), put),
		procTake: space.WithArgs(tuple.Match(), p.take),
		procEnd:  space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyString), end),
		procRoom: space.WithArgs(tuple.Match(), room),
		procLost: lost,
	}
}

// Any matches every visit.
func Any() tuple.Template {
	return tuple.Match("visit", tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyString)
}

func withID(id string) tuple.Template {
	p := Any()
	p[3] = id
	return p
}

func outcomeOf(id string) tuple.Template {
	p := task.AnyResult(Action)
	p[3] = id
	return p
}

// put (visit) adds a visit, unless it is on its way already.
func put(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	v, _ := args[0].(tuple.Tuple)
	if !Any().Matches(v) || !models.ValidID(v.Str(3)) {
		return nil, fmt.Errorf("%w: a visit with an id is wanted", fault.ErrInvalid)
	}
	if known(tx, Space, withID(v.Str(3))) || known(tx, task.Result, outcomeOf(v.Str(3))) {
		return nil, nil
	}
	_, err := tx.Put(Space, v, space.PutOptions{})
	return nil, err
}

func known(tx space.Tx, name string, p tuple.Template) bool {
	return tx.Count(name, p) > 0 || len(tx.Held(name, p)) > 0
}

// take () takes hold of the oldest visit. It waits for one.
func (p Policy) take(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(Space, Any(), nil)
	if !ok {
		return nil, tx.Wait(space.Awaited{Space: Space, Template: Any()})
	}
	return e.Tuple, tx.Hold(e.Ref, space.HoldOptions{TTL: p.Timeout, Expiry: procLost})
}
