package engine

import (
	"slices"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/trace"
)

// begin starts a transaction of a session; nil is nobody. There is one at a time,
// and it is always the same, so that it costs no memory.
func (e *Engine) begin(caller *session) *transaction {
	steps := e.tx.steps
	clear(steps)
	if cap(steps) > keptSteps {
		steps = nil
	}
	e.tx = transaction{e: e, caller: caller, steps: steps[:0]}
	return &e.tx
}

// keptSteps is how large a slice is kept to be used again.
const keptSteps = 1024

// finish makes a transaction that has succeeded part of history: its facts go to
// the journal, its answer to the window, its changes to subscribers and trace;
// waiters will be offered what came, and room where something went.
func (e *Engine) finish(tx *transaction, op space.OpID, reply space.Reply) {
	facts := tx.facts
	for _, st := range tx.steps {
		r := e.rooms[st.space()]
		e.note(r, st)
		if len(r.subscribers) > 0 && st.change != acknowledged {
			r.publish(st)
		}
		if !r.def.Options.Volatile {
			facts = append(facts, st.fact())
		}
	}
	if op != (space.OpID{}) {
		facts = append(facts, e.remember(op, reply, len(facts) > 0)...)
		e.pending.answered = append(e.pending.answered, op)
	}
	e.pending.steps = append(e.pending.steps, tx.steps...)
	e.pending.lasting = e.pending.lasting || slices.ContainsFunc(facts, lasting)
	var traced []trace.Event
	if e.trace != nil {
		traced = tx.events()
	}
	e.tallies.operations.Add(1)
	if len(facts) > 0 || len(traced) > 0 || len(tx.steps) > 0 {
		e.enqueue(outcome{facts: facts, traced: traced})
	}
	e.deliver(tx.told)
}

func (st step) space() string {
	if st.new != nil {
		return st.new.Space
	}
	return st.old.Space
}

func (st step) fact() journal.Fact {
	if st.new == nil {
		return journal.Gone(st.old.Ref)
	}
	return st.new
}
