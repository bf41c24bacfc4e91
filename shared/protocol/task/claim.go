package task

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Bounds of one claim.
const (
	MaxClaims  = 64      // tasks
	maxRetired = 256     // tasks that it finds at the head and moves out of the way
	maxCarried = 1 << 18 // bytes of results of parents
	// maxAnswer bounds the tuples of one answer or request, in bytes.
	maxAnswer = tuple.MaxBytes - 1<<10
)

// claim ([number,] action…) holds the first tasks of the actions that the caller has not given back, at most number
// of them and without a number one, and returns them. It waits until there is one. An empty answer means that it
// found only tasks that cannot be claimed, and moved them out of the way: then the caller claims again.
func (p Policy) claim(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	wanted, err := parseClaim(args)
	if err != nil {
		return nil, err
	}
	answer, moved, err := p.claimReady(tx, wanted, maxAnswer)
	if err != nil {
		return nil, err
	}
	if len(answer) == 0 && !moved {
		awaited := make([]space.Awaited, len(wanted.actions))
		for n, action := range wanted.actions {
			awaited[n] = space.Awaited{Space: Space, Template: AnyOf(action)}
		}
		return nil, tx.Wait(awaited...)
	}
	return tuple.New(answer), nil
}

// claimReady claims up to wanted.number tasks that need not be waited for, none if the number is not positive. The
// answer has at most that many bytes (most), but one task always fits; it is nil if no task was claimed. For moved
// see firstFor.
func (p Policy) claimReady(tx space.Tx, wanted claimWanted, most int) (answer []byte, moved bool, err error) {
	isWanted := func(e space.Entry) bool { return slices.Contains(wanted.actions, decodeHeader(e.Tuple).Action) }
	search := func() (pick, error) { return p.firstFor(tx, wanted.actions) }
	for range wanted.number {
		next, err := p.nextFor(tx, isWanted, search)
		moved = moved || next.moved
		if err != nil {
			return nil, moved, err
		}
		e := next.entry
		if e.Ref == 0 || len(answer) > 0 && len(answer)+e.Tuple.Size()+len(e.Fields)+maxCarried > most {
			break
		}
		if answer, err = p.take(tx, e, next.item, answer); err != nil {
			return nil, moved, err
		}
	}
	return answer, moved, nil
}

// take claims one task for the caller, counts it at the rates of its limits, and appends it to an answer with the
// ends of its parents, as decodeItems reads them.
func (p Policy) take(tx space.Tx, e space.Entry, i Item, answer []byte) ([]byte, error) {
	if err := freeReserved(tx, e, tx.Caller()); err != nil {
		return nil, err
	}
	i.CurrentClaimant, i.ClaimedAt, i.State, i.Progress = workerName(tx), tx.Now(), "", nil
	tx.Note(Event{Kind: EventStarted, Action: i.Action, Took: since(i.ClaimedAt, i.offeredSince())})
	if i.suspect() {
		i.onlyFor = tx.Caller()
	}
	if err := holdUntilTimeout(tx, e.Ref, i); err != nil {
		return nil, err
	}
	if err := rewrite(tx, e, i, e.Turn); err != nil {
		return nil, err
	}
	if err := takeRate(tx, i); err != nil {
		return nil, err
	}
	claimed, _ := tx.Entry(e.Ref) // it is there: it was rewritten
	parents := carriedResults(tx, i)
	answer = claimed.Tuple.Append(tuple.New(claimed.Fields, int64(len(parents))).Append(answer))
	for _, r := range parents {
		answer = r.encode().Append(answer)
	}
	return answer, nil
}

// pick is the outcome of a search for a task that the caller may claim.
type pick struct {
	entry  space.Entry // its Ref is 0 if there is none
	item   Item
	passed offer // the first suspect before it that shall reserve the caller; its Ref is 0 if there is none
	moved  bool  // tasks that were in the way were retired or hidden
}

// offer is a task as a search meets it.
type offer struct {
	entry space.Entry
	item  Item
}

// or returns the one of two offers that comes first; either may be none.
func (o offer) or(other offer) offer {
	if other.entry.Ref != 0 && (o.entry.Ref == 0 || before(other.entry.Position, o.entry.Position)) {
		return other
	}
	return o
}

// firstFor returns the task with the highest priority that the caller may claim, and of several the oldest. It retires
// malformed tasks and hides tasks whose limit is full, because they are in the way, each at most once each time it
// becomes visible.
func (p Policy) firstFor(tx space.Tx, actions []string) (found pick, err error) {
	for _, action := range actions {
		if isPaused(tx, action) {
			continue
		}
		one, err := p.firstMatch(tx, AnyOf(action))
		best := offer{found.entry, found.item}.or(offer{one.entry, one.item})
		found = pick{best.entry, best.item, found.passed.or(one.passed), found.moved || one.moved}
		if err != nil {
			return pick{moved: found.moved}, err
		}
	}
	return found, nil
}

// before compares tasks of two actions: turns count only within one.
func before(a, b space.Position) bool {
	if a.Major != b.Major {
		return a.Major < b.Major
	}
	return a.Minor < b.Minor
}

// firstMatch returns the first visible task that matches a template and that the caller may claim; none if it moved
// maxRetired tasks out of the way before it found one. It reads one task, unless the worker has given back tasks at
// the head of the queue, or suspects are there.
func (p Policy) firstMatch(tx space.Tx, template tuple.Template) (pick, error) {
	var moved bool
	for range maxRetired {
		found, passed, unfit := p.firstOffered(tx, template)
		if found.entry.Ref == 0 {
			return pick{passed: passed, moved: moved}, nil
		}
		limit := ""
		if unfit == nil {
			limit = fullLimit(tx, found.entry, found.item)
		}
		var err error
		switch {
		case unfit != nil:
			err = p.retire(tx, found.entry, found.item, unfit)
		case limit != "":
			err = p.meetLimit(tx, found.entry, found.item, limit)
		default:
			return pick{found.entry, found.item, passed, moved}, nil
		}
		if err != nil {
			return pick{moved: moved}, err
		}
		moved = true
	}
	return pick{moved: moved}, nil
}

// firstOffered returns the first visible task that matches a template and that the caller may claim if no limit is
// full, or the first unfit one before it: then unfit is why no worker can claim that one. passed is the first suspect
// before it that shall reserve the caller, because the caller has other tasks. The Ref of each is 0 if there is none.
// Tuples of another form are skipped.
func (p Policy) firstOffered(tx space.Tx, template tuple.Template) (found, passed offer, unfit error) {
	worker := workerName(tx)
	busy := sync.OnceValue(func() bool { return holdsTasks(tx, tx.Caller()) })
	tx.Walk(space.Walk{Space: Space, Template: template}, func(e space.Entry) bool {
		if !anyTask.Matches(e.Tuple) || gaveBack(e.Fields, worker) { // gaveBack needs no decoding
			return true
		}
		tooBusy := slices.Contains(e.Labels, suspectLabel) && busy()
		if tooBusy && passed.entry.Ref != 0 {
			return true
		}
		i, err := p.decodeClaimable(e)
		switch {
		case err == nil && !mayClaim(tx, i, worker):
			return true
		case err == nil && tooBusy:
			if mayReserve(tx, i) {
				passed = offer{e, i}
			}
			return true
		}
		found, unfit = offer{e, i}, err
		return false
	})
	return found, passed, unfit
}

// decodeClaimable is DecodeEntry for a tuple that a foreign client may have put. It fails with fault.ErrCorrupt for a
// task that is malformed or that no worker could do, and with errWornOut for one past its attempts.
func (p Policy) decodeClaimable(e space.Entry) (Item, error) {
	i, err := DecodeEntry(e)
	switch {
	case err != nil:
		return i, err
	case !validTimeout(i.Timeout):
		return i, fmt.Errorf("task %s: timeout %vs: want more than 0 and at most %s: %w", i.ID, i.Timeout, lease.MaxTTL, fault.ErrCorrupt)
	case len(i.Data) > maxData:
		return i, fmt.Errorf("task %s: data of %d bytes, at most %d: %w", i.ID, len(i.Data), maxData, fault.ErrCorrupt)
	case i.Attempts > p.attempts(i):
		return i, errWornOut
	}
	return i, nil
}

// errWornOut is why a task is dead that has more attempts than are allowed.
var errWornOut = errors.New("more attempts than are allowed")

// attempts returns how many attempts of a task may fail without making it dead. MaxAttempts of a task counts all of
// its attempts, and so one more than the policy's.
func (p Policy) attempts(i Item) int64 {
	if i.MaxAttempts > 0 {
		return i.MaxAttempts - 1
	}
	return p.MaxAttempts
}

// retire makes a task dead that cannot be claimed. While no space takes its dead letter, it is hidden for a back-off.
// why is the error of decodeClaimable.
func (p Policy) retire(tx space.Tx, e space.Entry, i Item, why error) error {
	if errors.Is(why, errWornOut) {
		return p.die(tx, e, i, why.Error())
	}
	err := p.deadLetterCorrupt(tx, e, why)
	if errors.Is(err, fault.ErrOverloaded) {
		return tx.Hold(e.Ref, space.HoldOptions{TTL: p.Backoff, Expiry: procReturn, NoSession: true})
	}
	return err
}

// findHeld returns the task of that id if the caller holds it with that token; else it fails with
// fault.ErrStaleToken. For a malformed task it returns fault.ErrCorrupt with the entry and the fields of its tuple.
func findHeld(tx space.Tx, id string, token int64) (space.Entry, Item, error) {
	for _, e := range tx.Held(Space, WithID(id)) {
		if e.Holder == tx.Caller() && decodeHeader(e.Tuple).Token == token {
			i, err := DecodeEntry(e)
			return e, i, err
		}
	}
	return space.Entry{}, Item{}, fmt.Errorf("task %q: token %d of %s: %w", id, token, tx.Caller(), fault.ErrStaleToken)
}

// Holds reports whether the caller holds a task of an action.
func Holds(tx space.Tx, action string) bool {
	_, ok := heldLike(tx, AnyOf(action))
	return ok
}

// HeldWith returns the id of the task that the caller holds with a token, and whether there is one.
func HeldWith(tx space.Tx, token int64) (id string, ok bool) {
	t, ok := heldLike(tx, withToken(tuple.AnyString, tuple.AnyString, token))
	if !ok {
		return "", false
	}
	return decodeHeader(t).ID, true
}

// heldLike returns a task that the caller holds and that a template matches, and whether there is one.
func heldLike(tx space.Tx, p tuple.Template) (tuple.Tuple, bool) {
	for _, e := range tx.Held(Space, p) {
		if e.Holder == tx.Caller() {
			return e.Tuple, true
		}
	}
	return nil, false
}

// find returns the task of that id, in any state in which it is alive. If there is none, the Ref of the entry is 0.
// For a malformed task it returns fault.ErrCorrupt with the entry and the fields of its tuple.
func find(tx space.Tx, id string) (space.Entry, Item, error) {
	all := tx.Scan(Space, WithID(id))
	if len(all) == 0 {
		all = tx.Held(Space, WithID(id))
	}
	if len(all) == 0 {
		return space.Entry{}, Item{}, fmt.Errorf("task %.200q: %w: it has ended, or never was", id, fault.ErrNotFound)
	}
	i, err := DecodeEntry(all[0])
	return all[0], i, err
}

// holdUntilTimeout holds a task for the caller for the task's timeout, from now. For a task that the caller already
// holds, it restarts the timeout.
func holdUntilTimeout(tx space.Tx, ref int64, i Item) error {
	timeout := i.Timeout.Duration()
	if err := tx.Hold(ref, space.HoldOptions{TTL: timeout, Expiry: procTimeout}); err != nil {
		return err
	}
	return showClaim(tx, Claim{Task: i.ID, Worker: tx.Caller(), Due: tx.Now().Add(timeout), Token: i.Token})
}

// claimWanted is the arguments of task.claim.
type claimWanted struct {
	number  int64
	actions []string
}

// workerName returns the stable name of the caller, by which tasks remember who gave them
// back.
func workerName(tx space.Tx) string { return nameOf(tx, tx.Caller()) }
