package task

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// A Limit bounds the tasks that name it. It applies to tasks that are claimed later.
type Limit struct {
	Name string
	Max  int64   // tasks that may be claimed at a time; 0: any number
	Rate float64 // tasks that may be claimed in a second, with bursts of as many; 0: any number
}

// limitTuple is a limit with the state of its rate: the theoretical arrival time of the
// generic cell rate algorithm (ITU-T I.371), in nanoseconds of the engine's clock.
type limitTuple struct {
	Limit
	next int64
}

func (l limitTuple) encode() tuple.Tuple { return tuple.New("limit", l.Name, l.Max, l.Rate, l.next) }

// matchLimit matches limits; the name may be a formal.
func matchLimit(name any) tuple.Template {
	return tuple.Match("limit", name, tuple.AnyInt64, tuple.Formal{Type: tuple.Float64}, tuple.AnyInt64)
}

// limitedAction is the tuple that tells that tasks of an action are hidden until a limit has
// a free slot.
func limitedAction(limit, action any) tuple.Tuple { return tuple.New("limited", limit, action) }

// findLimit returns the limit of that name, and reports whether it is set.
func findLimit(tx space.Tx, name string) (e space.Entry, l limitTuple, ok bool) {
	e, ok = tx.Find(Data, matchLimit(name), nil)
	if ok {
		l = decodeLimit(e.Tuple)
	}
	return e, l, ok
}

// interval returns the time between two tasks at the rate, which must not be 0.
func (l limitTuple) interval() time.Duration {
	return time.Duration(float64(time.Second) / l.Rate)
}

// wait returns how long no task may be claimed because of the rate; 0 if one may be now. A limit
// of r tasks in a second permits bursts of r, so next may be a second less one interval ahead of
// now.
func (l limitTuple) wait(now time.Duration) time.Duration {
	if l.Rate == 0 {
		return 0
	}
	burst := max(time.Second-l.interval(), 0)
	return max(time.Duration(l.next)-burst-now, 0)
}

// free returns how many more tasks may be claimed now. The slot of the task of an entry, if it
// is claimed, counts as free, because that task leaves its worker.
func (l limitTuple) free(tx space.Tx, e space.Entry) int {
	if l.wait(tx.Elapsed()) > 0 {
		return 0
	}
	if l.Max == 0 {
		return math.MaxInt
	}
	used := tx.CountLabelled(Space, slotLabel(l.Name))
	if slices.Contains(e.Labels, slotLabel(l.Name)) {
		used--
	}
	return max(int(l.Max)-used, 0)
}

// fullLimit returns the first limit of a task that has no free slot for it; empty if all
// have. e is its entry.
func fullLimit(tx space.Tx, e space.Entry, i Item) string {
	for _, name := range i.Limits {
		if _, l, ok := findLimit(tx, name); ok && l.free(tx, e) == 0 {
			return name
		}
	}
	return ""
}

// takeRate counts a claim at the rates of a task's limits. Limits that are not set, and those without a rate, are
// skipped.
func takeRate(tx space.Tx, i Item) error {
	for _, name := range i.Limits {
		e, l, ok := findLimit(tx, name)
		if !ok || l.Rate == 0 {
			continue
		}
		l.next = max(l.next, int64(tx.Elapsed())) + int64(l.interval())
		if err := tx.Replace(e.Ref, l.encode()); err != nil {
			return err
		}
	}
	return nil
}

// meetLimit is called for a task that could be claimed but for a limit. By its OnLimit, it drops the task, or cancels
// a running one for it (cancelRunning), or hides the task until a slot is free. It hides it also if no task can be
// cancelled, or the rate is the reason.
func (p Policy) meetLimit(tx space.Tx, e space.Entry, i Item, limit string) error {
	_, l, _ := findLimit(tx, limit)
	switch {
	case i.OnLimit == models.Drop:
		return p.finish(tx, e, i, Cancelled, droppedBy(limit), "")
	case i.OnLimit == models.CancelRunning && l.wait(tx.Elapsed()) == 0:
		freed, err := p.cancelRunning(tx, e, i.ID, limit)
		if err != nil {
			return err
		}
		if freed {
			return p.placeInFreedSlot(tx, e, i, limit)
		}
	}
	return p.awaitSlot(tx, e, i, limit)
}

func droppedBy(limit string) string {
	return fmt.Sprintf("dropped, because the limit %s was reached", limit)
}

// placeInFreedSlot places a task for which cancelRunning has freed a slot of a limit. If no worker serves its action,
// it offers the slot to other tasks too, because a worker may claim one of them. If the task waited for another limit
// of the cancelled one, the end of that has placed it already.
func (p Policy) placeInFreedSlot(tx space.Tx, e space.Entry, i Item, limit string) error {
	if now, there := tx.Entry(e.Ref); there && now.Held == e.Held {
		if err := p.place(tx, now, i, space.OldPlace); err != nil {
			return err
		}
	}
	if len(status.Servers(tx, i.Action)) > 0 {
		return nil
	}
	_, err := p.offerSlots(tx, limit)
	return err
}

// cancelRunning cancels, among the tasks with a slot of a limit, the one claimed first, in favour of the task of an
// entry. If the maximum was lowered, it cancels more until that task has a slot. It leaves out tasks with a lease. It
// reports whether there is a slot.
func (p Policy) cancelRunning(tx space.Tx, e space.Entry, favoured, limit string) (freed bool, err error) {
	type running struct {
		e space.Entry
		i Item
	}
	var all []running
	tx.Walk(space.Walk{Space: Space, Label: slotLabel(limit)}, func(r space.Entry) bool {
		if i, err := DecodeEntry(r); err == nil && i.Lease == "" && r.Ref != e.Ref {
			all = append(all, running{r, i})
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b running) int { return a.i.ClaimedAt.Compare(b.i.ClaimedAt) })
	for _, r := range all {
		if now, there := tx.Entry(r.e.Ref); !there || !slices.Contains(now.Labels, slotLabel(limit)) {
			continue // the end of one before it changed it
		}
		if err := p.cancelFor(tx, r.e, r.i, favoured, limit); err != nil {
			return false, err
		}
		if _, l, _ := findLimit(tx, limit); l.free(tx, e) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// cancelFor cancels a running task in favour of another one, which gets its slot of a limit.
func (p Policy) cancelFor(tx space.Tx, e space.Entry, i Item, favoured, limit string) error {
	reason := "cancelled in favour of task " + favoured
	tx.Tell(e.Holder, stopMessage(i.ID, reason))
	i.Limits = slices.DeleteFunc(i.Limits, func(name string) bool { return name == limit }) // so that its end offers the slot to no other task
	return p.finish(tx, e, i, Cancelled, reason, "")
}

// awaitSlot hides a task until a limit has a free slot, and starts the timer of the limit if its rate is the reason.
// A tuple of limitedAction tells offerSlots that the action has such tasks.
func (p Policy) awaitSlot(tx space.Tx, e space.Entry, i Item, limit string) error {
	if _, known := tx.Find(Data, limitedAction(limit, i.Action).Exactly(), nil); !known {
		if _, err := tx.Put(Data, limitedAction(limit, i.Action), space.PutOptions{}); err != nil {
			return err
		}
	}
	if err := hide(tx, e, i, Limited, limit); err != nil {
		return err
	}
	return startRefill(tx, limit)
}

// startRefill starts the timer of a limit whose rate is exhausted. Without such a limit, or if its rate is not
// exhausted, it does nothing.
func startRefill(tx space.Tx, limit string) error {
	e, l, _ := findLimit(tx, limit) // without such a limit, the rate is 0
	if wait := l.wait(tx.Elapsed()); wait > 0 {
		return tx.Extend(e.Ref, wait)
	}
	return nil
}

// refill is the expiry of a limit's timer: its rate allows a claim again. It removes the TTL of the limit's tuple,
// because the limit stays.
func (p Policy) refill(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	if err := tx.Extend(e.Ref, 0); err != nil {
		return nil, err
	}
	_, err = p.offerSlots(tx, decodeLimit(e.Tuple).Name)
	return nil, err
}

// maxOffered bounds the hidden tasks of one limit or action that one transaction brings
// back.
const maxOffered = 1000

// offerSlots places tasks that wait for a limit, of each action as many as it has free slots, and returns how many.
// If the limit is not set any more, it places up to maxOffered of each action.
func (p Policy) offerSlots(tx space.Tx, limit string) (offered int, err error) {
	free := maxOffered
	if _, l, ok := findLimit(tx, limit); ok {
		free = min(free, l.free(tx, space.Entry{}))
	}
	if free == 0 {
		return 0, startRefill(tx, limit)
	}
	for _, e := range tx.Scan(Data, tuple.Match("limited", limit, tuple.AnyString)) {
		waiting := limitedOf(limit, limitedActionOf(e.Tuple))
		n, err := p.offerUpTo(tx, waiting, free)
		if offered += n; err != nil {
			return offered, err
		}
		if tx.CountLabelled(Space, waiting) > 0 {
			continue
		}
		if _, there := tx.Entry(e.Ref); !there {
			continue // a task that was placed had others offered
		}
		if err := tx.Take(e.Ref); err != nil {
			return offered, err
		}
	}
	return offered, nil
}

// offerUpTo places tasks with a label until free of them are visible, because one that waits for something else now
// does not need the slot. It returns how many it placed, at most maxOffered.
func (p Policy) offerUpTo(tx space.Tx, label string, free int) (placed int, err error) {
	for shown := 0; shown < free && placed < maxOffered; {
		some := withLabel(tx, Space, label, min(free-shown, maxOffered-placed))
		if len(some) == 0 {
			break
		}
		for _, found := range some {
			e, there := tx.Entry(found.Ref)
			if !there || !slices.Contains(e.Labels, label) {
				continue // placing another one changed it
			}
			i, err := DecodeEntry(e)
			if err == nil {
				err = p.place(tx, e, i, space.OldPlace)
			}
			if err != nil {
				return placed, err
			}
			placed++
			if now, alive := tx.Entry(found.Ref); alive && !now.Held {
				shown++
			}
		}
	}
	return placed, nil
}

// freeSlots is called with the limits of a task that has left the queue or its worker, so that its slots are free for
// others.
func (p Policy) freeSlots(tx space.Tx, limits []string) error {
	for _, limit := range limits {
		if _, err := p.offerSlots(tx, limit); err != nil {
			return err
		}
	}
	return nil
}

// setLimit (name, max, rate) sets a limit, and offers its free slots. It returns how many tasks it brought back;
// unless it returns 0, there may be more.
func (p Policy) setLimit(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	l := limitTuple{Limit: wantedLimit(args)}
	if err := l.check(); err != nil {
		return nil, err
	}
	e, old, known := findLimit(tx, l.Name)
	var err error
	if known {
		l.next = old.next
		err = tx.Replace(e.Ref, l.encode())
	} else {
		_, err = tx.Put(Data, l.encode(), space.PutOptions{Expiry: procRefill})
	}
	if err != nil {
		return nil, err
	}
	offered, err := p.offerSlots(tx, l.Name)
	return tuple.New(int64(offered)), err
}

// check refuses a limit with a maximum or a rate out of range with fault.ErrInvalid. A limit with neither stops no task.
func (l Limit) check() error {
	if err := checkName("limit", l.Name); err != nil {
		return err
	}
	rateInRange := l.Rate == 0 || l.Rate >= 1e-6 && l.Rate <= 1e6 // false for NaN too
	if l.Max < 0 || !rateInRange {
		return fmt.Errorf("limit %s: %w: want a maximum of 0 or more, and a rate of 0 or from 0.000001 to 1000000 a second", l.Name, fault.ErrInvalid)
	}
	return nil
}

// removeLimit (name) removes a limit, and brings tasks back as setLimit does. It fails only if the limit is not set
// and no task waits for it, because a repeated call goes on with a removal that left tasks waiting.
func (p Policy) removeLimit(tx space.Tx, name string) (tuple.Tuple, error) {
	e, _, known := findLimit(tx, name)
	if known {
		if err := tx.Take(e.Ref); err != nil {
			return nil, err
		}
	}
	offered, err := p.offerSlots(tx, name)
	if err == nil && !known && offered == 0 {
		err = fmt.Errorf("limit %.200q: %w", name, fault.ErrNotFound)
	}
	return tuple.New(int64(offered)), err
}

// SetLimit sets a limit, or changes it. A lower maximum ends no running task. It fails with fault.ErrInvalid for a
// limit without a maximum and a rate, or with one out of range, and with fault.ErrOverloaded if the space is full.
func (c Client) SetLimit(ctx context.Context, l Limit) error {
	if err := l.check(); err != nil {
		return err
	}
	return c.untilDone(ctx, procSetLimit, tuple.New(l.Name, l.Max, l.Rate))
}

// RemoveLimit removes a limit; the tasks that name it have none then. It fails with fault.ErrNotFound if the limit is
// not set and no task waits for it.
func (c Client) RemoveLimit(ctx context.Context, name string) error {
	return c.untilDone(ctx, procRemoveLimit, tuple.New(name))
}

// untilDone calls a procedure that returns how many tasks it changed, until it returns 0, because
// one transaction changes at most maxOffered. If ctx ends before, Client.Sweep finishes the change.
// An error of a later call than the first is nil for task.removelimit, because the first removed
// the limit.
func (c Client) untilDone(ctx context.Context, procedure string, args tuple.Tuple) error {
	for first := true; ; first = false {
		reply, err := c.Repo.Call(ctx, space.OpID{}, procedure, args)
		if err != nil && !first && procedure == procRemoveLimit {
			return nil // the first call removed it
		}
		if err != nil || numberOf(reply) == 0 {
			return err
		}
	}
}

// LimitState is a limit and who uses it.
type LimitState struct {
	Limit
	Running int64 // claimed tasks that name it
	Waiting int64 // tasks that wait for a slot of it
}

// Limits returns the limits, in the order in which they were set first. Those that do not fit into one answer are
// left out. It fails with fault.ErrCorrupt for a damaged answer.
func (c Client) Limits(ctx context.Context) (all []LimitState, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procLimits, nil)
	if err != nil {
		return nil, err
	}
	data := blobOf(reply)
	for len(data) > 0 {
		t, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", procLimits, fault.ErrCorrupt, err)
		}
		all = append(all, decodeLimitState(t))
		data = rest
	}
	return all, nil
}

// limits () returns the limits with the numbers of their tasks, as many as fit into an answer. It
// returns no error.
func limits(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	var data []byte
	for _, e := range tx.Scan(Data, matchLimit(tuple.AnyString)) {
		name := decodeLimit(e.Tuple).Name
		t := append(e.Tuple.Clone(), int64(tx.CountLabelled(Space, slotLabel(name))), int64(tx.CountLabelled(Space, limitedLabel(name))))
		if len(data)+t.Size() > maxAnswer {
			break
		}
		data = t.Append(data)
	}
	return tuple.New(data), nil
}
