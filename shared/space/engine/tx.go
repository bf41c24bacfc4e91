package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// errWait is what Tx.Wait returns: the procedure found nothing and waits.
var errWait = errors.New("the procedure waits")

// maxCalls bounds how deep procedures call each other.
const maxCalls = 16

// transaction implements space.Tx. All changes to entries go through change, which
// records the steps; facts, events and wake-ups are derived from the steps when the
// transaction succeeds. It exists only while state.mu is held.
type transaction struct {
	e         *Engine
	st        *state
	caller    *session // nil in an expiry
	procedure string   // that runs now; empty in a plain operation
	depth     int      // of calls
	waited    bool     // the request runs again after it waited
	awaitAck  int      // tuples taken that are to be acknowledged
	steps     []step
	facts     []journal.Fact // beside the facts of the steps
	messages  []outgoing
	awaited   []space.Awaited
	lookup    *lookup       // of a plain operation, for the trace
	marks     []mark        // further events, for the trace
	notes     []any         // for the observer
	clock     time.Duration // of now; 0: not read yet
}

// now is the engine time of the transaction. It is read once, so that a trace shows for how long a hold or TTL was set.
func (tx *transaction) now() time.Duration {
	if tx.clock == 0 {
		tx.clock = tx.st.now()
	}
	return tx.clock
}

var _ space.Surveyor = (*transaction)(nil)

// step is one change to one entry. Without old the entry came, without new it went.
type step struct {
	old, new  *entry
	change    space.Change
	procedure string
	reserve   bool // a put that may use the reserve
}

// entry returns the changed entry: as it is afterwards, or was when it went.
func (s step) entry() *entry {
	if s.new != nil {
		return s.new
	}
	return s.old
}

func (s step) space() string { return s.entry().Space }

// outgoing is a message that a transaction sends to a session.
type outgoing struct {
	to   string
	text tuple.Tuple
}

// change replaces old by new and records the step; either may be nil.
func (tx *transaction) change(old, new *entry, c space.Change) {
	tx.st.replace(old, new)
	tx.steps = append(tx.steps, step{old: old, new: new, change: c, procedure: tx.procedure})
}

// try runs f, and undoes all that it did if it returns an error, panics or ends the goroutine
// (as a failing test does). It returns the error of f; a panic becomes an error.
func (tx *transaction) try(f func() error) (err error) {
	steps, facts, messages, marks, notes := len(tx.steps), len(tx.facts), len(tx.messages), len(tx.marks), len(tx.notes)
	returned := false
	defer func() {
		if p := recover(); p != nil {
			tx.e.log.Error("panic", "procedure", tx.procedure, "value", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("procedure %s panicked: %v", tx.procedure, p)
		}
		if returned && err == nil {
			return
		}
		for _, s := range slices.Backward(tx.steps[steps:]) {
			tx.st.replace(s.new, s.old)
		}
		tx.steps, tx.facts, tx.messages, tx.marks = tx.steps[:steps], tx.facts[:facts], tx.messages[:messages], tx.marks[:marks]
		tx.notes = tx.notes[:notes]
	}()
	err = f()
	returned = true
	return err
}

// entry returns the entry of a ref. A tuple that a get took is not found, even before the get is acknowledged.
func (tx *transaction) entry(ref int64) (*entry, error) {
	x := tx.st.entries[ref]
	if x == nil || isTaken(x) {
		return nil, fmt.Errorf("tuple %d: %w", ref, fault.ErrNotFound)
	}
	return x, nil
}

// view returns an entry as a procedure sees it. It shares tuple and attributes with the entry.
func (in *spaceState) view(x *entry) space.Entry {
	v := space.Entry{Ref: x.Ref, Space: x.Space, Tuple: x.Tuple, Position: in.rank(x)}
	if x.Hold != nil {
		v.Held, v.Holder = true, x.Hold.Session
	}
	if x.Attributes != nil {
		v.Attributes = *x.Attributes
	}
	return v
}

// views returns entries as a procedure sees them.
func (in *spaceState) views(entries []*entry) []space.Entry {
	vs := make([]space.Entry, len(entries))
	for i, x := range entries {
		vs[i] = in.view(x)
	}
	return vs
}

func (tx *transaction) Exists(name string) bool { return tx.st.spaces[name] != nil }

// Find returns false if no tuple matches that keep accepts, or if the space does not exist. keep
// gets an entry as a procedure sees it.
func (tx *transaction) Find(name string, p tuple.Template, keep func(space.Entry) bool) (space.Entry, bool) {
	in := tx.st.spaces[name]
	if in == nil {
		return space.Entry{}, false
	}
	var accept func(*entry) bool
	if keep != nil {
		accept = func(x *entry) bool { return keep(in.view(x)) }
	}
	x := in.find(p, accept)
	if x == nil {
		return space.Entry{}, false
	}
	return in.view(x), true
}

// Scan returns copies of the list, so that the procedure may change the space while it goes
// through them. A space that does not exist has no matches.
func (tx *transaction) Scan(name string, p tuple.Template) []space.Entry {
	if in := tx.st.spaces[name]; in != nil {
		return in.views(in.visible.matches(p))
	}
	return nil
}

// Held returns copies of the entries, as Scan does; none for a space that does not exist.
func (tx *transaction) Held(name string, p tuple.Template) []space.Entry {
	if in := tx.st.spaces[name]; in != nil {
		return in.views(in.held.matches(p))
	}
	return nil
}

// Survey goes through all buckets, also of held tuples if held is set. Their entries are of different signatures, so
// it sorts what keep accepts.
func (tx *transaction) Survey(name string, held bool, keep func(space.Entry) bool) []space.Entry {
	in := tx.st.spaces[name]
	if in == nil {
		return nil
	}
	indexes := []*index{&in.visible}
	if held {
		indexes = append(indexes, &in.held)
	}
	var found []*entry
	for _, index := range indexes {
		for _, b := range index.buckets {
			b.entries.all(func(x *entry) bool {
				if keep(in.view(x)) {
					found = append(found, x)
				}
				return true
			})
		}
	}
	slices.SortFunc(found, func(a, b *entry) int { return in.rank(a).Compare(in.rank(b)) })
	return in.views(found)
}

// Entry returns false for a tuple that a get took, as if it were gone.
func (tx *transaction) Entry(ref int64) (space.Entry, bool) {
	x, err := tx.entry(ref)
	if err != nil {
		return space.Entry{}, false
	}
	return tx.st.spaces[x.Space].view(x), true
}

// Count counts the visible matches; 0 for a space that does not exist.
func (tx *transaction) Count(name string, p tuple.Template) int {
	if in := tx.st.spaces[name]; in != nil {
		return in.visible.count(p)
	}
	return 0
}

// Walk starts in the index at w.After. It compares positions again, because an index with one
// candidate passes that wherever it is, and because the entry at the position itself is not wanted.
func (tx *transaction) Walk(w space.Walk, f func(space.Entry) bool) {
	in := tx.st.spaces[w.Space]
	if in == nil {
		return
	}
	var pivot *entry
	if w.After != (space.Position{}) {
		pivot = in.pivot(w.After)
	}
	visit := func(x *entry) bool {
		if pivot != nil && in.rank(x).Compare(w.After) <= 0 {
			return true // it is not behind w.After
		}
		return f(in.view(x))
	}
	switch {
	case w.Label != "":
		in.labels.sets[w.Label].candidates().ascend(pivot, visit)
	case w.Held:
		in.held.eachFrom(w.Template, pivot, visit)
	default:
		in.visible.eachFrom(w.Template, pivot, visit)
	}
}

// LastLabelled returns false if the space does not exist or no tuple has the label.
func (tx *transaction) LastLabelled(name, label string) (space.Entry, bool) {
	if in := tx.st.spaces[name]; in != nil {
		if c := in.labels.sets[label].candidates(); c.len() > 0 {
			return in.view(c.last()), true
		}
	}
	return space.Entry{}, false
}

// CountLabelled counts the visible and held tuples with a label; 0 for a space that does not
// exist.
func (tx *transaction) CountLabelled(name, label string) int {
	if in := tx.st.spaces[name]; in != nil {
		return in.labels.sets[label].candidates().len()
	}
	return 0
}

func (tx *transaction) Free(name string) (free, capacity int) {
	if in := tx.st.spaces[name]; in != nil {
		return max(0, in.free(false)), in.def.Options.Capacity - in.reserve
	}
	return 0, 0
}

func (tx *transaction) Share(name, value string) (used, left int64, nearlyFull bool) {
	if in := tx.st.spaces[name]; in != nil {
		used = in.shares[value].memory()
	}
	left, nearlyFull = tx.st.memory.Budget.Left()
	return used, left, nearlyFull
}

func (tx *transaction) Shares(name string, f func(space.Share) bool) {
	in := tx.st.spaces[name]
	if in == nil {
		return
	}
	for value, s := range in.shares {
		if s.size == 0 {
			continue // all are taken and not acknowledged
		}
		shown := space.Share{Value: value, Tuples: s.size}
		if x, ok := s.byAge.first(); ok {
			shown.Oldest = in.view(x)
		}
		if !f(shown) {
			return
		}
	}
}

func (tx *transaction) Note(n any) {
	if tx.e.noted != nil {
		tx.notes = append(tx.notes, n)
	}
}

func (tx *transaction) Elapsed() time.Duration { return tx.now() }

func (tx *transaction) Now() time.Time { return time.Now().UTC() }

// NextToken records the token in the journal with the transaction. If that fails the token is
// not used again.
func (tx *transaction) NextToken() int64 {
	tx.st.lastToken++
	tx.facts = append(tx.facts, journal.Token(tx.st.lastToken))
	return tx.st.lastToken
}

// Caller returns "" while an expiry runs, also one that a session's request has brought about.
func (tx *transaction) Caller() string {
	if tx.caller == nil {
		return ""
	}
	return tx.caller.id
}

func (tx *transaction) Alive(id string) bool { return tx.st.sessions[id] != nil }

func (tx *transaction) Host(id string) string { return tx.process(id).Host }

func (tx *transaction) WorkerName(id string) string { return tx.process(id).Name }

// process returns the process of a session, alive or ending now (state.ending); otherwise the zero Process.
func (tx *transaction) process(id string) space.Process {
	if s := tx.st.sessions[id]; s != nil {
		return s.process
	}
	if s := tx.st.ending; s != nil && s.id == id {
		return s.process
	}
	return space.Process{}
}

// KeepAlive moves the session's deadline but not its timer, because fireDue checks the deadline
// when the timer is due, and signs of life are frequent. A call that runs again after it waited
// does not count as one, because the caller sent it when it began to wait.
func (tx *transaction) KeepAlive() {
	if tx.caller != nil && !tx.waited {
		tx.caller.deadline = tx.st.now() + tx.caller.ttl
	}
}

// Tell panics if the message is malformed, which makes the procedure fail (try). The message is
// delivered only if the transaction succeeds.
func (tx *transaction) Tell(to string, text tuple.Tuple) {
	if err := text.Validate(); err != nil {
		panic(fmt.Sprintf("a message to %s: %v", to, err))
	}
	tx.messages = append(tx.messages, outgoing{to, text.Clone()})
}

func (tx *transaction) Wait(awaited ...space.Awaited) error {
	tx.awaited = awaited
	return errWait
}

// Call undoes what the procedure did if it fails, and only that, so that the calling procedure may continue. The
// error of Wait is returned as it is. A panic becomes an error without a kind.
func (tx *transaction) Call(name string, args tuple.Tuple) (reply tuple.Tuple, err error) {
	procedure := tx.e.procedures[name]
	if procedure == nil {
		return nil, fmt.Errorf("procedure %q: %w", name, fault.ErrNotFound)
	}
	if tx.depth == maxCalls {
		return nil, fmt.Errorf("procedure %q: %w: %d procedures deep", name, fault.ErrTooLarge, maxCalls)
	}
	outer := tx.procedure
	tx.procedure = name
	tx.depth++
	err = tx.try(func() (err error) {
		reply, err = procedure(tx, args)
		return err
	})
	tx.procedure = outer
	tx.depth--
	return reply, err
}
