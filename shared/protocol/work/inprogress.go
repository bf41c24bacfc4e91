package work

import (
	"cmp"
	"slices"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// pageBytes bounds the encoded size of one answer of work.busy, so that it is a valid
// tuple for any number of leases. One lease or result always fits.
const pageBytes = tuple.MaxBytes / 2

// inProgress (action, after) returns one page of the subjects and parts that must not be issued again: the ones of
// every live lease, and of every result of the action that waits or is held. The page starts behind the tuple with
// the ref after, and names the last ref that it has, or 0 if it is the last page. A tuple put while a client reads
// the pages has a higher ref than all earlier ones, so no page misses it. Each page also has the number of results
// that were ingested so far. The client keeps the number of its first page, so that issue refuses a selection if a
// result of its subject was ingested since.
func inProgress(tx space.Tx, action string, after int64) (tuple.Tuple, error) {
	all := tx.Scan(lease.Space, lease.Any())
	all = append(all, tx.Scan(task.Result, task.AnyResult(action))...)
	all = append(all, tx.Held(task.Result, task.AnyResult(action))...)
	all = slices.DeleteFunc(all, func(e space.Entry) bool { return e.Ref <= after })
	slices.SortFunc(all, func(a, b space.Entry) int { return cmp.Compare(a.Ref, b.Ref) })

	page := inProgressPage{ingested: totalIngested(tx)}
	for _, e := range all {
		reserved := encodeReserved(e).Append(nil)
		if len(page.data) > 0 && len(page.data)+len(reserved) > pageBytes {
			page.after = after
			return page.encode(), nil
		}
		page.data, after = append(page.data, reserved...), e.Ref
	}
	return page.encode(), nil
}
