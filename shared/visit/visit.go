// Package visit is the protocol by which the coordinator has origins visited: it
// puts a visit, a manager holds it and looks, and the outcome is a result that the
// coordinator records.
//
//	("visit", kind, origin, visit, body)                       in the space "visit"
//	("result", "visit", origin, visit, "", 0, manager, true, outcome)
//
// The manager holds the visit while it works. If its session is lost or it takes
// too long, the visit ends with the outcome "lost"; if it stops in order, the
// visit is back in its place for another manager.
package visit

import (
	"context"
	"encoding/json"
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

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition { return []space.Definition{{Name: Space}} }

// Policy is what the protocol leaves to configuration.
type Policy struct {
	Timeout time.Duration // of one visit
}

const (
	procPut  = "visit.put"
	procTake = "visit.take"
	procEnd  = "visit.end"
	procLost = "visit.lost"
)

// Procedures returns the verbs as procedures: visit.put (visit), visit.take (),
// visit.end (visit's id, outcome); and the expiry visit.lost.
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{procPut: put, procTake: p.take, procEnd: end, procLost: lost}
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

// put (visit) adds a visit, unless it is there or in somebody's hands.
func put(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	v, ok := tuple.Tuple(nil), false
	if len(args) == 1 {
		v, ok = args[0].(tuple.Tuple)
	}
	if !ok || !Any().Matches(v) {
		return nil, fmt.Errorf("%s: %w: a visit is wanted", procPut, fault.ErrInvalid)
	}
	p := withID(v.Str(3))
	if tx.Count(Space, p) > 0 || len(tx.Held(Space, p)) > 0 {
		return nil, nil
	}
	_, err := tx.Put(Space, v, space.PutOptions{})
	return nil, err
}

// take () takes hold of the oldest visit. It waits for one.
func (p Policy) take(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(Space, Any(), nil)
	if !ok {
		return nil, tx.Wait(space.Awaited{Space: Space, Template: Any()})
	}
	return e.Tuple, tx.Hold(e.Ref, space.HoldOptions{TTL: p.Timeout, Expiry: procLost})
}

// end (visit's id, outcome) ends a visit that the caller holds.
func end(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	for _, e := range tx.Held(Space, withID(args.Str(0))) {
		if e.Holder == tx.Caller() {
			return nil, conclude(tx, e, args.Str(1))
		}
	}
	return nil, fmt.Errorf("%s: visit %s is not held by %s: %w", procEnd, args.Str(0), tx.Caller(), fault.ErrStaleToken)
}

func conclude(tx space.Tx, e space.Entry, outcome string) error {
	o := task.Outcome{
		Action: Action, Subject: e.Tuple.Str(2), Part: e.Tuple.Str(3), Worker: e.Holder, Final: true, Body: outcome,
	}
	if err := o.Put(tx); err != nil {
		return err
	}
	return tx.Done(e.Ref)
}

// lost ends a visit whose manager did not; one that stopped in order leaves it to
// come back.
func lost(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	x, err := space.ParseExpired(args)
	if err != nil || x.Cause == space.Closed {
		return nil, err
	}
	e, ok := tx.Entry(x.Ref)
	if !ok {
		return nil, nil
	}
	outcome, err := json.Marshal(models.Outcome{
		Visit: e.Tuple.Str(3), Origin: e.Tuple.Str(2), Status: models.Lost, At: tx.Now(),
		Error: fmt.Sprintf("%s did not end the visit", x.Holder),
	})
	if err != nil {
		return nil, err
	}
	return nil, conclude(tx, e, string(outcome))
}

// Client is the protocol as a session speaks it. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Put has an origin visited. Repeating it while the visit waits or goes on changes
// nothing.
func (c Client) Put(ctx context.Context, v models.Visit) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("visit %s: %w: %w", v.ID, fault.ErrInvalid, err)
	}
	t := tuple.New("visit", string(v.Origin.Kind), v.Origin.ID, v.ID, string(body))
	_, err = c.Repo.Call(ctx, space.OpID{}, procPut, tuple.New(t))
	return err
}

// Take waits for a visit and takes hold of it.
func (c Client) Take(ctx context.Context) (models.Visit, error) {
	t, err := c.Repo.Call(ctx, space.OpID{}, procTake, nil)
	if err != nil {
		return models.Visit{}, err
	}
	var v models.Visit
	if err := json.Unmarshal([]byte(t.Str(4)), &v); err != nil {
		return models.Visit{}, fmt.Errorf("visit %s: body: %w: %w", t.Str(3), fault.ErrCorrupt, err)
	}
	return v, nil
}

// End says how a visit ended. fault.ErrStaleToken says that it was given up
// before.
func (c Client) End(ctx context.Context, o models.Outcome) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("outcome of visit %s: %w: %w", o.Visit, fault.ErrInvalid, err)
	}
	_, err = c.Repo.Call(ctx, space.OpID{}, procEnd, tuple.New(o.Visit, string(body)))
	return err
}
