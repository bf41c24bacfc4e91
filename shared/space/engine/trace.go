package engine

import (
	"maps"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/trace"
)

// lookup is what a plain operation looked for and found.
type lookup struct {
	verb     space.Verb
	space    string
	template string
	found    []*entry
}

// traceLookup records what a plain operation looked for and found; nil entries are left out.
// Without a trace it does nothing, because printing the template costs time. It leaves out what the coordinator itself
// reads, because that watches the spaces each second and takes part in no protocol.
func (tx *transaction) traceLookup(r space.Request, found ...*entry) {
	if tx.e.trace == nil || !r.Verb.Takes() && trace.RoleOf(tx.Caller()) == watching {
		return
	}
	tx.lookup = &lookup{verb: r.Verb, space: r.Space, template: r.Template.String()}
	for _, x := range found {
		if x != nil {
			tx.lookup.found = append(tx.lookup.found, x)
		}
	}
}

// watching is the role of the coordinator's own session.
const watching = "coordinator"

// mark is an event other than a change of a tuple, and how many steps precede it.
type mark struct {
	after int
	event trace.Event
}

// traceEvent records an event other than a change of a tuple, between the steps before it and after it.
func (tx *transaction) traceEvent(event trace.Event) {
	if tx.e.trace != nil {
		event.Role = trace.RoleOf(event.Process)
		tx.marks = append(tx.marks, mark{len(tx.steps), event})
	}
}

// traceExpiry records that a hold or a TTL has ended, before the steps that follow
// from it. For beside see space.Expired.
func (tx *transaction) traceExpiry(x *entry, procedure string, cause space.Cause, beside int) {
	if tx.e.trace == nil {
		return
	}
	event := trace.Event{Operation: trace.Expire, Procedure: procedure, Result: string(cause), Beside: beside}
	if x.Hold != nil {
		event.Process = x.Hold.Session
	}
	tx.traceEvent(withEntry(event, x))
}

// withEntry completes an event with the tuple that it is about.
func withEntry(event trace.Event, x *entry) trace.Event {
	event.Space, event.Tuple, event.Ref, event.Lease = x.Space, x.Tuple.String(), x.Ref, trace.LeaseOf(x.Tuple)
	return event
}

// events returns the events of a transaction: for a plain operation its lookup, for a procedure
// the changes that it made, with its marks between them in the order in which all happened. All
// have the engine time of the transaction.
func (tx *transaction) events() []trace.Event {
	base := trace.Event{Clock: tx.now(), Process: tx.Caller(), Result: trace.OK}
	base.Role = trace.RoleOf(base.Process)
	if tx.lookup != nil {
		return tx.lookup.events(base)
	}
	events := make([]trace.Event, 0, len(tx.steps)+len(tx.marks))
	marks := tx.marks
	for i := range len(tx.steps) + 1 {
		for len(marks) > 0 && marks[0].after == i {
			marks[0].event.Clock = base.Clock
			events = append(events, marks[0].event)
			marks = marks[1:]
		}
		if i == len(tx.steps) {
			break // only marks are behind the last step
		}
		s, event := tx.steps[i], base
		event.Procedure, event.Operation = s.procedure, string(s.change)
		switch {
		case s.change == acknowledged:
			event.Operation = trace.Ack
		case s.change == space.Hold && s.new.Hold.Session == "":
			event.Operation = trace.Hide
		}
		event = withEntry(event, s.entry())
		if s.new != nil {
			event.Due = dueAt(s.new)
		}
		events = append(events, event)
	}
	return events
}

// events returns an event like base for each entry that was found, or one for none.
func (l *lookup) events(base trace.Event) []trace.Event {
	base.Operation, base.Space, base.Template = l.verb.String(), l.space, l.template
	if len(l.found) == 0 {
		base.Result = trace.None
		return []trace.Event{base}
	}
	events := make([]trace.Event, len(l.found))
	for i, x := range l.found {
		events[i] = withEntry(base, x)
	}
	return events
}

// recordRefusal traces a failed request with the code of its error, and counts it if the kind is fault.ErrOverloaded.
// The event is written in the order of the transactions. The caller holds state.mu.
func (e *Engine) recordRefusal(s *session, r space.Request, err error) {
	e.counters.countRefusal(err)
	if e.trace == nil {
		return
	}
	event := trace.Event{Clock: e.state.now(), Process: s.id, Role: trace.RoleOf(s.id), Procedure: r.Procedure,
		Operation: r.Verb.String(), Space: r.Space, Result: fault.Of(err).Code}
	switch {
	case r.Verb == space.VerbPut || r.Verb == space.VerbPutP:
		event.Tuple, event.Lease = r.Tuple.String(), trace.LeaseOf(r.Tuple)
	case r.Template != nil:
		event.Template = r.Template.String()
	}
	e.enqueue(effects{traced: []trace.Event{event}})
}

// writeEvent numbers an event and passes it to the trace. The caller has the
// committer's turn, or is Open.
func (e *Engine) writeEvent(event trace.Event) {
	e.committer.traced++
	event.Seq = e.committer.traced
	e.trace(event)
}

// maxQuiet is how many tuples there may be at a quiet point, because nobody else can use the spaces while they are listed.
const maxQuiet = 10_000

// TraceState makes the trace list the whole state once more, as after a reload, at the next quiet point: as soon as there
// are at most 10,000 tuples. A reader of the trace that has missed events goes on there. Without a trace it does nothing.
func (e *Engine) TraceState() {
	if e.trace == nil {
		return
	}
	e.state.mu.Lock()
	e.state.toTrace = true
	e.state.mu.Unlock()
	signal(e.wake)
}

// quietState returns the events of the whole state, if it is to be traced and there is a quiet point; else none. The
// caller has the committer's turn and holds state.mu, and writes the events after those of the pending batch.
func (e *Engine) quietState() (all []trace.Event) {
	if !e.state.toTrace || len(e.state.entries) > maxQuiet {
		return nil
	}
	e.state.toTrace = false
	e.eachOfState(func(event trace.Event) { all = append(all, event) })
	return all
}

// traceState writes the whole state to the trace: the events from there on tell what
// is in every space. The caller has the committer's turn, or is Open.
func (e *Engine) traceState() {
	if e.trace != nil {
		e.eachOfState(e.writeEvent)
	}
}

// eachOfState calls each with the events that list the whole state. The caller holds state.mu, or is Open.
func (e *Engine) eachOfState(each func(trace.Event)) {
	st := &e.state
	clock := st.now()
	each(trace.Event{Clock: clock, Operation: trace.Reload, Result: trace.OK})
	if len(e.settings) > 0 {
		each(trace.Event{Clock: clock, Operation: trace.Settings, Tuple: e.settings.String(), Result: trace.OK})
	}
	for _, id := range slices.Sorted(maps.Keys(st.sessions)) {
		each(trace.Event{Clock: clock, Operation: trace.Begin, Process: id, Role: trace.RoleOf(id), Result: trace.OK})
	}
	for _, ref := range slices.Sorted(maps.Keys(st.entries)) {
		each(restoreEvent(clock, st.entries[ref]))
	}
}

// restoreEvent is the event that tells that a tuple is in its space after a load.
func restoreEvent(clock time.Duration, x *entry) trace.Event {
	event := trace.Event{Clock: clock, Operation: trace.Restore, Result: trace.OK}
	if x.Hold != nil {
		event.Process, event.Role, event.Result = x.Hold.Session, trace.RoleOf(x.Hold.Session), trace.HeldResult
	}
	if isTaken(x) {
		event.Result = trace.TakenResult
	}
	event.Due = dueAt(x)
	return withEntry(event, x)
}
