package task

import (
	"fmt"
	"strings"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// endHold is the expiry of a worker's hold: the worker took too long, was lost, or closed its session while it held
// the task. Closing counts no attempt, because the worker stopped in order. Its loss counts one only if it held no
// other task, because otherwise the other one may be the reason. A malformed task becomes a dead letter.
func (p Policy) endHold(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, x, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	i, err := DecodeEntry(e)
	if err != nil {
		return nil, p.deadLetterCorrupt(tx, e, err)
	}
	if i.CurrentClaimant == "" { // claimed under a version without records
		i.CurrentClaimant = x.Holder
	}
	reason, kind := "", TimedOut
	switch x.Cause {
	case space.Closed:
		return nil, p.undoClaim(tx, e, i)
	case space.Lost:
		i.Lost++
		if x.Beside > 0 {
			return nil, p.loseShared(tx, e, i, x.Beside)
		}
		reason, kind = "its worker was lost", WorkerLost
	default:
		reason = fmt.Sprintf("timed out after %s", i.Timeout.Duration())
		tx.Tell(x.Holder, stopMessage(i.ID, reason))
	}
	return nil, p.failAttempt(tx, e, i, failure{reason: reason, kind: kind})
}

// endHiding is the expiry of a hold without a session: the time has come for a task that was delayed or in its
// back-off, or the task itself expires. If every live worker that serves the action has given the task back, all may
// try again. A task becomes a dead letter if it is malformed, has expired or is past its attempts.
func (p Policy) endHiding(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	i, err := DecodeEntry(e)
	if err != nil {
		return nil, p.retire(tx, e, i, err)
	}
	if i.expired(tx) {
		return nil, p.expireTask(tx, e, i)
	}
	if i.Attempts > p.attempts(i) {
		return nil, p.die(tx, e, i, strings.TrimPrefix(i.State, noSpaceForIt))
	}
	if i.Hidden == Delayed || i.Hidden == BackOff { // the engine's clock decides, and the wall clock may have been set back
		i.RetryAt, i.NotBefore = noTime, noTime
	}
	if unclaimable(tx, i) {
		i.forgiven, i.Hosts = len(i.Claimants), nil
	}
	return nil, p.place(tx, e, i, space.NewPlace)
}

// expired reports whether a task may not be claimed any more.
func (i Item) expired(tx space.Tx) bool {
	return !i.ExpiresAt.IsZero() && !tx.Now().Before(i.ExpiresAt)
}

// expireTask makes a task dead that was not claimed in time. It offers the slots of its limits also if no space takes
// the dead letter and the task is only hidden.
func (p Policy) expireTask(tx space.Tx, e space.Entry, i Item) error {
	reason := "it expired: not claimed before " + i.ExpiresAt.Format("2006-01-02T15:04:05Z07:00")
	if err := p.dieOf(tx, e, i, reason, reason); err != nil {
		return err
	}
	return p.freeSlots(tx, i.Limits)
}

// endWaiting is the expiry of a visible task with a time at which it expires. It makes the task dead.
func (p Policy) endWaiting(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	i, err := DecodeEntry(e)
	if err != nil {
		return nil, p.retire(tx, e, i, err)
	}
	return nil, p.expireTask(tx, e, i)
}
