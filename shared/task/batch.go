package task

import (
	"errors"
	"fmt"
	"slices"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// New is a task to create, without a lease.
type New struct {
	// Only Action, Subject, Data, Timeout and the options are used. Each of After is the Ref of another task of the
	// same request, or the id of an existing task.
	models.Task
	Priority   int64
	Ref        string // name within the request; may be empty
	OnConflict string // KeepFirst or Replace; empty: KeepFirst
	// Ended are parents that have ended and that the spaces no longer know.
	Ended []ParentResult
}

// What becomes of a new task whose unique key is taken.
const (
	KeepFirst = "keep"    // the first task stays as it is, and is the answer
	Replace   = "replace" // the first task gets its data and time; if it is claimed, one task follows it
)

func (n New) encode() tuple.Tuple {
	t, record := EncodeNew(Item{Task: n.Task, Priority: n.Priority})
	var ended []byte
	for _, r := range n.Ended {
		ended = r.encode().Append(ended)
	}
	return tuple.New(t, record, n.Ref, n.OnConflict, ended)
}

var newTemplate = tuple.Match(tuple.Formal{Type: tuple.Nested}, tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.Formal{Type: tuple.Bytes})

func encodeNews(all []New) ([]byte, error) {
	var data []byte
	for _, n := range all {
		if err := validData(n.Data); err != nil {
			return nil, err
		}
		if err := checkEncodable(n.TaskOptions); err != nil {
			return nil, err
		}
		data = n.encode().Append(data)
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("%d tasks: %w: they have %d bytes, at most %d in one request", len(all), fault.ErrTooLarge, len(data), maxAnswer)
	}
	return data, nil
}

// create (new tasks) creates tasks, all or none, and returns them.
func (p Policy) create(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	news, err := decodeNews(blobOf(args))
	if err != nil {
		return nil, err
	}
	created, err := p.createAll(tx, news)
	if err != nil {
		return nil, err
	}
	return tuple.New(encodeItems(created)), nil
}

// CreateIn creates tasks, all or none, in the transaction of another protocol's procedure, and returns them in their
// order. Tasks without a timeout get the default one. It fails as Client.CreateAll does, and with fault.ErrInvalid
// for a parent that only the history knows.
func CreateIn(tx space.Tx, all ...New) ([]Item, error) {
	data, err := encodeNews(withDefaults(all))
	if err != nil {
		return nil, err
	}
	reply, err := tx.Call(procCreate, tuple.New(data))
	if err != nil {
		return nil, err
	}
	return itemsOf(reply)
}

// WithKey returns the id of the live task that has a unique key, and reports whether there is one.
func WithKey(tx space.Tx, key string) (id string, alive bool) {
	e, alive := first(tx, keyLabel(key))
	return decodeHeader(e.Tuple).ID, alive
}

// Check refuses a task that could not be created at any time, with fault.ErrInvalid or
// fault.ErrTooLarge.
func (n New) Check() error {
	if err := checkNew(n.item()); err != nil {
		return err
	}
	switch {
	case n.OnConflict == "":
		return nil
	case n.OnConflict != KeepFirst && n.OnConflict != Replace:
		return fmt.Errorf("%w: on_conflict %.50q: want %s or %s", fault.ErrInvalid, n.OnConflict, KeepFirst, Replace)
	case n.UniqueKey == "":
		return fmt.Errorf("%w: on_conflict has no effect without unique_key", fault.ErrInvalid)
	}
	return nil
}

// item returns the task to create, without the fields of n that only the protocol sets.
func (n New) item() Item {
	return Item{Priority: n.Priority, Task: models.Task{
		Action: n.Action, Subject: n.Subject, Data: n.Data, Timeout: n.Timeout, TaskOptions: n.TaskOptions,
	}}
}

// createAll creates tasks in the order of their dependencies, and returns them in the order of the request.
func (p Policy) createAll(tx space.Tx, news []New) ([]Item, error) {
	order, refs, err := sortByParents(news)
	if err != nil {
		return nil, err
	}
	created := make([]Item, len(news))
	for _, n := range order {
		wanted := news[n]
		wanted.After = slices.Clone(wanted.After)
		for at, parent := range wanted.After {
			if local, ok := refs[parent]; ok {
				wanted.After[at] = created[local].ID
			}
		}
		if created[n], err = p.createOne(tx, wanted); err != nil {
			if len(news) > 1 {
				err = fmt.Errorf("task %d of %d: %w", n+1, len(news), err)
			}
			return nil, err
		}
	}
	return created, nil
}

// sortByParents returns the positions of the tasks in an order in which each comes behind its parents, and the
// positions of those with names. Any parent not named in the request is the id of an older task, and changes no
// order.
func sortByParents(news []New) (order []int, refs map[string]int, err error) {
	if refs, err = refsOf(news); err != nil {
		return nil, nil, err
	}
	// Kahn's algorithm: a task is appended to order when all its parents in the request are there.
	parentsLeft, children := make([]int, len(news)), make([][]int, len(news))
	for n, w := range news {
		for _, parent := range w.After {
			if local, ok := refs[parent]; ok {
				parentsLeft[n]++
				children[local] = append(children[local], n)
			}
		}
	}
	for n := range news {
		if parentsLeft[n] == 0 {
			order = append(order, n)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, child := range children[order[at]] {
			if parentsLeft[child]--; parentsLeft[child] == 0 {
				order = append(order, child)
			}
		}
	}
	if len(order) < len(news) {
		return nil, nil, fmt.Errorf("%w: the tasks wait for each other in a cycle", fault.ErrInvalid)
	}
	return order, refs, nil
}

// refsOf returns the positions of the named tasks, by name. A name is valid only within the request.
func refsOf(news []New) (map[string]int, error) {
	refs := map[string]int{}
	for n, w := range news {
		if w.Ref == "" {
			continue
		}
		if err := checkName("ref", w.Ref); err != nil {
			return nil, err
		}
		if _, twice := refs[w.Ref]; twice {
			return nil, fmt.Errorf("%w: two tasks have the ref %q", fault.ErrInvalid, w.Ref)
		}
		refs[w.Ref] = n
	}
	return refs, nil
}

// createOne creates one task without a lease, or resolves the conflict with the task that has its unique key. It
// returns the created or the kept task.
func (p Policy) createOne(tx space.Tx, n New) (Item, error) {
	i := n.item()
	if err := n.Check(); err != nil {
		return Item{}, err
	}
	if err := checkTimes(i.TaskOptions, tx.Now()); err != nil {
		return Item{}, err
	}
	if i.UniqueKey != "" {
		if e, taken := first(tx, keyLabel(i.UniqueKey)); taken {
			return p.resolveConflict(tx, e, i, n)
		}
	}
	return p.putNew(tx, i, n.Ended)
}

// putNew puts a new task whose unique key is its own, or that waits for the key. ended are parents that the history
// knows and the spaces may not. It returns the task as it is then: a parent that failed makes it a dead letter at
// once, and a task that its limit drops has the State "dropped".
func (p Policy) putNew(tx space.Tx, i Item, ended []ParentResult) (Item, error) {
	if err := checkParents(tx, i); err != nil {
		return Item{}, err
	}
	for _, r := range ended {
		if _, known := tx.Find(Data, matchParent(r.ID), nil); !known && slices.Contains(i.After, r.ID) {
			if err := retainEnd(tx, r); err != nil {
				return Item{}, err
			}
		}
	}
	pending, failed, err := pendingParents(tx, i)
	if err != nil {
		return Item{}, err
	}
	i.Pending = pending
	assignID(tx, &i)
	if failed != "" { // it is not placed, because its limit could cancel a running task for it
		t, a := tupleOf(i)
		ref, err := tx.Put(Space, t, space.PutOptions{Attributes: a})
		if err != nil {
			return Item{}, err
		}
		e, _ := tx.Entry(ref)
		return i, p.dieOf(tx, e, i, failed, failed)
	}
	known, err := p.put(tx, i, space.PutOptions{})
	if err != nil || known.ID != "" { // it can be claimed now; place has not changed it
		return known, err
	}
	_, now, err := find(tx, i.ID)
	if err != nil { // it is gone, because its limit dropped it
		i.State = "dropped"
		return i, nil
	}
	return now, nil
}

// resolveConflict is called for a new task i whose unique key the task of e has. With KeepFirst that task stays as it
// is. With Replace it gets the data and the time of i; if it is claimed, i is put and waits for the key, or the task
// that waits already gets them. It returns the task that stands for i then, Existing if it is not i; one that its
// limit drops has the State "dropped". It refuses to change a malformed task or one of another action.
func (p Policy) resolveConflict(tx space.Tx, e space.Entry, i Item, n New) (Item, error) {
	other, err := DecodeEntry(e)
	if err != nil || n.OnConflict != Replace {
		other.Existing = true
		return other, err
	}
	if other.CurrentClaimant != "" {
		next, waits := first(tx, nextKeyLabel(i.UniqueKey))
		if !waits {
			i.Behind = true
			return p.putNew(tx, i, n.Ended)
		}
		if other, err = DecodeEntry(next); err != nil {
			return other, err
		}
		e = next
	}
	if other.Action != i.Action {
		return Item{}, fmt.Errorf("task %s has the unique key %q, and is of action %s: its data cannot be replaced by those of a task of action %s: %w",
			other.ID, i.UniqueKey, other.Action, i.Action, fault.ErrConflict)
	}
	other.Data, other.NotBefore, other.RetryAt = i.Data, i.NotBefore, noTime
	if err := p.place(tx, e, other, space.OldPlace); err != nil {
		return Item{}, err
	}
	if err := p.freeSlots(tx, other.Limits); err != nil { // it may have been visible, and wait now
		return Item{}, err
	}
	if _, changed, err := find(tx, other.ID); !errors.Is(err, fault.ErrNotFound) {
		changed.Existing = true
		return changed, err
	}
	other.Existing, other.State = true, "dropped"
	return other, nil
}

// encodeItems returns tasks as one field, which decodeItems reads: for each its record and its
// tuple, without parents.
func encodeItems(items []Item) (data []byte) {
	for _, i := range items {
		data = plainTuple(i).Append(tuple.New(encodeRecord(i), int64(0)).Append(data))
	}
	return data
}
