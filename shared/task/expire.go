package task

import (
	"fmt"
	"strings"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// timeout is the expiry of a worker's hold: the worker took too long, was lost, or
// closed its session while it held the task.
func (p Policy) timeout(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, x, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	i, err := Decode(e.Tuple)
	if err != nil {
		return nil, deadLetterCorrupt(tx, e, err)
	}
	reason := ""
	switch x.Cause {
	case space.Closed:
		return nil, undoClaim(tx, e, i)
	case space.Lost:
		reason = "its worker was lost"
	default:
		reason = fmt.Sprintf("timed out after %s", i.Timeout.Duration())
		tx.Tell(x.Holder, stopMessage(i.ID, reason))
		// The queue TTL restarts, because it bounds how long a task waits, not how long
		// a worker works on it. Otherwise a task whose timeout is as long as its queue
		// TTL would be dropped after each attempt, be issued again, and never become a
		// dead letter.
		if i.QueueTTL > 0 {
			if err := tx.Extend(e.Ref, i.QueueTTL.Duration()); err != nil {
				return nil, err
			}
		}
	}
	return nil, p.failAttempt(tx, e, i, reason)
}

// endBackOff is the expiry of a back-off. If every live worker that serves the action
// has given the task back, all may try again.
func (p Policy) endBackOff(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	i, err := Decode(e.Tuple)
	if err != nil {
		return nil, deadLetterCorrupt(tx, e, err)
	}
	if i.Attempts > p.MaxAttempts {
		return nil, p.die(tx, e, i, strings.TrimPrefix(i.State, noSpaceForIt))
	}
	if unclaimable(tx, i) {
		i.Claimants = nil
		if err := rewrite(tx, e.Ref, i); err != nil {
			return nil, err
		}
	}
	return nil, tx.Back(e.Ref, space.NewPlace)
}
