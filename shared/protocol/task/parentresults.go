package task

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// carriedResults is parentEnds with at most maxCarried bytes of results: those that do not fit are left out.
func carriedResults(tx space.Tx, i Item) []ParentResult {
	all, size := parentEnds(tx, i), 0
	for n, r := range all {
		if size+len(r.Result) > maxCarried {
			all[n].Result, all[n].LeftOut = "", true
		} else {
			size += len(r.Result)
		}
	}
	return all
}

// Parents returns how the parents of a task that is alive or a dead letter ended, in the order of After, with all of
// their results. Parents that have not ended are left out. It reads as much at a time as one answer carries, and ends
// after an error: fault.ErrNotFound if the task has ended or never was, fault.ErrCorrupt if it is malformed.
func (c Client) Parents(ctx context.Context, id string) iter.Seq2[ParentResult, error] {
	return func(yield func(ParentResult, error) bool) {
		for from := 0; ; {
			all, next, err := c.ParentsFrom(ctx, id, from)
			for _, r := range all {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(ParentResult{}, err)
			}
			if err != nil || next == 0 {
				return
			}
			from = next
		}
	}
}

// ParentsFrom is one page of Parents, from a position in After on, and the position of the next page; 0 at the end.
func (c Client) ParentsFrom(ctx context.Context, id string, from int) (all []ParentResult, next int, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procParents, tuple.New(id, int64(from)))
	if err != nil {
		return nil, 0, err
	}
	data := blobOf(reply)
	for len(data) > 0 {
		t, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w: %w", procParents, fault.ErrCorrupt, err)
		}
		all, data = append(all, decodeParent(t)), rest
	}
	next = pageAfter(reply)
	if next != 0 && next <= from {
		return all, 0, fmt.Errorf("%s: %w: page %d follows %d", procParents, fault.ErrCorrupt, next, from)
	}
	return all, next, nil
}

// parents (id, from) returns how the parents of a task ended, from a position in After on as many as fit into an
// answer, but at least one; and the position of the next ones, 0 at the end.
func parents(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	id, from := parentsOf(args)
	_, i, err := find(tx, id)
	if errors.Is(err, fault.ErrNotFound) {
		if e, l, deadErr := findDead(tx, id); e.Ref != 0 {
			i, err = l.Item, deadErr
		}
	}
	if err != nil {
		return nil, err
	}
	var data []byte
	next := int64(0)
	for n := max(from, 0); n < int64(len(i.After)); n++ {
		e, ended := tx.Find(Data, matchParent(i.After[n]), nil)
		if !ended {
			continue
		}
		if len(data) > 0 && len(data)+e.Tuple.Size() > maxAnswer {
			next = n
			break
		}
		data = e.Tuple.Append(data)
	}
	return tuple.New(data, next), nil
}
