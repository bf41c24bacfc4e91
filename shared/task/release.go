package task

import (
	"fmt"
	"slices"

	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// maxHistory bounds what a task remembers of its attempts.
const maxHistory = 16

// release (id, token, reason): the caller cannot, another may.
func (p Policy) release(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, i, err := heldBy(tx, args.Str(0), args.Int64(1))
	if err != nil {
		return nil, err
	}
	return nil, p.giveBack(tx, e, i, args.Str(2))
}

// handBack (id, token): the caller stops in order; nothing is counted, and the
// task comes back at its old place.
func handBack(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, i, err := heldBy(tx, args.Str(0), args.Int64(1))
	if err != nil {
		return nil, err
	}
	return nil, undoClaim(tx, e, i)
}

func undoClaim(tx space.Tx, e space.Entry, i Item) error {
	if err := hideClaim(tx, i.ID); err != nil {
		return err
	}
	i.CurrentClaimant = ""
	t, err := Encode(i)
	if err != nil {
		return err
	}
	if err := tx.Replace(e.Ref, t); err != nil {
		return err
	}
	return tx.Back(e.Ref, space.OldPlace)
}

// timeout ends the hold of a worker that did not: too slow, lost, or closed with
// the task in hand.
func (p Policy) timeout(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	x, err := space.ParseExpired(args)
	if err != nil {
		return nil, err
	}
	e, ok := tx.Entry(x.Ref)
	if !ok {
		return nil, nil
	}
	i, err := Decode(e.Tuple)
	if err != nil {
		return nil, err
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
	}
	return nil, p.giveBack(tx, e, i, reason)
}

// giveBack ends an attempt: it is counted, the token is raised, and the task
// waits for its back-off; or it is dead.
func (p Policy) giveBack(tx space.Tx, e space.Entry, i Item, reason string) error {
	if err := hideClaim(tx, i.ID); err != nil {
		return err
	}
	worker := i.CurrentClaimant
	if !slices.Contains(i.Claimants, worker) {
		i.Claimants = append(i.Claimants, worker)
	}
	i.CurrentClaimant = ""
	i.Attempts++
	i.History = append(i.History, fmt.Sprintf("%s: %s", worker, reason))
	i.History = i.History[max(0, len(i.History)-maxHistory):]
	if i.Attempts > p.MaxAttempts {
		return bury(tx, e, i, reason)
	}
	i.State = "waits after an attempt that failed: " + reason
	if p.unclaimable(tx, i) {
		i.State = "every worker gave it back; they may try again after the back-off"
	}
	i.Token = tx.NextToken()
	if err := lease.Raise(tx, i.Lease, i.Token); err != nil {
		return err
	}
	t, err := Encode(i)
	if err != nil {
		return err
	}
	if err := tx.Replace(e.Ref, t); err != nil {
		return err
	}
	return p.backOff(tx, e.Ref)
}

// backOff keeps a task from everybody for a while; then it comes back behind its
// peers.
func (p Policy) backOff(tx space.Tx, ref int64) error {
	return tx.Hold(ref, space.HoldOptions{TTL: p.Backoff, Expiry: procReturn, Nobody: true})
}

// comeBack ends a back-off. If every live worker that serves the action has given
// the task back, all may try again.
func (p Policy) comeBack(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	x, err := space.ParseExpired(args)
	if err != nil {
		return nil, err
	}
	e, ok := tx.Entry(x.Ref)
	if !ok {
		return nil, nil
	}
	i, err := Decode(e.Tuple)
	if err != nil {
		return nil, err
	}
	if p.unclaimable(tx, i) {
		i.Claimants = nil
		t, err := Encode(i)
		if err != nil {
			return nil, err
		}
		if err := tx.Replace(x.Ref, t); err != nil {
			return nil, err
		}
	}
	return nil, tx.Back(x.Ref, space.NewPlace)
}

// unclaimable reports whether workers serve the action and all are claimants.
func (p Policy) unclaimable(tx space.Tx, i Item) bool {
	servers := status.Serving(tx, i.Action)
	for _, s := range servers {
		if !slices.Contains(i.Claimants, s.ID) {
			return false
		}
	}
	return len(servers) > 0 && len(i.Claimants) > 0
}

// unstick (action) lets the waiting tasks of an action that no live worker may
// claim be claimed again after a back-off: a worker that could have may have left.
func (p Policy) unstick(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	for _, e := range tx.Scan(Space, AnyOf(args.Str(0))) {
		i, err := Decode(e.Tuple)
		if err != nil || !p.unclaimable(tx, i) {
			continue
		}
		if err := p.backOff(tx, e.Ref); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
