package task

import (
	"slices"

	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// allGaveBack is the state of a task that nobody who lives may claim.
const allGaveBack = "every worker gave it back; they may try again after the back-off"

// unclaimable reports whether workers serve the action and all are claimants.
func unclaimable(tx space.Tx, i Item) bool {
	servers := status.Serving(tx, i.Action)
	for _, s := range servers {
		if !slices.Contains(i.Claimants, s.ID) {
			return false
		}
	}
	return len(servers) > 0 && len(i.Claimants) > 0
}

// unstick (action) looks after the waiting tasks of an action that no claim will
// ever find. One that all live workers have given back, because the worker that
// could have done it left, goes into a back-off, after which all may try again.
// One that makes no sense, or is past its attempts, becomes a dead letter.
func (p Policy) unstick(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	for _, e := range tx.Scan(Space, AnyOf(args.Str(0))) {
		if err := p.unstickOne(tx, e); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (p Policy) unstickOne(tx space.Tx, e space.Entry) error {
	i, err := sound(e.Tuple)
	switch {
	case err != nil:
		return buryCorrupt(tx, e, err)
	case i.Attempts > p.MaxAttempts:
		return bury(tx, e, i, "more attempts than are allowed")
	case unclaimable(tx, i):
		i.State = allGaveBack
		return p.backOff(tx, e.Ref, i)
	}
	return nil
}
