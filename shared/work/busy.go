package work

import (
	"cmp"
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// page bounds the encoded size of one answer of busy, so that it is a valid tuple
// however large the fleet is. What one lease or result says always fits.
const page = tuple.MaxBytes / 2

// busy (action, after) returns (subject, parts) of every live lease, and of every
// result of the action that waits or is held: what is not to be issued again. It
// returns one page, of what came after the tuple with the ref after, the ref that
// ends the page, 0 for the last one, and how many results were ingested. A tuple that comes while the pages are
// read has a ref above all that were there, so none is passed over.
func busy(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	action, after := args.Str(0), args.Int64(1)
	var data []byte
	for _, e := range busyAfter(tx, action, after) {
		claimed := claimedBy(e).Append(nil)
		if len(data) > 0 && len(data)+len(claimed) > page {
			return tuple.New(data, after, ingestedSoFar(tx)), nil
		}
		data, after = append(data, claimed...), e.Ref
	}
	return tuple.New(data, int64(0), ingestedSoFar(tx)), nil
}

// busyAfter returns the leases and results whose ref is above after, in their
// order.
func busyAfter(tx space.Tx, action string, after int64) []space.Entry {
	all := tx.Scan(lease.Space, lease.Any())
	all = append(all, tx.Scan(task.Result, task.AnyResult(action))...)
	all = append(all, tx.Held(task.Result, task.AnyResult(action))...)
	all = slices.DeleteFunc(all, func(e space.Entry) bool { return e.Ref <= after })
	slices.SortFunc(all, func(a, b space.Entry) int { return cmp.Compare(a.Ref, b.Ref) })
	return all
}

// claimedBy returns (subject, parts) of a lease or a result.
func claimedBy(e space.Entry) tuple.Tuple {
	if e.Space == lease.Space {
		return tuple.New(e.Tuple.Str(3), e.Tuple.Str(4))
	}
	return tuple.New(e.Tuple.Str(2), e.Tuple.Str(3))
}

// unpack reads one page of busy.
func unpack(reply tuple.Tuple) (claimed []Claimed, after int64, err error) {
	if len(reply) != 3 {
		return nil, 0, fmt.Errorf("%s: %w: an answer of %d fields", procBusy, fault.ErrCorrupt, len(reply))
	}
	data, _ := reply[0].([]byte)
	for len(data) > 0 {
		t, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w: %w", procBusy, fault.ErrCorrupt, err)
		}
		claimed = append(claimed, Claimed{Subject: t.Str(0), Parts: lease.SplitParts(t.Str(1))})
		data = rest
	}
	return claimed, reply.Int64(1), nil
}
