package engine

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Do implements space.Conn.
func (s *session) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	reply, err := s.dispatch(ctx, r)
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s %s: %w", r.Verb, r.Target(), err)
	}
	return reply, nil
}

func (s *session) dispatch(ctx context.Context, r space.Request) (space.Reply, error) {
	if ctx.Err() != nil {
		return space.Reply{}, over(ctx)
	}
	if err := s.validate(r); err != nil {
		return space.Reply{}, err
	}
	switch r.Verb {
	case space.VerbReceive:
		return s.receive(ctx)
	case space.VerbNotify:
		return s.notify(r)
	case space.VerbNext:
		return s.next(ctx, r.Subscription)
	case space.VerbUnnotify:
		return s.unnotify(r.Subscription)
	case space.VerbEnd:
		return s.close(ctx)
	case space.VerbAck, space.VerbBack:
		return s.acknowledge(r)
	}
	a, w := s.e.start(s, r)
	if w != nil {
		var err error
		if a, err = s.e.await(ctx, w); err != nil {
			return space.Reply{}, err
		}
	}
	if r.Verb.Changes() { // what happened is the caller's, whether it still wants it or not
		ctx = context.WithoutCancel(ctx)
	}
	return s.e.released(ctx, a)
}

// over says why ctx has ended.
func over(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// validate refuses what no engine should look at, and the ids of others.
func (s *session) validate(r space.Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.Op == (space.OpID{}) && (r.Ack && r.Verb.Takes() || r.Verb == space.VerbAck || r.Verb == space.VerbBack) {
		return fmt.Errorf("%w: what is acknowledged needs an operation id", fault.ErrInvalid)
	}
	if r.Op != (space.OpID{}) && r.Op.Session != s.id {
		return fmt.Errorf("%w: session %q cannot use the operation id of %q", fault.ErrInvalid, s.id, r.Op.Session)
	}
	return nil
}

// own makes what the engine keeps of a request its own.
func own(r space.Request) space.Request {
	r.Tuple, r.Args, r.Template = r.Tuple.Clone(), r.Args.Clone(), r.Template.Clone()
	return r
}

// usable says why s cannot be used, if so.
func (e *Engine) usable(s *session) error {
	if e.broken != nil {
		return e.broken
	}
	select {
	case <-s.ended:
		return s.err()
	default:
		return nil
	}
}

// start executes a request, or registers it as a waiter.
func (e *Engine) start(s *session, r space.Request) (answer, *waiter) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(s); err != nil {
		return answer{err: err}, nil
	}
	e.fireDue()
	if err := e.usable(s); err != nil { // s itself may have been due
		return answer{err: err}, nil
	}
	age := e.ages + 1
	if !r.Verb.Changes() {
		r.Op = space.OpID{}
	}
	if r.Op != (space.OpID{}) {
		if reply, ok, err := e.answered(s, r); ok {
			return e.answer(reply, err), nil
		}
		if earlier := e.inflight[r.Op]; earlier != nil {
			age = earlier.age
			e.settle(earlier, answer{err: fmt.Errorf("%w: repeated by a later call", fault.ErrConflict)})
		} else if err := e.forgotten(r.Op); err != nil && !r.Recent {
			return answer{err: err}, nil
		}
	}
	reply, awaited, err := e.execute(s, r, false)
	if err == errWait {
		return e.wait(s, r, awaited, age)
	}
	e.serve()
	return e.answer(reply, err), nil
}

// wait registers a request that found nothing.
func (e *Engine) wait(s *session, r space.Request, awaited []space.Awaited, age int64) (answer, *waiter) {
	if e.waiting >= MaxWaiters {
		err := fmt.Errorf("%w: %d calls wait already", fault.ErrOverloaded, MaxWaiters)
		e.refuse(s, r, err)
		return e.answer(space.Reply{}, err), nil
	}
	e.ages = max(e.ages, age)
	w := &waiter{age: age, session: s, request: own(r), done: make(chan struct{})}
	w.putter = r.Verb == space.VerbPut
	for _, a := range awaited {
		w.awaited = append(w.awaited, space.Awaited{Space: a.Space, Template: a.Template.Clone()})
	}
	e.waiting++
	s.waiters[w] = struct{}{}
	if r.Op != (space.OpID{}) {
		e.inflight[r.Op] = w
	}
	e.register(w)
	return answer{}, w
}

// await waits until w is served, and takes it back if ctx ends before.
func (e *Engine) await(ctx context.Context, w *waiter) (answer, error) {
	select {
	case <-w.done:
		return w.answer, nil
	case <-ctx.Done():
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-w.done: // served at the same moment: what was taken is the caller's
		return w.answer, nil
	default:
		err := over(ctx)
		e.settle(w, answer{err: err})
		return answer{}, err
	}
}

// putTuple is the tuple that a request puts, which the engine will keep.
func putTuple(r space.Request, again bool) tuple.Tuple {
	if again { // it is the engine's since it waited
		return r.Tuple
	}
	return r.Tuple.Clone()
}
