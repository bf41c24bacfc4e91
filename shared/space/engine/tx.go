package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
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

// transaction implements space.Tx. All changes to entries go through change,
// which keeps the steps back; what the journal, the subscribers and the waiters
// must be told is read off the steps when the transaction succeeds.
type transaction struct {
	e         *Engine
	caller    *session // nil in an expiry
	procedure string   // that runs now; empty in a plain operation
	depth     int
	again     bool // a request that waited is run again
	steps     []step
	facts     []journal.Fact // beside those of the steps
	told      []message
	awaited   []space.Awaited
	looked    *look  // what a plain operation looked for, for the trace
	marks     []mark // what else the trace has to be told
}

// step is one change to one entry: it came (no old), went (no new) or changed.
type step struct {
	old, new  *entry
	change    space.Change
	procedure string
}

// change replaces old by new, either of which may be nil.
func (tx *transaction) change(old, new *entry, c space.Change) {
	tx.e.swap(old, new)
	tx.steps = append(tx.steps, step{old, new, c, tx.procedure})
}

// try runs f, and takes back what it did if it fails, panics or ends the
// goroutine.
func (tx *transaction) try(f func() error) (err error) {
	steps, facts, told, marks := len(tx.steps), len(tx.facts), len(tx.told), len(tx.marks)
	returned := false
	defer func() {
		if p := recover(); p != nil {
			tx.e.log.Error("panic", "procedure", tx.procedure, "value", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("procedure %s panicked: %v", tx.procedure, p)
		}
		if returned && err == nil {
			return
		}
		for i := len(tx.steps) - 1; i >= steps; i-- {
			tx.e.swap(tx.steps[i].new, tx.steps[i].old)
		}
		tx.steps, tx.facts, tx.told = tx.steps[:steps], tx.facts[:facts], tx.told[:told]
		tx.marks = tx.marks[:marks]
	}()
	err = f()
	returned = true
	return err
}

func (tx *transaction) room(name string) (*room, error) {
	r := tx.e.rooms[name]
	if r == nil {
		return nil, fmt.Errorf("space %q: %w", name, fault.ErrNotFound)
	}
	return r, nil
}

func (tx *transaction) entry(ref int64) (*entry, error) {
	e := tx.e.entries[ref]
	if e == nil || taken(e) {
		return nil, fmt.Errorf("tuple %d: %w", ref, fault.ErrNotFound)
	}
	return e, nil
}

func view(e *entry) space.Entry {
	v := space.Entry{Ref: e.Ref, Space: e.Space, Tuple: e.Tuple}
	if e.Hold != nil {
		v.Held, v.Holder = true, e.Hold.Session
	}
	return v
}

func views(entries []*entry) []space.Entry {
	vs := make([]space.Entry, len(entries))
	for i, e := range entries {
		vs[i] = view(e)
	}
	return vs
}

func (tx *transaction) Find(name string, p tuple.Template, keep func(space.Entry) bool) (space.Entry, bool) {
	r := tx.e.rooms[name]
	if r == nil {
		return space.Entry{}, false
	}
	var accept func(*entry) bool
	if keep != nil {
		accept = func(e *entry) bool { return keep(view(e)) }
	}
	e := r.find(p, accept)
	if e == nil {
		return space.Entry{}, false
	}
	return view(e), true
}

func (tx *transaction) Scan(name string, p tuple.Template) []space.Entry {
	if r := tx.e.rooms[name]; r != nil {
		return views(matches(&r.visible, p))
	}
	return nil
}

func (tx *transaction) Held(name string, p tuple.Template) []space.Entry {
	if r := tx.e.rooms[name]; r != nil {
		return views(matches(&r.held, p))
	}
	return nil
}

func (tx *transaction) Entry(ref int64) (space.Entry, bool) {
	e := tx.e.entries[ref]
	if e == nil || taken(e) {
		return space.Entry{}, false
	}
	return view(e), true
}

func (tx *transaction) Count(name string, p tuple.Template) int {
	if r := tx.e.rooms[name]; r != nil {
		return r.visible.count(p)
	}
	return 0
}

func (tx *transaction) Now() time.Time { return time.Now().UTC() }

func (tx *transaction) NextToken() int64 {
	tx.e.token++
	tx.facts = append(tx.facts, journal.Token(tx.e.token))
	return tx.e.token
}

func (tx *transaction) Caller() string {
	if tx.caller == nil {
		return ""
	}
	return tx.caller.id
}

func (tx *transaction) Alive(id string) bool { return tx.e.sessions[id] != nil }

func (tx *transaction) KeepAlive() {
	if tx.caller != nil && !tx.again { // who waits has given no sign since
		tx.caller.deadline = tx.e.now() + tx.caller.ttl
	}
}

func (tx *transaction) Tell(to string, text tuple.Tuple) {
	if err := text.Validate(); err != nil {
		panic(fmt.Sprintf("a message to %s: %v", to, err))
	}
	tx.told = append(tx.told, message{to, text.Clone()})
}

func (tx *transaction) Wait(awaited ...space.Awaited) error {
	tx.awaited = awaited
	return errWait
}

func (tx *transaction) Call(name string, args tuple.Tuple) (tuple.Tuple, error) {
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
	var reply tuple.Tuple
	err := tx.try(func() (err error) {
		reply, err = procedure(tx, args)
		return err
	})
	tx.procedure = outer
	tx.depth--
	return reply, err
}
