package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// This file is the way of a new task from the client's call to its put: the client sends it
// (createKnowing), the procedure creates each behind its parents (createAll, createOne) and puts it
// (putNew, put). The checks are in check.go.

// Create puts a task that has no lease. Only Action, Subject, Data, Timeout and the options of t are used. It fails
// as CreateAll does, and with fault.ErrInvalid for a timeout of 0.
func (c Client) Create(ctx context.Context, t models.Task, priority int64) (Item, error) {
	all, err := c.CreateAll(ctx, New{Task: t, Priority: priority})
	if err != nil {
		return Item{}, err
	}
	return all[0], nil
}

// CreateAll creates tasks, all or none, and returns them in their order. At most MaxCreate tasks and about 1 MiB fit
// into one call; more fail with fault.ErrTooLarge or fault.ErrInvalid. Other errors: fault.ErrInvalid for values out
// of range; fault.ErrNotFound for an unknown parent; fault.ErrConflict for a cycle, a ref of two tasks, times that
// contradict each other or are ten years away, and if Replace would change a task of another action;
// fault.ErrForbidden for models.ActionVisit; fault.ErrOverloaded if the space is full.
func (c Client) CreateAll(ctx context.Context, all ...New) ([]Item, error) {
	var reply tuple.Tuple
	if err := c.createKnowing(ctx, all, func(news []byte) (err error) {
		reply, err = c.call(ctx, procCreate, tuple.New(news))
		return err
	}); err != nil {
		return nil, err
	}
	return itemsOf(reply)
}

// withDefaults gives tasks without a timeout the default one.
func withDefaults(all []New) []New {
	filled := make([]New, len(all))
	for n, w := range all {
		if w.Timeout == 0 {
			w.Timeout = DefaultTimeout
		}
		filled[n] = w
	}
	return filled
}

// createKnowing calls create with new tasks. If that fails with fault.ErrNotFound, the reason may be a parent that
// only the history knows; then it calls create again with the ends that the history has. If it has none or cannot be
// read, the first error is returned; if the tasks could not be created with any parents, the reason of that.
func (c Client) createKnowing(ctx context.Context, all []New, create func(news []byte) error) error {
	data, err := encodeNews(all)
	if err == nil {
		err = create(data)
	}
	if !errors.Is(err, fault.ErrNotFound) {
		return err
	}
	if invalid := checkAll(all); invalid != nil {
		return invalid
	}
	known, found := c.withEnded(ctx, all)
	if !found {
		return err
	}
	if data, err = encodeNews(known); err == nil {
		err = create(data)
	}
	return err
}

// withEnded returns new tasks with the ends of their parents, as far as the history knows them. found reports whether
// it knows any, and could be read. It asks for each parent once, and not for parents named in the request. It does
// not change all.
func (c Client) withEnded(ctx context.Context, all []New) (known []New, found bool) {
	asked := map[string]*ParentResult{} // nil: the history does not know it
	for _, n := range all {
		if n.Ref != "" {
			asked[n.Ref] = nil
		}
	}
	known = slices.Clone(all)
	for n := range known {
		for _, parent := range known[n].After {
			end, again := asked[parent]
			if !again {
				var err error
				if end, err = c.endOf(ctx, parent); err != nil {
					return nil, false
				}
				asked[parent] = end
			}
			if end != nil {
				found = true
				known[n].Ended = append(slices.Clone(known[n].Ended), *end)
			}
		}
	}
	return known, found
}

// endOf returns how a task ended; nil if the history does not know it.
func (c Client) endOf(ctx context.Context, id string) (*ParentResult, error) {
	reads := c.Reads
	if reads == nil {
		reads = c.Repo
	}
	reply, err := reads.Call(ctx, space.OpID{}, procEnded, tuple.New(id))
	if errors.Is(err, fault.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l, err := decodeEnd(string(blobOf(reply)))
	if err != nil {
		return nil, err
	}
	return &ParentResult{ID: id, State: l.End.State, Result: l.End.Result}, nil
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
// order. Tasks without a timeout get the default one. It fails as Client.CreateAll does, and with fault.ErrNotFound
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
// once, and its limit may drop it.
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
		if err := p.dieOf(tx, e, i, failed, failed); err != nil {
			return Item{}, err
		}
		return asCreated(tx, i, StateDead, failed)
	}
	known, err := p.put(tx, i, space.PutOptions{})
	if err != nil || known.ID != "" { // it can be claimed now; place has not changed it
		return known, err
	}
	return asCreated(tx, i, Cancelled, droppedBy(fullLimit(tx, space.Entry{}, i)))
}

// asCreated returns a task that was put or changed as it is now. If it is gone already, it ended so, for that reason.
func asCreated(tx space.Tx, i Item, end State, reason string) (Item, error) {
	_, now, err := find(tx, i.ID)
	if errors.Is(err, fault.ErrNotFound) {
		i.EndedAs, i.State = end, reason
		return i, nil
	}
	return now, err
}

// assignID gives a new task its id, and a token if it has none.
func assignID(tx space.Tx, i *Item) {
	n := tx.NextToken()
	tx.Note(Event{Kind: EventCreated, Action: i.Action})
	i.ID, i.CreatedAt = "t"+strconv.FormatInt(n, 10), tx.Now()
	if i.Token == 0 {
		i.Token = n
	}
}

// nearlyFull is the part of the places of the space task from which the share of each action is bounded: fewer than one
// in so many is free.
const nearlyFull = 10

// checkShare refuses a task without a lease with fault.ErrOverloaded if the space is nearly full and its action has
// more tasks than are free, or if memory is nearly used up and the action's tasks have more of it than is left. So one
// action that fills the space leaves places and memory for others, however many they are. A task under a lease uses
// the reserve; managers issue no more of them than workers have slots.
func checkShare(tx space.Tx, i Item) error {
	if i.Lease != "" {
		return nil
	}
	if free, capacity := tx.Free(Space); free < capacity/nearlyFull {
		if n := countLive(tx, i.Action); n > free {
			return fmt.Errorf("action %s has %d tasks, and there are places for %d more of all actions: %w", i.Action, n, free, fault.ErrOverloaded)
		}
	}
	if used, left, nearlyFull := tx.Share(Space, i.Action); nearlyFull && used > left {
		return fmt.Errorf("action %s: its tasks have %d kB of the memory, and %d kB are left for all actions: %w; tasks of other actions are accepted, and of this one once it has less than is left",
			i.Action, used>>10, left>>10, fault.ErrOverloaded)
	}
	return nil
}

// countLive counts the tasks of an action that have not ended, in all states.
func countLive(tx space.Tx, action string) int {
	n := tx.Count(Space, AnyOf(action))
	for _, s := range []State{Claimed, StateDelayed, StateBlocked, StatePaused, inBackOff, behindLimit} {
		n += tx.CountLabelled(Space, stateLabel(s, action))
	}
	return n
}

// put puts a new task into the space, and hides it if it cannot be claimed yet. It returns the task as it is then,
// unless place is to decide: then the task has no id.
func (p Policy) put(tx space.Tx, i Item, o space.PutOptions) (Item, error) {
	o.Reserve = i.Lease != ""
	if err := checkShare(tx, i); err != nil {
		return Item{}, err
	}
	if !i.ExpiresAt.IsZero() {
		o.TTL, o.Expiry = max(i.ExpiresAt.Sub(tx.Now()), time.Nanosecond), procExpireTask
	}
	visible := i.simple() && !isPaused(tx, i.Action)
	if visible {
		i.queued = true
		o.Turn = nextTurn(tx, 0, i)
	}
	t, a := tupleOf(i)
	o.Fields, o.Labels = a.Fields, a.Labels
	ref, err := tx.Put(Space, t, o)
	if err != nil || visible {
		return i, err
	}
	e, _ := tx.Entry(ref)
	return Item{}, p.place(tx, e, i, space.OldPlace)
}

// simple reports whether a new task can be claimed at once, if its action is not paused.
func (i Item) simple() bool {
	return i.NotBefore.IsZero() && len(i.Pending) == 0 && !i.Behind && len(i.Limits) == 0
}

// resolveConflict is called for a new task i whose unique key the task of e has. With KeepFirst that task stays as it
// is. With Replace it gets the data and the time of i; if it is claimed, i is put and waits for the key, or the task
// that waits already gets them. It returns the task that stands for i then, Existing if it is not i; its limit may have
// dropped it. It refuses to change a malformed task or one of another action.
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
	changed, err := asCreated(tx, other, Cancelled, droppedBy(fullLimit(tx, space.Entry{}, other)))
	changed.Existing = true
	return changed, err
}

// Spec describes a task that a procedure creates for work that a manager selected.
type Spec struct {
	models.Task // only Action, Subject, Parts, Data, Timeout, ResultTuple and ResultTTL are used
	Lease       string
	Token       int64 // the lease's; 0: a new one
	Priority    int64
	TTL         time.Duration // in the queue; 0: for ever
	Expiry      string        // procedure at the end of the TTL
}

// Create puts a task into the queue. It fails with fault.ErrTooLarge for data over maxData, because the task's
// history must still fit into an answer. Errors are also those of Client.CreateAll for a single task.
func Create(tx space.Tx, s Spec) (Item, error) {
	i := Item{Lease: s.Lease, Token: s.Token, Priority: s.Priority, Task: models.Task{
		Action: s.Action, Subject: s.Subject, Parts: slices.Compact(slices.Sorted(slices.Values(s.Parts))),
		Data: s.Data, Timeout: s.Timeout, QueueTTL: models.SecondsOf(s.TTL),
	}}
	i.ResultTuple, i.ResultTTL = s.ResultTuple, s.ResultTTL
	if err := checkNew(i); err != nil {
		return Item{}, fmt.Errorf("task.Create: %w", err)
	}
	assignID(tx, &i)
	if _, err := (Policy{}).put(tx, i, space.PutOptions{TTL: s.TTL, Expiry: s.Expiry}); err != nil { // without options, no policy applies
		return Item{}, fmt.Errorf("task.Create: %w", err)
	}
	return i, nil
}
