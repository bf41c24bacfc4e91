// Package visit is the protocol by which the coordinator has origins visited. The
// coordinator puts a visit, a manager holds it and visits the origin, and the outcome
// is a result that the coordinator records.
//
//	("visit", kind, origin, visit, body)                       in the space "visit"
//	("result", "visit", origin, visit, "", 0, manager, true, outcome)
//
//	     put             take             end (outcome)
//	───────▶ waiting ─────────▶ held ──────────────────▶ result ──▶ recorded
//	            ▲                │ │                        ▲
//	            └─ session closed┘ └── session lost, ───────┘
//	                                   timed out ("lost")
//
// Invariants: at most one session holds a visit, and only that session can end it. A visit has exactly one outcome.
// Putting a visit again changes nothing while it waits, is held, or has an unrecorded outcome.
//
// The package does not choose which origins are visited, and does not record outcomes.
package visit

import (
	"encoding/json"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Space is where visits are.
const Space = "visit"

// Action is the action of the results that carry the outcomes of visits.
const Action = models.ActionVisit

// Spaces returns the spaces that the protocol needs, beside package task's.
func Spaces() []space.Definition { return []space.Definition{{Name: Space, Check: checkPut}} }

// Policy is the configuration of the protocol.
type Policy struct {
	Timeout time.Duration // of one visit
}

// Check refuses a policy under which a manager could hold a visit for ever, with fault.ErrInvalid.
func (p Policy) Check() error {
	if p.Timeout <= 0 {
		return fmt.Errorf("%w: the timeout of a visit (%s) must be above 0", fault.ErrInvalid, p.Timeout)
	}
	return nil
}

const (
	procPut      = "visit.put"
	procTake     = "visit.take"
	procEnd      = "visit.end"
	procCapacity = "visit.room"
	procLost     = "visit.lost"
)

// Procedures returns the verbs as procedures: visit.put (visit), visit.take (),
// visit.end (visit's id, outcome), procCapacity (); and the expiry visit.lost (of a
// manager's hold).
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{
		procPut:      space.WithArgs1(put),
		procTake:     space.WithArgs(tuple.Match(), p.take),
		procEnd:      space.WithArgs2(endVisit),
		procCapacity: space.WithArgs(tuple.Match(), capacity),
		procLost:     endLost,
	}
}

// put (visit) adds a visit, unless it waits, is held, or has an unrecorded outcome.
func put(tx space.Tx, v tuple.Tuple) (tuple.Tuple, error) {
	id := DecodeKey(v).Visit
	if !Any().Matches(v) || !models.ValidID(id) {
		return nil, fmt.Errorf("%w: want a visit with an id", fault.ErrInvalid)
	}
	if exists(tx, id) {
		return nil, nil
	}
	_, err := tx.Put(Space, v, space.PutOptions{})
	return nil, err
}

// take () holds the oldest visit. It waits until there is one.
func (p Policy) take(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(Space, Any(), nil)
	if !ok {
		return nil, tx.Wait(space.Awaited{Space: Space, Template: Any()})
	}
	return e.Tuple, tx.Hold(e.Ref, space.HoldOptions{TTL: p.Timeout, Expiry: procLost})
}

// capacity () returns how many more visits may be put: the free slots of the sessions that serve
// visits, and one more, less the visits that wait. The one more keeps a visit ready for the next
// free slot, and serves managers that report no slots. It returns no error.
func capacity(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	free := max(status.Slots(tx, Action)-int64(len(tx.Held(Space, Any()))), 0)
	return tuple.New(max(free+1-int64(tx.Count(Space, Any())), 0)), nil
}

// endVisit (visit's id, outcome) ends a visit that the caller holds. It fails with fault.ErrStaleToken if the caller
// does not hold it.
func endVisit(tx space.Tx, id, outcome string) (tuple.Tuple, error) {
	if !json.Valid([]byte(outcome)) {
		return nil, fmt.Errorf("%w: the outcome of visit %q is not JSON", fault.ErrInvalid, id)
	}
	for _, e := range tx.Held(Space, withID(id)) {
		if e.Holder == tx.Caller() {
			return nil, replaceByResult(tx, e, outcome)
		}
	}
	return nil, fmt.Errorf("visit %q is not held by %s: %w", id, tx.Caller(), fault.ErrStaleToken)
}

// endLost is the expiry of a manager's hold. If the manager closed its session, the visit waits again; else its
// outcome is models.Lost.
func endLost(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, x, err := space.Expiring(tx, args)
	if err != nil || x.Cause == space.Closed { // the hold is unchanged, so the engine makes the visit visible again
		return nil, err
	}
	k := DecodeKey(e.Tuple)
	outcome, err := json.Marshal(models.Outcome{
		Visit: k.Visit, Origin: k.Origin, Status: models.Lost, At: tx.Now(),
		Error: fmt.Sprintf("%s did not end the visit", x.Holder),
	})
	if err != nil {
		return nil, err
	}
	return nil, replaceByResult(tx, e, string(outcome))
}

func replaceByResult(tx space.Tx, e space.Entry, outcome string) error {
	k := DecodeKey(e.Tuple)
	r := task.ResultTuple{Action: Action, Subject: k.Origin, Part: k.Visit, Worker: e.Holder, Final: true, Body: outcome}
	if err := r.Put(tx); err != nil {
		return err
	}
	return tx.Done(e.Ref)
}
