package task

import (
	"slices"

	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// allGaveBack is the state of a task that no live worker may claim.
const allGaveBack = "every worker gave it back; they may try again after the back-off"

// unclaimable reports whether workers serve the action and all of them gave the task
// back.
func unclaimable(tx space.Tx, i Item) bool {
	servers := status.Servers(tx, i.Action)
	for _, s := range servers {
		if !slices.Contains(i.Claimants, s.ID) {
			return false
		}
	}
	return len(servers) > 0 && len(i.Claimants) > 0
}

// reviveStuck (action) finds the waiting tasks of an action that no worker will ever
// claim. If all live workers gave a task back, because the worker that could have done
// it left, the task goes into a back-off, after which all may try again. A task that
// is malformed or past its attempts becomes a dead letter.
func (p Policy) reviveStuck(tx space.Tx, action string) (tuple.Tuple, error) {
	for _, e := range tx.Scan(Space, AnyOf(action)) {
		i, err := decodeValid(e.Tuple)
		switch {
		case err != nil:
			err = deadLetterCorrupt(tx, e, err)
		case i.Attempts > p.MaxAttempts:
			err = p.die(tx, e, i, "more attempts than are allowed")
		case unclaimable(tx, i):
			i.State = allGaveBack
			err = p.backOff(tx, e.Ref, i)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}
