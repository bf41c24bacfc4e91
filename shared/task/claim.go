package task

import (
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// claim (action…) holds the first task of one of the actions that the caller has not
// given back, and returns its tuple. It waits until there is one.
func (p Policy) claim(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	actions, err := claimArgs(args)
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
	if err := holdUntilTimeout(tx, e.Ref, i); err != nil {
		return nil, err
	}
	if err := rewrite(tx, e.Ref, i); err != nil {
		return nil, err
	}
	return Encode(i)
}

// holdUntilTimeout holds a task for the caller for the task's timeout, from now. For a
// task that the caller already holds, it restarts the timeout.
func holdUntilTimeout(tx space.Tx, ref int64, i Item) error {
	timeout := i.Timeout.Duration()
	if err := tx.Hold(ref, space.HoldOptions{TTL: timeout, Expiry: procTimeout}); err != nil {
		return err
	}
	return showClaim(tx, Claim{Task: i.ID, Worker: tx.Caller(), Due: tx.Now().Add(timeout), Token: i.Token})
}

// firstFor returns the task with the highest priority that the caller may claim, and
// of several the oldest; ok is false if there is none. It skips malformed tasks, which
// ReviveStuck removes.
func (p Policy) firstFor(tx space.Tx, actions []string) (found space.Entry, item Item, ok bool) {
	keep := func(e space.Entry) bool {
		if !slices.Contains(actions, decodeHeader(e.Tuple).Action) {
			return false
		}
		i, err := decodeValid(e.Tuple)
		if err != nil || slices.Contains(i.Claimants, tx.Caller()) || i.Attempts > p.MaxAttempts {
			return false
		}
		item = i
		return true
	}
	template := Any() // cheap, because the queue is about as short as the number of slots
	if len(actions) == 1 {
		template = AnyOf(actions[0])
	}
	found, ok = tx.Find(Space, template, keep)
	return found, item, ok
}

// findHeld returns the task of that id if the caller holds it with that token; else
// fault.ErrStaleToken.
func findHeld(tx space.Tx, id string, token int64) (space.Entry, Item, error) {
	for _, e := range tx.Held(Space, WithID(id)) {
		if e.Holder == tx.Caller() && decodeHeader(e.Tuple).Token == token {
			i, err := Decode(e.Tuple)
			return e, i, err
		}
	}
	return space.Entry{}, Item{}, fmt.Errorf("task %q: token %d of %s: %w", id, token, tx.Caller(), fault.ErrStaleToken)
}

// extend (id, token) restarts the timeout.
func extend(tx space.Tx, id string, token int64) (tuple.Tuple, error) {
	e, i, err := findHeld(tx, id, token)
	if err != nil {
		return nil, err
	}
	return nil, holdUntilTimeout(tx, e.Ref, i)
}
