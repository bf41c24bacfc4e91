package task

import (
	"fmt"
	"slices"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// claim (action…) takes hold of the first task of one of the actions that does
// not list the caller as a claimant, and returns its tuple. It waits for one.
func (p Policy) claim(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	actions, err := actionsOf(args)
	if err != nil {
		return nil, err
	}
	e, i, ok := p.firstFor(tx, actions)
	if !ok {
		awaited := make([]space.Awaited, len(actions))
		for n, action := range actions {
			awaited[n] = space.Awaited{Space: Space, Template: AnyOf(action)}
		}
		return nil, tx.Wait(awaited...)
	}
	i.CurrentClaimant, i.ClaimedAt, i.State = tx.Caller(), tx.Now(), ""
	if err := hold(tx, e.Ref, i); err != nil {
		return nil, err
	}
	if err := rewrite(tx, e.Ref, i); err != nil {
		return nil, err
	}
	return Encode(i)
}

func actionsOf(args tuple.Tuple) ([]string, error) {
	actions := make([]string, len(args))
	for n := range args {
		actions[n] = args.Str(n)
		if !models.ValidID(actions[n]) {
			return nil, fmt.Errorf("%s: %w: action %.100q is no id", procClaim, fault.ErrInvalid, fmt.Sprint(args[n]))
		}
	}
	if len(actions) == 0 {
		return nil, fmt.Errorf("%s: %w: at least one action is wanted", procClaim, fault.ErrInvalid)
	}
	return actions, nil
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
func (p Policy) firstFor(tx space.Tx, actions []string) (found space.Entry, item Item, ok bool) {
	suits := func(e space.Entry) bool {
		if !slices.Contains(actions, e.Tuple.Str(1)) {
			return false
		}
		i, err := sound(e.Tuple)
		if err != nil || slices.Contains(i.Claimants, tx.Caller()) || i.Attempts > p.MaxAttempts {
			return false
		}
		item = i
		return true
	}
	template := Any() // the queue is about as short as the fleet is large
	if len(actions) == 1 {
		template = AnyOf(actions[0])
	}
	found, ok = tx.Find(Space, template, suits)
	return found, item, ok
}

// heldBy returns the task of that id if the caller holds it with that token;
// else fault.ErrStaleToken: it is somebody else's by now, or nobody's.
func heldBy(tx space.Tx, id string, token int64) (space.Entry, Item, error) {
	for _, e := range tx.Held(Space, withID(id)) {
		if e.Holder != tx.Caller() || e.Tuple.Int64(4) != token {
			continue
		}
		i, err := Decode(e.Tuple)
		return e, i, err
	}
	return space.Entry{}, Item{}, fmt.Errorf("task %q: token %d of %s: %w", id, token, tx.Caller(), fault.ErrStaleToken)
}

// extend (id, token) lets the timeout begin anew.
func extend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, i, err := heldBy(tx, args.Str(0), args.Int64(1))
	if err != nil {
		return nil, err
	}
	return nil, hold(tx, e.Ref, i)
}
