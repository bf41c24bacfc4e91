package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var noTime time.Time

// ending is how a task ended.
type ending struct {
	state  State  // Resolved, StateDead or Cancelled
	note   string // for people
	result string // JSON; empty: none
}

// End is how and when a task ended.
type End struct {
	State  State // Resolved, Cancelled, or StateDead if its dead letter was discarded
	At     time.Time
	Worker string // that had it; empty: none had
	Note   string // for people
	Result string // JSON; empty: there is none, it is in the catalog (of a task under a lease), or the task is from a list
}

// finish ends a task that does not become a dead letter: it removes the task and calls afterEnd.
func (p Policy) finish(tx space.Tx, e space.Entry, i Item, state State, note, result string) error {
	if err := Remove(tx, e); err != nil {
		return err
	}
	return p.afterEnd(tx, e, i, ending{state: state, note: note, result: result})
}

// Withdraw ends an unclaimed task as cancelled, because its lease has ended. A malformed one is only removed, without
// a record of its end. It fails with fault.ErrNotFound if the task is gone.
func (p Policy) Withdraw(tx space.Tx, e space.Entry, note string) error {
	i, err := DecodeEntry(e)
	if err != nil {
		return Remove(tx, e)
	}
	return p.finish(tx, e, i, Cancelled, note, "")
}

// afterEnd does what follows when a task has left the space: the history gets its end, its children, the next task
// with its unique key and the tasks that wait for its limits go on, and its watchers get a tuple. e is its entry as
// it was. A dead letter has not ended yet.
func (p Policy) afterEnd(tx space.Tx, e space.Entry, i Item, end ending) error {
	noteEnd(tx, i, end.state)
	if end.state != StateDead {
		if err := recordEnd(tx, e, end); err != nil {
			return err
		}
	}
	if err := tellWatchers(tx, i.ID, end.state); err != nil {
		return err
	}
	if err := p.releaseChildren(tx, i.ID, end); err != nil {
		return err
	}
	if err := forgetParents(tx, i); err != nil {
		return err
	}
	if i.UniqueKey != "" {
		if err := p.offerKey(tx, i.UniqueKey); err != nil {
			return err
		}
	}
	return p.freeSlots(tx, i.Limits)
}

// offerKey gives a free unique key to the task that waits for it. If a task has the key, or none waits, it does
// nothing.
func (p Policy) offerKey(tx space.Tx, key string) error {
	if tx.CountLabelled(Space, keyLabel(key)) > 0 {
		return nil
	}
	e, ok := first(tx, nextKeyLabel(key))
	if !ok {
		return nil
	}
	i, err := DecodeEntry(e)
	if err != nil {
		return err
	}
	i.Behind = false
	return p.place(tx, e, i, space.NewPlace)
}

// maxEndedData is how large the data of a task may be to be kept after its end, because they
// were written once already.
const maxEndedData = 4 << 10

// recordEnd adds the end of a task or of a dead letter to the history. A task of a foreign client whose id is too
// long for a key leaves no end. If the record would not fit into an answer, it leaves out the subject, the parts, the
// attempts and the data.
func recordEnd(tx space.Tx, e space.Entry, end ending) error {
	h := decodeHeader(e.Tuple)
	if h.ID == "" || len(h.ID) > space.MaxHistoryKey {
		return nil
	}
	if h.Lease != "" { // a dead letter has none
		end.result = "" // its manager writes it into the catalog
	}
	if len(dataIn(e.Tuple)) > maxEndedData {
		e = withoutData(e)
	}
	value := encodeEnd(e, tx.Now(), end)
	if len(value) > maxAnswer {
		l := listedOf(e)
		l.Subject, l.Parts, l.History = "", nil, nil
		e.Tuple, e.Attributes = tupleOf(l.Item)
		value = encodeEnd(withoutData(e), tx.Now(), end)
	}
	return tx.RecordHistory(h.ID, string(value))
}

// Bounds of one page of ended tasks.
const (
	maxEndsExamined = 10_000
	maxEndsRead     = 8 << 20 // bytes
)

// Readers returns the procedures that read the history: the task that has ended with an id,
// and pages of them.
func Readers() space.Readers {
	return space.Readers{procEnded: readEnded, procListEnded: listEnded}
}

// readEnded (id) returns the record that encodeEnd wrote when the task ended.
func readEnded(ctx context.Context, h space.History, args tuple.Tuple) (tuple.Tuple, error) {
	id, err := parseEnded(args)
	if err != nil {
		return nil, err
	}
	found, ok, err := h.LatestHistory(ctx, id)
	if err == nil && !ok {
		err = fmt.Errorf("task %.200q: %w: it never was, or its end is no longer kept", id, fault.ErrNotFound)
	}
	return tuple.New([]byte(found.Value)), err
}

// listEnded (filter, limit, cursor) returns up to limit ended tasks, the latest first and without their results, and
// the next cursor, which is empty at the end. A page may be short before the end. A damaged record makes the whole
// page fail.
func listEnded(ctx context.Context, h space.History, args tuple.Tuple) (tuple.Tuple, error) {
	wanted, err := parseList(args)
	if err != nil {
		return nil, err
	}
	before := recordOf(wanted.cursor)
	var data []byte
	var wrong error
	next, more := before, false // the last record that was examined; whether the page ends before the history does
	examined, read, found := 0, 0, int64(0)
	now := time.Now()
	err = h.HistoryBefore(ctx, before, func(r space.HistoryRecord) bool {
		more = found == wanted.limit || examined == maxEndsExamined || read > maxEndsRead
		if more {
			return false
		}
		var l endedTask
		if l, wrong = decodeEnd(r.Value); wrong != nil {
			return false
		}
		one := encodeEnd(withoutData(l.entry), l.End.At, ending{state: l.End.State, note: l.End.Note})
		more = len(data)+len(one) > maxAnswer && len(data) > 0
		if more {
			return false
		}
		next, examined, read = r.Seq, examined+1, read+len(r.Value)
		if wanted.filter.selectsEnded(l.Listed, now) {
			found++
			data = tuple.New(one).Append(data)
		}
		return true
	})
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	if !more {
		return tuple.New(data, tuple.Tuple{}), nil
	}
	return tuple.New(data, tuple.New(next)), nil
}
