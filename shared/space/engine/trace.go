package engine

import (
	"maps"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/trace"
)

// look is what a plain operation looked for and found.
type look struct {
	verb     space.Verb
	space    string
	template string
	found    []*entry
}

// look notes for the trace what was looked for and found.
func (tx *transaction) look(r space.Request, found ...*entry) {
	if tx.e.trace == nil {
		return
	}
	tx.looked = &look{verb: r.Verb, space: r.Space, template: r.Template.String()}
	for _, x := range found {
		if x != nil {
			tx.looked.found = append(tx.looked.found, x)
		}
	}
}

// mark is an event that is no change to a tuple, and how many steps precede it.
type mark struct {
	after int
	event trace.Event
}

func (tx *transaction) mark(event trace.Event) {
	if tx.e.trace == nil {
		return
	}
	event.Role = trace.RoleOf(event.Process)
	tx.marks = append(tx.marks, mark{len(tx.steps), event})
}

// markExpiry notes that a hold or a TTL is over, before what that brings about.
func (tx *transaction) markExpiry(x *entry, procedure string, cause space.Cause) {
	if tx.e.trace == nil {
		return
	}
	event := trace.Event{Operation: trace.Expire, Procedure: procedure, Result: string(cause)}
	if x.Hold != nil {
		event.Process = x.Hold.Session
	}
	tx.mark(about(event, x))
}

// about completes an event with the tuple that it is about.
func about(event trace.Event, x *entry) trace.Event {
	event.Space, event.Tuple, event.Ref, event.Lease = x.Space, x.Tuple.String(), x.Ref, trace.LeaseOf(x.Tuple)
	return event
}

// events returns what the trace has to say of a transaction: a plain operation
// by its verb, a procedure by the changes that it made.
func (tx *transaction) events() []trace.Event {
	base := trace.Event{Clock: tx.e.now(), Process: tx.Caller(), Result: trace.OK}
	base.Role = trace.RoleOf(base.Process)
	if tx.looked != nil {
		return tx.looked.events(base)
	}
	events := make([]trace.Event, 0, len(tx.steps)+len(tx.marks))
	marks := tx.marks
	for i := range len(tx.steps) + 1 {
		for len(marks) > 0 && marks[0].after == i {
			marks[0].event.Clock = base.Clock
			events = append(events, marks[0].event)
			marks = marks[1:]
		}
		if i < len(tx.steps) {
			events = append(events, tx.steps[i].event(base))
		}
	}
	return events
}

func (l *look) events(base trace.Event) []trace.Event {
	base.Operation, base.Space, base.Template = l.verb.String(), l.space, l.template
	if len(l.found) == 0 {
		base.Result = trace.None
		return []trace.Event{base}
	}
	events := make([]trace.Event, len(l.found))
	for i, x := range l.found {
		events[i] = about(base, x)
	}
	return events
}

func (st step) event(base trace.Event) trace.Event {
	base.Procedure, base.Operation = st.procedure, string(st.change)
	if st.change == acknowledged {
		base.Operation = trace.Ack
	}
	if st.new != nil {
		return about(base, st.new)
	}
	return about(base, st.old)
}

// refuse counts and traces a request that failed.
func (e *Engine) refuse(s *session, r space.Request, err error) {
	e.tallies.refused(err)
	if e.trace == nil {
		return
	}
	event := trace.Event{Clock: e.now(), Process: s.id, Role: trace.RoleOf(s.id), Procedure: r.Procedure,
		Operation: r.Verb.String(), Space: r.Space, Result: fault.Of(err).Code}
	switch {
	case r.Verb == space.VerbPut || r.Verb == space.VerbPutP:
		event.Tuple, event.Lease = r.Tuple.String(), trace.LeaseOf(r.Tuple)
	case r.Template != nil:
		event.Template = r.Template.String()
	}
	e.enqueue(outcome{traced: []trace.Event{event}})
}

// writeTrace writes the events of what has become durable. The caller holds
// committing.
func (e *Engine) writeTrace(outcomes []outcome) {
	for _, o := range outcomes {
		for _, event := range o.traced {
			e.emit(event)
		}
	}
}

func (e *Engine) emit(event trace.Event) {
	e.events++
	event.Seq = e.events
	e.trace(event)
}

// traceState tells the trace where the engine stands now. The caller holds
// committing, or is Open.
func (e *Engine) traceState() {
	if e.trace == nil {
		return
	}
	clock := e.now()
	e.emit(trace.Event{Clock: clock, Operation: trace.Reload, Result: trace.OK})
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		e.emit(trace.Event{Clock: clock, Operation: trace.Begin, Process: id, Role: trace.RoleOf(id), Result: trace.OK})
	}
	for _, ref := range slices.Sorted(maps.Keys(e.entries)) {
		e.emit(standing(clock, e.entries[ref]))
	}
}

// standing is the event that says that a tuple is there.
func standing(clock time.Duration, x *entry) trace.Event {
	event := trace.Event{Clock: clock, Operation: trace.Restore, Result: trace.OK}
	if x.Hold != nil {
		event.Process, event.Role, event.Result = x.Hold.Session, trace.RoleOf(x.Hold.Session), trace.HeldResult
	}
	if taken(x) {
		event.Result = trace.TakenResult
	}
	return about(event, x)
}
