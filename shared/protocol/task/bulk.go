package task

import (
	"context"
	"errors"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The verbs of a Bulk.
const (
	BulkCount   = "count" // changes nothing
	BulkRequeue = "requeue"
	BulkDiscard = "discard"
	BulkCancel  = "cancel"
)

// Bounds of one call of task.bulk.
const (
	// MaxBulk is how many tasks one call changes.
	MaxBulk      = 100
	maxBulkBytes = 1 << 20 // of their tuples, or one task
	maxCounted   = 2000    // tasks that a count looks at
)

// Bulk is a change of all tasks that a filter selects: of dead letters to requeue and to discard, of live tasks to
// cancel. Ended tasks cannot be selected.
type Bulk struct {
	Verb   string
	Filter Filter
	Reason string // of a cancel, for people
	Max    int    // tasks that a call changes or refuses at most; up to MaxBulk
}

// BulkPart is what one call did.
type BulkPart struct {
	Count   int       // tasks that a count found
	Done    []string  // ids of the tasks that were changed, with those that a parent brought along
	Refused []Refused // that could not be changed
	Next    Cursor    // where the next call goes on; empty at the end
}

// Refused is a task that a bulk did not change.
type Refused struct {
	ID  string
	Err error
	// Selectable reports that a manager selects the work of this dead letter again, so that it is requeued by
	// Client.Requeue without putting it, after its problems were lifted in the catalog. Err is fault.ErrConflict.
	Selectable bool
}

// Bulk changes up to Max of the tasks that a filter selects, from a cursor on, in one transaction. Each task is changed
// as by Requeue, Discard or Cancel, or refused with the error of that. A call looks at a bounded number of tasks, so
// that a part may be empty before the end. Calls with the cursors of earlier parts go on; a repeated one does nothing
// twice, because a task that was changed is not selected again. It fails with fault.ErrInvalid for another verb, a
// filter of ended tasks and a Max out of range.
func (c Client) Bulk(ctx context.Context, b Bulk, from Cursor) (BulkPart, error) {
	args := tuple.New(b.Verb, b.Filter.encode(), int64(b.Max), append(tuple.Tuple{}, from...), b.Reason)
	reply, err := c.call(ctx, procBulk, args)
	if err != nil {
		return BulkPart{}, err
	}
	return decodeBulk(reply)
}

// bulk (verb, filter, limit, cursor, reason) is Client.Bulk. It returns the number of tasks that a count found, the ids
// of those that were changed, (id, code, text, selectable) of those that were refused, and the next cursor.
func (p Policy) bulk(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	w, err := parseBulk(args)
	if err != nil {
		return nil, err
	}
	if n, known := countAtOnce(tx, w); known {
		return bulkReply(n, nil, nil, nil), nil
	}
	selected, examined, next := w.selected(tx)
	if w.Verb == BulkCount {
		return bulkReply(examined, nil, nil, next), nil
	}
	var done []string
	var refused []Refused
	for _, e := range selected {
		id := idIn(e)
		if _, there := tx.Entry(e.Ref); !there {
			done = append(done, id) // it came along with a parent
			continue
		}
		if w.Verb == BulkRequeue && p.isSelectable(e) {
			refused = append(refused, Refused{ID: id, Err: fault.ErrConflict, Selectable: true})
			continue
		}
		switch err := p.changeOne(tx, w, id); {
		case errors.Is(err, fault.ErrOverloaded):
			return nil, err // it would be so for the others too
		case err != nil:
			refused = append(refused, Refused{ID: id, Err: err})
		default:
			done = append(done, id)
		}
	}
	left := refused[:0]
	for _, r := range refused { // a parent that came later may have brought a child along
		if _, _, err := findDead(tx, r.ID); w.Verb == BulkRequeue && errors.Is(err, fault.ErrNotFound) {
			done = append(done, r.ID)
		} else {
			left = append(left, r)
		}
	}
	return bulkReply(0, done, left, next), nil
}

// isSelectable reports whether a manager selects the work of a dead letter again.
func (p Policy) isSelectable(e space.Entry) bool {
	l, err := DecodeDeadLetter(e)
	return err == nil && len(l.SelectedWork()) > 0
}

// changeOne calls the procedure of a verb for one task; a refused one changes nothing.
func (p Policy) changeOne(tx space.Tx, w bulkWanted, id string) error {
	var err error
	switch w.Verb {
	case BulkRequeue:
		_, err = tx.Call(procRequeue, tuple.New(id, true))
	case BulkDiscard:
		_, err = tx.Call(procDiscard, tuple.New(id))
	default:
		_, err = tx.Call(procCancel, tuple.New(id, w.Reason))
	}
	return err
}

// countAtOnce counts what a filter without any field but its action selects, at the same cost for any number.
func countAtOnce(tx space.Tx, w bulkWanted) (n int, ok bool) {
	plain := Filter{State: w.Filter.State, Action: w.Filter.Action}
	if w.Verb != BulkCount || w.Filter != plain || len(w.cursor) > 0 || plain.Action == "" {
		return 0, false
	}
	counts := countsOf(tx, plain.Action)
	if plain.State != "" {
		return int(counts[plain.State]), true
	}
	for state, of := range counts {
		if state != StateDead {
			n += int(of)
		}
	}
	return n, true
}

// selected returns the next tasks that the filter selects, as many as one call may change, and where to go on. For a
// count it returns how many of the tasks that it looked at are selected.
func (w bulkWanted) selected(tx space.Tx) (all []space.Entry, count int, next tuple.Tuple) {
	walks, most := w.Filter.walks(), maxExamined
	if w.Verb == BulkCount {
		most = maxCounted
	}
	at, after := placeOf(w.cursor, len(walks))
	examined, size, full, now := 0, 0, false, tx.Now()
	for ; at < len(walks); at, after = at+1, (space.Position{}) {
		walk := walks[at]
		walk.After = after
		tx.Walk(walk, func(e space.Entry) bool {
			full = examined == most || len(all) == w.Max || size > maxBulkBytes
			if full {
				return false
			}
			after = e.Position
			examined++
			if !w.Filter.selects(listedOf(e), now) {
				return true
			}
			count++
			if w.Verb != BulkCount {
				all, size = append(all, e), size+e.Tuple.Size()
			}
			return true
		})
		if full {
			return all, count, append(tuple.New(int64(at)), encodePosition(after)...)
		}
	}
	return all, count, nil
}
