package task

import (
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// timeout ends the hold of a worker that did not: too slow, lost, or closed with
// the task in hand.
func (p Policy) timeout(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, x, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	i, err := Decode(e.Tuple)
	if err != nil {
		return nil, buryCorrupt(tx, e, err)
	}
	reason := ""
	switch x.Cause {
	case space.Closed:
		return nil, undoClaim(tx, e, i)
	case space.Lost:
		reason = "its worker was lost"
	default:
		reason = fmt.Sprintf("timed out after %s", i.Timeout.Duration())
		tx.Tell(x.Holder, Stop(i.ID, reason))
		if err := waitAnew(tx, e, i); err != nil {
			return nil, err
		}
	}
	return nil, p.giveBack(tx, e, i, reason)
}

// waitAnew lets the queue TTL of a task that timed out begin anew. It bounds how
// long a task waits, not how long it is worked on; else one whose timeout is as
// long as its queue TTL would be dropped after each attempt, be issued again, and
// never be a dead letter.
func waitAnew(tx space.Tx, e space.Entry, i Item) error {
	if i.QueueTTL <= 0 {
		return nil
	}
	return tx.Extend(e.Ref, i.QueueTTL.Duration())
}

// comeBack ends a back-off. If every live worker that serves the action has given
// the task back, all may try again.
func (p Policy) comeBack(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	i, err := Decode(e.Tuple)
	if err != nil {
		return nil, buryCorrupt(tx, e, err)
	}
	if unclaimable(tx, i) {
		i.Claimants = nil
		if err := rewrite(tx, e.Ref, i); err != nil {
			return nil, err
		}
	}
	return nil, tx.Back(e.Ref, space.NewPlace)
}
