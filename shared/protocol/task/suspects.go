package task

import (
	"cmp"
	"context"
	"slices"

	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// maxSuspects is how many suspects one call returns.
const maxSuspects = 20

// Suspects returns the tasks whose workers were lost so often that they are claimed alone: those that wait, and those
// that a live worker has; at most 20, without their data.
func (c Client) Suspects(ctx context.Context) ([]Listed, error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procSuspects, nil)
	if err != nil {
		return nil, err
	}
	all, _, err := decodePage(reply)
	return all, err
}

// suspects () returns a page of them, in the form of list. It looks at the workers, not at the tasks.
func suspects(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	found := withLabel(tx, Space, suspectLabel, maxSuspects)
	sessions := map[string]bool{}
	for _, e := range tx.Scan(status.Space, status.MatchServing(tuple.AnyString, tuple.AnyString)) {
		sessions[status.DecodeServing(e.Tuple).ID] = true
	}
	for session := range sessions {
		if e, ok := first(tx, aloneLabel(session)); ok && e.Held {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b space.Entry) int { return cmp.Compare(a.Ref, b.Ref) })
	found = slices.CompactFunc(found, func(a, b space.Entry) bool { return a.Ref == b.Ref })
	var data []byte
	explain := newExplainer(tx)
	for _, e := range found[:min(len(found), maxSuspects)] {
		e = withoutData(e)
		why := explain.listed(e, listedOf(e))
		data = tuple.New(e.Holder, e.Fields, why.Code, truncate(why.Text)).Append(data) // decodePage reads both
		data = e.Tuple.Append(data)
	}
	return tuple.New(data, tuple.Tuple{}), nil
}
