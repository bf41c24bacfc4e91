package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// Do implements space.Conn. It is the whole path of a request: the request is validated, executed as a transaction or
// registered as a waiter (start), and its answer is returned once the journal has what the answer saw (awaitDurable).
// Errors have the request in front.
func (s *session) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	reply, err := s.do(ctx, r)
	if err != nil {
		if s.e.queryOnly[r.Space] && errors.Is(err, fault.ErrForbidden) {
			s.reportForbidden(r)
		}
		return space.Reply{}, fmt.Errorf("%s: %w", r, err)
	}
	return reply, nil
}

// reportForbidden logs that a session tried to change a space of the protocols, once for each session,
// because it is a mistake of its program or an attack.
func (s *session) reportForbidden(r space.Request) {
	if s.reported.CompareAndSwap(false, true) {
		s.e.log.Warn("a session tried to change a space that only its protocol changes, and was refused", "session", s.id, "space", r.Space, "verb", r.Verb.String())
	}
}

// do is Do without the request in the error. Verbs that run no transaction on tuples are carried out in other files.
// A context that has ended, and a malformed request, is refused before anything happens.
func (s *session) do(ctx context.Context, r space.Request) (space.Reply, error) {
	if ctx.Err() != nil {
		return space.Reply{}, space.ContextError(ctx)
	}
	if err := s.validate(r); err != nil {
		return space.Reply{}, err
	}
	switch r.Verb {
	case space.VerbReceive:
		return s.receive(ctx)
	case space.VerbNotify:
		return s.subscribe(r)
	case space.VerbNext:
		return s.nextEvents(ctx, r.Subscription)
	case space.VerbUnnotify:
		return s.unsubscribe(r.Subscription)
	case space.VerbEnd:
		return s.close(ctx)
	case space.VerbCall:
		if read := s.e.readers[r.Procedure]; read != nil {
			return s.read(ctx, read, r)
		}
	}
	if size := sizeOf(r); size >= largeRequest {
		return s.doInTurn(ctx, r, size)
	}
	return s.e.finish(ctx, s.startValid(r))
}

// doInTurn is do for a large request. One that waits for a tuple or for capacity keeps no turn.
func (s *session) doInTurn(ctx context.Context, r space.Request, size int) (space.Reply, error) {
	if err := s.e.turns.take(ctx, s, size); err != nil {
		return space.Reply{}, err
	}
	give := sync.OnceFunc(func() { s.e.turns.give(size) })
	defer give()
	x := s.startValid(r)
	if x.Waits() {
		give()
	}
	return s.e.finish(ctx, x)
}

// validate refuses malformed requests, and operation ids of other sessions, with
// fault.ErrInvalid.
func (s *session) validate(r space.Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	needsOp := r.Ack && r.Verb.Takes() || r.Verb == space.VerbAck || r.Verb == space.VerbBack
	if needsOp && r.Op == (space.OpID{}) {
		return fmt.Errorf("%w: a get that is acknowledged needs an operation id", fault.ErrInvalid)
	}
	if r.Op != (space.OpID{}) && r.Op.Session != s.id {
		return fmt.Errorf("%w: session %q cannot use the operation id of %q", fault.ErrInvalid, s.id, r.Op.Session)
	}
	return nil
}

// fireDueFor fires the timers that are due, and returns why s cannot be used: nil if it can.
// It checks s twice, because the session itself may be what was due. The caller holds
// state.mu.
func (e *Engine) fireDueFor(s *session) error {
	if err := e.checkUsable(s); err != nil {
		return err
	}
	e.fireDue()
	return e.checkUsable(s)
}

// checkUsable returns why s cannot be used: the engine has stopped, or the session has ended. It
// returns nil if s can be used. The caller holds state.mu.
func (e *Engine) checkUsable(s *session) error {
	if e.state.stopped != nil {
		return e.state.stopped
	}
	select {
	case <-s.ended:
		return s.endError()
	default:
		return nil
	}
}

// start executes a request and returns its answer, or registers it as a waiter and returns that. Only verbs that
// change something have an operation id. If an operation with its id was answered before, the request gets that
// answer. If one still waits, that call ends with fault.ErrConflict and the request takes over its place in the
// queue. If the answer may have been forgotten, the request is refused, unless it is Recent.
func (e *Engine) start(s *session, r space.Request) (answer, *waiter) {
	st := &e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := e.fireDueFor(s); err != nil {
		return answer{err: err}, nil
	}
	age := st.lastAge + 1
	if !r.Verb.Changes() {
		r.Op = space.OpID{}
	}
	if r.Op != (space.OpID{}) {
		if reply, ok, err := e.earlierAnswer(s, r); ok {
			return e.answerNow(reply, err), nil
		}
		if earlier := st.inFlight[r.Op]; earlier != nil {
			age = earlier.age // the repeated call takes over its place
			e.finishWait(earlier, answer{err: fmt.Errorf("%w: repeated by a later call", fault.ErrConflict)})
		} else if err := e.checkNotForgotten(r.Op); err != nil && !r.Recent {
			return answer{err: err}, nil
		}
	}
	reply, awaited, err := e.execute(s, r, newRequest)
	if err == errWait {
		return e.addWaiter(s, r, awaited, age)
	}
	e.wakeWaiters()
	return e.answerNow(reply, err), nil
}

// takesAgain reports whether a get that may wait is to be executed again, because the
// procedure that answers it has changed something but found nothing.
func (e *Engine) takesAgain(r space.Request, reply space.Reply) bool {
	return r.Verb == space.VerbGet && !reply.Found && e.takes[r.Space] != ""
}

// addWaiter registers a request that found nothing, and that waits for awaited since age. It
// returns an answer with fault.ErrOverloaded, and no waiter, if too many wait already or memory
// is used up. The caller holds state.mu.
func (e *Engine) addWaiter(s *session, r space.Request, awaited []space.Awaited, age int64) (answer, *waiter) {
	st := &e.state
	if err := e.reserveWaiter(s, r); err != nil {
		e.recordRefusal(s, r, err)
		return e.answerNow(space.Reply{}, err), nil
	}
	st.lastAge = max(st.lastAge, age)
	// The engine keeps the request, and the caller may reuse its buffers.
	r.Tuple, r.Args, r.Template = r.Tuple.Clone(), r.Args.Clone(), r.Template.Clone()
	w := &waiter{age: age, session: s, request: r, size: sizeOfWaiter(r), forCapacity: r.Verb == space.VerbPut, done: make(chan struct{})}
	for _, a := range awaited {
		w.awaited = append(w.awaited, space.Awaited{Space: a.Space, Template: a.Template.Clone()})
	}
	st.waiting++
	s.waiters[w] = struct{}{}
	if r.Op != (space.OpID{}) {
		st.inFlight[r.Op] = w
	}
	st.listWaiter(w)
	return answer{}, w
}

// awaitWaiter waits until w has an answer. If ctx ends first, it removes w, which then takes
// nothing, and returns the context's error. The caller does not hold state.mu.
func (e *Engine) awaitWaiter(ctx context.Context, w *waiter) (answer, error) {
	select {
	case <-w.done:
		return w.answer, nil
	case <-ctx.Done():
	}
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	select {
	case <-w.done: // served at the same moment: the tuple that it took is the caller's
		return w.answer, nil
	default:
		err := space.ContextError(ctx)
		e.finishWait(w, answer{err: err})
		return answer{}, err
	}
}

// Whether the request being executed has waited before.
const (
	newRequest = false
	hasWaited  = true
)

// execute runs a request as a transaction, or as several while takesAgain. With the error errWait the last one found
// nothing and changed nothing; then awaited is what the request waits for. waited is newRequest or hasWaited. The
// caller holds state.mu, and calls wakeWaiters then.
func (e *Engine) execute(s *session, r space.Request, waited bool) (reply space.Reply, awaited []space.Awaited, err error) {
	for {
		reply, awaited, err = e.executeOnce(s, r, waited)
		if err != nil || !e.takesAgain(r, reply) {
			return reply, awaited, err
		}
	}
}

// executeOnce is execute for one transaction. A request that fails is undone, and recorded as refused. The reply of a
// get to be executed again (takesAgain) is not kept as the answer to its operation id. The caller holds state.mu.
func (e *Engine) executeOnce(s *session, r space.Request, waited bool) (reply space.Reply, awaited []space.Awaited, err error) {
	tx := e.beginTransaction(s)
	tx.waited = waited
	err = tx.try(func() (err error) {
		if reply, err = tx.runVerb(r); err != nil {
			return err
		}
		return tx.checkCapacity()
	})
	if errors.Is(err, errWait) {
		return space.Reply{}, tx.awaited, errWait
	}
	if err != nil {
		e.recordRefusal(s, r, err)
		return space.Reply{}, nil, err
	}
	op := r.Op
	if e.takesAgain(r, reply) {
		op = space.OpID{} // this is not the answer
	}
	e.finishTransaction(tx, op, reply)
	return reply, nil, nil
}

// runVerb does what the request's verb asks for. All verbs but those for lists, calls and new spaces need an existing
// space. A get in a space with a procedure in takes is answered by that procedure. The verbs for sessions and
// subscriptions do not come here, so they are refused like unknown ones. The caller holds state.mu.
func (tx *transaction) runVerb(r space.Request) (space.Reply, error) {
	switch r.Verb {
	case space.VerbCreate:
		return space.Reply{}, tx.createSpace(r.Space, r.Options)
	case space.VerbList:
		return space.Reply{Infos: tx.st.infos()}, nil
	case space.VerbCall:
		return tx.callProcedure(r)
	}
	in, err := tx.st.space(r.Space)
	if err != nil {
		return space.Reply{}, err
	}
	if tx.e.queryOnly[r.Space] && r.Verb.Changes() {
		return space.Reply{}, space.ErrQueryOnly(r.Space)
	}
	if procedure := tx.e.takes[r.Space]; procedure != "" && r.Verb.Takes() {
		return tx.takeBy(procedure, r)
	}
	switch r.Verb {
	case space.VerbPut, space.VerbPutP:
		if check := tx.e.putChecks[r.Space]; check != nil {
			if err := check(tx, r.Tuple); err != nil {
				return space.Reply{}, err
			}
		}
		return space.Reply{}, tx.putRequest(in, r)
	case space.VerbCount:
		return space.Reply{Count: in.visible.count(r.Template)}, nil
	case space.VerbGet, space.VerbGetP, space.VerbQuery, space.VerbQueryP:
		return tx.findOne(in, r)
	case space.VerbGetAll, space.VerbQueryAll, space.VerbGetUpTo, space.VerbQueryUpTo:
		return tx.findMany(in, r)
	}
	return space.Reply{}, fmt.Errorf("verb %d: %w", r.Verb, fault.ErrInvalid)
}

// createSpace makes a space, or does nothing if one with equal options exists; with other options it fails. A
// transaction cannot undo it, so it must be the last step that can fail.
func (tx *transaction) createSpace(name string, o space.Options) error {
	if name == "" || len(name) > space.MaxName {
		return fmt.Errorf("%w: a space needs a name of at most %d bytes", fault.ErrInvalid, space.MaxName)
	}
	o, err := o.Normalize()
	if err != nil {
		return err
	}
	if in := tx.st.spaces[name]; in != nil {
		if in.def.Options == o {
			return nil
		}
		return fmt.Errorf("%w: it exists with other options: %s", fault.ErrConflict, in.def.Options)
	}
	limit := ClientSpaces
	if tx.caller.fleet {
		limit = maxSpaces
	}
	if len(tx.st.spaces) >= limit {
		return fmt.Errorf("%w: there are already %d spaces, the maximum", fault.ErrOverloaded, len(tx.st.spaces))
	}
	if tx.e.journalFull() {
		return errDiskFull
	}
	if err := tx.st.contents.Budget.Reserve(spaceCost, memory.Growth); err != nil {
		return err
	}
	tx.st.contents.Budget.Add(-spaceCost) // newSpaceState adds it
	def := &journal.Space{Name: name, Options: o}
	tx.st.spaces[name] = tx.e.newSpace(def)
	tx.facts = append(tx.facts, def)
	return nil
}

// infos describes all spaces, by name. A space counts its visible and held tuples together, so
// those in its index of held ones are subtracted.
func (st *state) infos() []space.Info {
	infos := make([]space.Info, 0, len(st.spaces))
	for _, name := range slices.Sorted(maps.Keys(st.spaces)) {
		in := st.spaces[name]
		held := 0
		for _, b := range in.held.buckets {
			held += b.entries.len()
		}
		infos = append(infos, space.Info{Name: name, Options: in.def.Options, Visible: in.size - held, Held: held})
	}
	return infos
}

// callProcedure calls a procedure for a session. If it waits, callProcedure returns errWait, and all spaces that it
// waits for must exist, because otherwise no put would ever wake it.
func (tx *transaction) callProcedure(r space.Request) (space.Reply, error) {
	reply, err := tx.Call(r.Procedure, r.Args)
	if errors.Is(err, errWait) {
		for _, a := range tx.awaited {
			if _, err := tx.st.space(a.Space); err != nil {
				return space.Reply{}, fmt.Errorf("wait: %w", err)
			}
		}
	}
	if err != nil {
		return space.Reply{}, err
	}
	if err := reply.Validate(); err != nil {
		return space.Reply{}, fmt.Errorf("its reply: %w", err)
	}
	return space.Reply{Tuple: reply.Clone()}, nil
}

// putRequest puts a tuple. A blocking put waits (errWait) for capacity in a full space, and behind other puts that
// wait already, unless it is one of these itself (tx.waited). The tuple of a waiter was cloned when it began to wait.
func (tx *transaction) putRequest(in *spaceState, r space.Request) error {
	blocks := r.Verb == space.VerbPut && in.def.Options.Overflow == space.Block
	if blocks && in.putters.len() > 0 && !tx.waited {
		return errWait
	}
	t := r.Tuple
	if !tx.waited {
		t = t.Clone()
	}
	_, err := tx.putOwned(in, t, space.PutOptions{TTL: r.TTL})
	if blocks && errors.Is(err, fault.ErrOverloaded) {
		return errWait
	}
	return err
}

// takeBy answers a get with what a procedure returns; an empty tuple means that it found nothing.
func (tx *transaction) takeBy(procedure string, r space.Request) (space.Reply, error) {
	if r.Verb.TakesMany() {
		return space.Reply{}, fmt.Errorf("%w: tuples of this space are taken one at a time", fault.ErrInvalid)
	}
	reply, err := tx.Call(procedure, space.TakeArgs(r.Template, r.Verb == space.VerbGet))
	if err != nil {
		return space.Reply{}, err
	}
	return space.Reply{Found: len(reply) > 0, Tuple: reply.Clone()}, nil
}

// findOne finds a tuple, and takes it if the verb takes. If none matches, a verb that may wait returns errWait, and
// another verb a reply with Found false. It has no other error.
func (tx *transaction) findOne(in *spaceState, r space.Request) (space.Reply, error) {
	x := in.find(r.Template, nil)
	tx.traceLookup(r, x)
	if x == nil {
		if r.Verb == space.VerbGet || r.Verb == space.VerbQuery {
			return space.Reply{}, tx.Wait(space.Awaited{Space: r.Space, Template: r.Template})
		}
		return space.Reply{}, nil
	}
	if r.Verb.Takes() {
		tx.takeFor(r, x)
	}
	return space.Reply{Found: true, Tuple: r.ReplyTuple(x.Tuple)}, nil
}

// findMany finds all matches, or up to as many as the limit of the request if there is one, and takes them if the
// verb takes. If they take more than space.MaxReply bytes, it refuses to find all, and with a limit it finds the
// first that fit.
func (tx *transaction) findMany(in *spaceState, r space.Request) (space.Reply, error) {
	var found []*entry
	size := 0
	in.visible.each(r.Template, func(x *entry) bool {
		size += x.Tuple.Size() + space.ReplyOverhead
		if r.Limit > 0 && size > space.MaxReply {
			return false
		}
		found = append(found, x)
		return len(found) != r.Limit && size <= space.MaxReply // a limit of 0 is never reached
	})
	if r.Limit == 0 && size > space.MaxReply {
		return space.Reply{}, fmt.Errorf("%w: the %d matches take more than %d bytes", fault.ErrTooLarge, in.visible.count(r.Template), space.MaxReply)
	}
	tx.traceLookup(r, found...)
	if len(found) == 0 {
		return space.Reply{}, nil
	}
	reply := space.Reply{Found: true, Tuples: make([]tuple.Tuple, len(found))}
	for i, x := range found {
		reply.Tuples[i] = r.ReplyTuple(x.Tuple)
		if r.Verb.Takes() {
			tx.takeFor(r, x)
		}
	}
	return reply, nil
}
