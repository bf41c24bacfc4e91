package engine

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// Do implements space.Conn.
func (s *session) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if ctx.Err() != nil {
		return space.Reply{}, context.Cause(ctx)
	}
	if err := validate(&r); err != nil {
		return space.Reply{}, fmt.Errorf("%s %s: %w", r.Verb, target(r), err)
	}
	reply, err := s.dispatch(ctx, r)
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s %s: %w", r.Verb, target(r), err)
	}
	return reply, nil
}

func (s *session) dispatch(ctx context.Context, r space.Request) (space.Reply, error) {
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
	}
	s.e.mu.Lock()
	a, w := s.e.start(s, r)
	s.e.mu.Unlock()
	if w != nil {
		var err error
		if a, err = s.e.await(ctx, w); err != nil {
			return space.Reply{}, err
		}
	}
	return s.e.released(ctx, a)
}

// target names what a request is about.
func target(r space.Request) string {
	if r.Verb == space.VerbCall {
		return r.Procedure
	}
	return r.Space
}

// validate refuses what no engine should look at, and makes what it keeps its
// own.
func validate(r *space.Request) error {
	var err error
	if r.Tuple != nil {
		err = r.Tuple.Validate()
		r.Tuple = r.Tuple.Clone()
	}
	if err == nil && r.Template != nil {
		err = r.Template.Validate()
		r.Template = r.Template.Clone()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	if r.TTL < 0 {
		return fmt.Errorf("%w: a TTL of %s", fault.ErrInvalid, r.TTL)
	}
	return nil
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
	if err := e.usable(s); err != nil {
		return answer{err: err}, nil
	}
	e.fireDue()
	if err := e.usable(s); err != nil { // s itself may have been due
		return answer{err: err}, nil
	}
	age := e.ages + 1
	if r.Op != (space.OpID{}) {
		if reply, ok := e.answered(r.Op); ok {
			return e.answer(reply, nil), nil
		}
		if earlier := e.inflight[r.Op]; earlier != nil {
			age = earlier.age
			e.settle(earlier, answer{err: fmt.Errorf("repeated by a later call: %w", fault.ErrConflict)})
		}
	}
	reply, awaited, err := e.execute(s, r, false)
	if err != errWait {
		return e.answer(reply, err), nil
	}
	if e.waiting == MaxWaiters {
		return answer{err: fmt.Errorf("%w: %d calls wait already", fault.ErrOverloaded, MaxWaiters)}, nil
	}
	e.ages = max(e.ages, age)
	w := &waiter{age: age, session: s, request: r, awaited: awaited, done: make(chan struct{})}
	w.putter = r.Verb == space.VerbPut
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
		e.settle(w, answer{err: context.Cause(ctx)})
		return answer{}, context.Cause(ctx)
	}
}

// close ends the session in order.
func (s *session) close(ctx context.Context) (space.Reply, error) {
	e := s.e
	e.mu.Lock()
	if e.usable(s) != nil {
		e.mu.Unlock()
		return space.Reply{}, nil
	}
	e.endSession(s, space.Closed)
	a := e.answer(space.Reply{}, nil)
	e.mu.Unlock()
	return e.released(ctx, a)
}
