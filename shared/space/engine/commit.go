package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/trace"
)

// maxKept is how large a slice may be to be kept for the next transaction or batch.
const maxKept = 1024

// epoch ends when transactions that were not durable are lost: when a batch is undone, when the journal is loaded
// again, and when the engine is deposed.
type epoch struct {
	executed uint64        // transactions enqueued; guarded by state.mu
	durable  atomic.Uint64 // of those, committed
	proofs   uint64        // that the engine owns its journal: begun; guarded by state.mu
	proved   atomic.Uint64 // of those, succeeded: the newest one
	ended    atomic.Pointer[ending]
}

// ending is why an epoch has ended.
type ending struct {
	why error // a fault
	all bool  // its durable answers are void too
}

// end makes all answers void that are not released yet and not durable; why is a fault.
func (p *epoch) end(why error) { p.ended.Store(&ending{why: why}) }

// depose makes all answers void that are not released yet; why is a fault.
func (p *epoch) depose(why error) { p.ended.Store(&ending{why: why, all: true}) }

// answer is the outcome of a request, to be released when all that had been executed when it was made is durable and,
// if the journal may get another owner, when the engine was proved to own it at a time after the answer was made.
// Without an epoch it may be released at once.
type answer struct {
	reply    space.Reply
	err      error
	epoch    *epoch
	executed uint64 // of the epoch, when the answer was made
	proof    uint64 // the first proof of the epoch that began after the answer was made; 0: it needs none
}

// answerNow ties a reply, or an error, to what has been executed so far. The caller holds
// state.mu.
func (e *Engine) answerNow(r space.Reply, err error) answer {
	p := e.state.epoch
	a := answer{reply: r, err: err, epoch: p, executed: p.executed}
	if e.owned != nil {
		a.proof = p.proofs + 1
	}
	return a
}

// settled reports whether nothing that may be released has to be waited for: the journal has all that the answer saw,
// and the answer is proved. The answer may be void nevertheless (voidError).
func (a answer) settled() bool {
	return a.epoch == nil || a.epoch.durable.Load() >= a.executed && a.epoch.proved.Load() >= a.proof
}

// voidError returns why an answer must not be released: why its epoch ended, or fault.ErrUnavailable while the answer
// is not settled. It returns nil if it may be released.
func (a answer) voidError() error {
	if a.epoch == nil {
		return nil
	}
	if end := a.epoch.ended.Load(); end != nil && (end.all || !a.settled()) {
		return end.why
	}
	if !a.settled() {
		return fmt.Errorf("not durable yet: %w", fault.ErrUnavailable)
	}
	return nil
}

// effects belong to one transaction on its way to the journal, or only the trace of a refused request.
type effects struct {
	facts  []journal.Fact
	clock  time.Duration
	traced []trace.Event
}

// batch is what one commit makes durable, and what it takes to undo it.
type batch struct {
	effects      []effects
	steps        []step       // of all transactions
	answered     []space.OpID // operations whose answers were remembered
	irreversible bool         // a transaction cannot be undone in memory
	size         int64        // estimate of the memory that it takes until it is committed
}

// emptied returns b without its content, with the memory to be filled again. Slices that are
// larger than maxKept are not kept, because their memory would never be freed.
func (b batch) emptied() batch {
	if cap(b.effects) > maxKept || cap(b.steps) > maxKept || cap(b.answered) > maxKept {
		return batch{}
	}
	clear(b.effects)
	clear(b.steps)
	clear(b.answered)
	return batch{effects: b.effects[:0], steps: b.steps[:0], answered: b.answered[:0]}
}

// beginTransaction starts a transaction of a session; a nil caller is the engine itself. There
// is one transaction at a time, so all of them use the memory of state.tx. The calling function
// holds state.mu until finishTransaction.
func (e *Engine) beginTransaction(caller *session) *transaction {
	tx := &e.state.tx
	steps := tx.steps
	clear(steps)
	if cap(steps) > maxKept {
		steps = nil
	}
	*tx = transaction{e: e, st: &e.state, caller: caller, steps: steps[:0]}
	return tx
}

// finishTransaction distributes what a transaction that succeeded has changed: its facts go to
// the pending batch, its reply to the answer window if op is not zero, its steps to subscribers
// and trace, its messages to inboxes, and tuples and capacity to the queues of wakeWaiters,
// which the caller must call then. Steps in volatile spaces have no facts. The caller holds
// state.mu.
func (e *Engine) finishTransaction(tx *transaction, op space.OpID, reply space.Reply) {
	facts, pending := tx.facts, &e.state.pending
	if len(tx.notes) > 0 {
		e.noted(tx.notes)
	}
	for _, s := range tx.steps {
		in := e.state.spaces[s.space()]
		e.queueWakeup(in, s)
		e.state.measureStep(s)
		if len(in.subscribers) > 0 && s.change != acknowledged {
			in.publish(s)
		}
		if in.def.Options.Volatile {
			continue
		}
		switch {
		case s.new == nil:
			facts = append(facts, journal.Gone(s.old.Ref))
		case e.state.isLatest(s):
			facts = append(facts, s.new)
		}
	}
	if op != (space.OpID{}) {
		tookOne := tx.awaitAck == 1 // the reply of more is kept, because a reload does not restore their order
		facts = append(facts, e.rememberAnswer(op, reply, tookOne, len(facts) > 0)...)
		pending.answered = append(pending.answered, op)
	}
	pending.steps = append(pending.steps, tx.steps...)
	pending.irreversible = pending.irreversible || slices.ContainsFunc(facts, irreversible)
	var traced []trace.Event
	if e.trace != nil {
		traced = tx.events()
	}
	e.counters.operations.Add(1)
	if len(facts) > 0 || len(traced) > 0 || len(tx.steps) > 0 {
		e.enqueue(effects{facts: facts, traced: traced})
	}
	e.deliver(tx.messages)
}

// isLatest reports whether the journal needs the entry of a step other than a removal. It does not if a later step of
// the same transaction replaced or removed the entry, so that a tuple is encoded once. But of a tuple that came and
// went the first entry is needed, because the journal must know the highest ref.
func (st *state) isLatest(s step) bool {
	now := st.entries[s.new.Ref]
	return now == s.new || now == nil && s.old == nil
}

// irreversible reports whether a fact stands for a change that cannot be undone in memory. A
// batch with one is undone by loading the journal again.
func irreversible(f journal.Fact) bool {
	switch f.(type) {
	case *journal.Session, journal.Ended, *journal.Space, journal.Deleted, journal.Forgotten:
		return true
	}
	return false
}

// enqueue adds a transaction to the next commit, with the engine time of now. Its memory counts
// until that commit has ended.
func (e *Engine) enqueue(x effects) {
	st := &e.state
	st.epoch.executed++
	x.clock = st.now()
	size := pendingSize(x.facts)
	st.pending.size += size
	st.memory.Add(size)
	st.pending.effects = append(st.pending.effects, x)
}

// rememberAnswer keeps the answer to op for a repeat, and returns the facts of it
// for the journal. If taken is true, the tuple of the reply is not kept, because
// earlierAnswer reads it off the entry until it is acknowledged. An operation that left no
// fact of its own is not journalled (durable is false), because repeating it after a
// restart does no harm.
func (e *Engine) rememberAnswer(op space.OpID, reply space.Reply, taken, durable bool) []journal.Fact {
	w := e.state.answersOf(op.Session)
	a := &journal.Answer{Op: op, Nth: w.given + 1}
	if taken {
		a.Reply.Found, a.DroppedBytes = true, replySize(reply)
	} else {
		a.Reply = cloneReply(reply)
	}
	w.add(a)
	facts := append(w.forgetOld(), w.dropLarge()...)
	if durable {
		facts = append(facts, a)
	}
	return facts
}

// earlierAnswer returns the first answer to a repeated operation of s, and whether there is one. If the operation has
// happened but its reply was dropped, ok is true and the operation fails with fault.ErrConflict. The reply to an
// unacknowledged get is never lost: it is read off the tuples that the get took.
func (e *Engine) earlierAnswer(s *session, r space.Request) (reply space.Reply, ok bool, err error) {
	w := e.state.answers[s.id]
	if w == nil || w.answers[r.Op.Seq] == nil {
		return space.Reply{}, false, nil
	}
	given := w.answers[r.Op.Seq]
	reply = cloneReply(given.Reply)
	if given.DroppedBytes == 0 {
		return reply, true, nil
	}
	for _, ref := range s.taken[r.Op.Seq] {
		if x := e.state.entries[ref]; x != nil && isTaken(x) && x.Hold.Op == r.Op.Seq {
			reply.Tuples = append(reply.Tuples, x.Tuple.Clone())
		}
	}
	switch {
	case len(reply.Tuples) == 0:
		return space.Reply{}, true, fmt.Errorf("operation %d: %w: it has happened, but its answer of %d bytes is no longer kept", r.Op.Seq, fault.ErrConflict, given.DroppedBytes)
	case !r.Verb.TakesMany():
		reply.Tuple, reply.Tuples = reply.Tuples[0], nil
	}
	return reply, true, nil
}

// checkNotForgotten returns fault.ErrConflict if op is so old that its answer may have been
// forgotten, because executing it could then be the second time.
func (e *Engine) checkNotForgotten(op space.OpID) error {
	if w := e.state.answers[op.Session]; w != nil && w.isOld(op.Seq) {
		return fmt.Errorf("operation %d: %w: it is too old to be repeated, %d is the newest", op.Seq, fault.ErrConflict, w.newest[numberRange(op.Seq)])
	}
	return nil
}

// awaitDurable returns an answer once it is settled, or the context's error if that
// ends first, or why the answer became void (voidError). The first caller to get its turn
// commits, or confirms, for all that wait. The caller holds neither state.mu nor the turn.
func (e *Engine) awaitDurable(ctx context.Context, a answer) (space.Reply, error) {
	if !a.settled() {
		select {
		case e.committer.turn <- struct{}{}:
		case <-ctx.Done():
			signal(e.wake) // Run commits what this caller no longer waits for
			return space.Reply{}, space.ContextError(ctx)
		}
		if !a.settled() && a.epoch.ended.Load() == nil {
			_ = e.commit(e.owned != nil) // voidError returns what it means for this answer
		}
		<-e.committer.turn
	}
	if err := a.voidError(); err != nil {
		return space.Reply{}, err
	}
	return a.reply, a.err
}

// flush waits for the committer's turn and commits the pending batch. The caller does not hold state.mu.
func (e *Engine) flush() error {
	e.committer.turn <- struct{}{}
	defer func() { <-e.committer.turn }()
	return e.commit(false)
}

// commit writes everything pending as one batch, then its trace, and then releases the answers
// that wait for it (settled). If prove is true and there is nothing to write, it has the journal
// confirm that it is this engine's. It takes the batch while it holds state.mu, and writes without it,
// so that requests go on. The caller has the committer's turn. An error that it returns was
// handled (handleCommitError): what was pending is void.
func (e *Engine) commit(prove bool) error {
	st := &e.state
	st.mu.Lock()
	b, current, executed := st.pending, st.epoch, st.epoch.executed
	st.epoch.proofs++
	proof := st.epoch.proofs
	st.pending, st.spare = st.spare, batch{}
	state := e.quietState()
	st.mu.Unlock()
	records := make([]journal.Record, 0, len(b.effects))
	for _, x := range b.effects {
		if len(x.facts) > 0 {
			records = append(records, journal.Record{Clock: x.clock, Facts: x.facts})
		}
	}
	if err := e.write(records, prove); err != nil {
		st.mu.Lock()
		st.memory.Add(-b.size)
		st.mu.Unlock()
		e.handleCommitError(b, err)
		return fmt.Errorf("engine: commit: %w", err)
	}
	if prove || len(records) > 0 {
		current.proved.Store(proof)
	}
	for _, x := range b.effects {
		for _, event := range x.traced {
			e.writeEvent(event)
		}
	}
	for _, event := range state {
		e.writeEvent(event)
	}
	current.durable.Store(executed)
	st.mu.Lock()
	st.memory.Add(-b.size)
	st.spare = b.emptied()
	st.mu.Unlock()
	return nil
}

// write commits records to the journal. If there are none and prove is true, it has the journal confirm that it is
// this engine's. The caller has the committer's turn.
func (e *Engine) write(records []journal.Record, prove bool) error {
	if len(records) == 0 {
		if prove {
			return e.owned.Confirm(context.Background())
		}
		return nil
	}
	began := time.Now()
	failpoint.Reached("commit.before", "")
	if err := e.journal.Commit(context.Background(), e.committer.position, records); err != nil {
		return err
	}
	failpoint.Reached("commit.after", "")
	e.committer.position += journal.Position(len(records))
	e.counters.countCommit(len(records), time.Since(began))
	return nil
}
