package main

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// runs is the space of sorted runs.
const runs = "run"

// procedures are the two transactions of the sort.
func procedures(lease time.Duration) space.Procedures {
	return space.Procedures{
		"sort.take":  space.WithArgs(tuple.Match(), func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) { return take(tx, lease) }),
		"sort.merge": space.WithArgs(anyMergeArgs, merge),
	}
}

// take holds two runs for the caller for the duration of a lease, and returns their refs and numbers. If there
// are fewer than two it waits and takes none, because two workers with one run each would wait for each other
// forever.
func take(tx space.Tx, lease time.Duration) (tuple.Tuple, error) {
	found := tx.Scan(runs, anyRun)
	if len(found) < 2 {
		return nil, tx.Wait(space.Awaited{Space: runs, Template: anyRun})
	}
	for _, e := range found[:2] {
		if err := tx.Hold(e.Ref, space.HoldOptions{TTL: lease}); err != nil {
			return nil, err
		}
	}
	a, b := found[0], found[1]
	return pair{a.Ref, b.Ref, decodeRun(a.Tuple).Numbers, decodeRun(b.Tuple).Numbers}.encode(), nil
}

// merge (ref, ref, length, numbers) replaces the two runs that the caller holds by one.
// If the lease has ended, it changes nothing and returns fault.ErrStaleToken.
func merge(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	m := decodeMergeArgs(args)
	for _, ref := range m.Refs {
		e, there := tx.Entry(ref)
		if !there || !e.Held || e.Holder != tx.Caller() {
			return nil, fmt.Errorf("sort.merge: %w: the lease has ended", fault.ErrStaleToken)
		}
		if err := tx.Done(e.Ref); err != nil {
			return nil, err
		}
	}
	_, err := tx.Put(runs, m.Merged.encode(), space.PutOptions{})
	return tuple.New(), err
}
