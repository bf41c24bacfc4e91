package task

import (
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// claim (action…) takes hold of the first task of one of the actions that does
// not list the caller as a claimant, and returns its tuple. It waits for one.
func (p Policy) claim(tx space.Tx, actions tuple.Tuple) (tuple.Tuple, error) {
	if len(actions) == 0 {
		return nil, fmt.Errorf("%s: %w: at least one action is wanted", procClaim, fault.ErrInvalid)
	}
	e, i, ok := p.firstFor(tx, actions)
	if !ok {
		awaited := make([]space.Awaited, len(actions))
		for n := range actions {
			awaited[n] = space.Awaited{Space: Space, Template: AnyOf(actions.Str(n))}
		}
		return nil, tx.Wait(awaited...)
	}
	i.CurrentClaimant, i.ClaimedAt, i.State = tx.Caller(), tx.Now(), ""
	t, err := Encode(i)
	if err != nil {
		return nil, err
	}
	if err := tx.Replace(e.Ref, t); err != nil {
		return nil, err
	}
	return t, hold(tx, e.Ref, i)
}

// hold gives the caller a task for as long as its timeout, from now.
func hold(tx space.Tx, ref int64, i Item) error {
	timeout := i.Timeout.Duration()
	if err := tx.Hold(ref, space.HoldOptions{TTL: timeout, Expiry: procTimeout}); err != nil {
		return err
	}
	return showClaim(tx, i, tx.Caller(), tx.Now().Add(timeout))
}

// firstFor returns, of the tasks that the caller may claim, the one with the
// highest priority, and of these the oldest.
func (p Policy) firstFor(tx space.Tx, actions tuple.Tuple) (found space.Entry, item Item, ok bool) {
	var candidate Item
	suits := func(e space.Entry) bool {
		i, err := Decode(e.Tuple)
		candidate = i
		return err == nil && !slices.Contains(i.Claimants, tx.Caller()) && i.Attempts <= p.MaxAttempts
	}
	if len(actions) == 1 {
		e, ok := tx.Find(Space, AnyOf(actions.Str(0)), suits)
		return e, candidate, ok
	}
	e, ok := tx.Find(Space, Any(), func(e space.Entry) bool {
		return slices.Contains(actions, any(e.Tuple.Str(1))) && suits(e)
	})
	return e, candidate, ok
}

// heldBy returns the task of that id if the caller holds it with that token;
// else fault.ErrStaleToken: it is somebody else's by now, or nobody's.
func heldBy(tx space.Tx, id string, token int64) (space.Entry, Item, error) {
	for _, e := range tx.Held(Space, withID(id)) {
		i, err := Decode(e.Tuple)
		if err != nil {
			return space.Entry{}, Item{}, err
		}
		if e.Holder == tx.Caller() && i.Token == token {
			return e, i, nil
		}
	}
	return space.Entry{}, Item{}, fmt.Errorf("task %s: token %d of %s: %w", id, token, tx.Caller(), fault.ErrStaleToken)
}

// extend (id, token) lets the timeout begin anew.
func extend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, i, err := heldBy(tx, args.Str(0), args.Int64(1))
	if err != nil {
		return nil, err
	}
	return nil, hold(tx, e.Ref, i)
}
