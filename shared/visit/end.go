package visit

import (
	"encoding/json"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// end (visit's id, outcome) ends a visit that the caller holds.
func end(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	if !json.Valid([]byte(args.Str(1))) {
		return nil, fmt.Errorf("%w: the outcome of visit %q is not JSON", fault.ErrInvalid, args.Str(0))
	}
	for _, e := range tx.Held(Space, withID(args.Str(0))) {
		if e.Holder == tx.Caller() {
			return nil, conclude(tx, e, args.Str(1))
		}
	}
	return nil, fmt.Errorf("visit %q is not held by %s: %w", args.Str(0), tx.Caller(), fault.ErrStaleToken)
}

// conclude puts the outcome in the place of the visit.
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
	e, x, err := space.Expiring(tx, args)
	if err != nil || x.Cause == space.Closed {
		return nil, err
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
