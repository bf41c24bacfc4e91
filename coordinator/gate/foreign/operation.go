package foreign

import (
	"context"
	"errors"
	"fmt"

	"leasehold/coordinator/peer"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/idempotency"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

// Operation is one operation of a foreign client on a space.
type Operation struct {
	// Verb is a put, get, query or count; VerbPut, VerbGet and VerbQuery wait.
	Verb    space.Verb
	Space   string
	Tuple   tuple.Tuple     // of a put
	Pattern interop.Pattern // of a get or query
	Peer    peer.Peer       // whose quota of waiting calls counts
}

// Answer is the outcome of an operation. If it took tuples, Delivered or Undelivered must
// be called once.
type Answer struct {
	Tuples []tuple.Tuple // that were found
	Count  int

	taken taken
}

// Took reports whether the answer took tuples out of a space.
func (a Answer) Took() bool { return a.taken != nil }

// Access is what the clients of a gate may do.
type Access struct {
	Write bool // put and get; without it only query and count
	// Permit refuses an operation that the role of the clients does not allow; nil: it allows all.
	Permit func(Operation) error
}

// queryOnly are the spaces that only the protocols write to. It does not import the coordinator,
// whose definitions it repeats, because programs without one open gates, too; a test compares both.
var queryOnly = space.QueryOnly(lease.Spaces(), task.Spaces(), status.Spaces(), schedule.Spaces(), idempotency.Spaces(), batch.Spaces(), hold.Spaces())

// Check returns fault.ErrForbidden for an operation that is not allowed: a change at a read-only gate or in a
// space of the protocols, and a get of several tasks.
func (a Access) Check(o Operation) error {
	changes := o.Verb.Takes() || o.Verb == space.VerbPut || o.Verb == space.VerbPutP
	switch {
	case changes && !a.Write:
		return fmt.Errorf("%s %s: %w: this gate is read-only", o.Verb, o.Space, fault.ErrForbidden)
	case changes && queryOnly[o.Space]:
		return fmt.Errorf("%s %s: %w: foreign programs can only query this space", o.Verb, o.Space, fault.ErrForbidden)
	case o.Space == task.Space && o.Verb.TakesMany():
		return fmt.Errorf("get all tasks: %w: a get of a task is a claim, and claims one at a time", fault.ErrForbidden)
	case a.Permit != nil:
		return a.Permit(o)
	}
	return nil
}

// TryAtOnce carries out an operation unless it has to wait: then done is false, and nothing has happened. It has
// to wait if a put finds the space full (err is then fault.ErrOverloaded), or a get or query no match (err is
// nil). After any other error done is true.
func (h *Hub) TryAtOnce(ctx context.Context, o Operation) (a Answer, done bool, err error) {
	verb := o.Verb
	o.Verb = withoutWaiting(verb)
	a, err = h.Do(ctx, o)
	switch {
	case verb == o.Verb:
		return a, true, err
	case verb == space.VerbPut:
		return a, !errors.Is(err, fault.ErrOverloaded), err
	}
	return a, err != nil || len(a.Tuples) > 0, err
}

// withoutWaiting returns the form of a verb that does not wait, so that most operations need no
// goroutine; other verbs stay.
func withoutWaiting(v space.Verb) space.Verb {
	switch v {
	case space.VerbPut:
		return space.VerbPutP
	case space.VerbGet:
		return space.VerbGetP
	case space.VerbQuery:
		return space.VerbQueryP
	}
	return v
}

// Do carries out an operation, which the caller has checked (Access.Check). If ctx ends first, the operation
// takes nothing and the error is the context's. An operation that does not wait and finds nothing has an answer
// without tuples. One that may wait counts while it runs. Do fails with fault.ErrOverloaded if too many wait, and
// with fault.ErrNotFound if the space does not exist.
func (h *Hub) Do(ctx context.Context, o Operation) (Answer, error) {
	if o.Verb.Takes() {
		if err := h.refused.Check(); err != nil {
			return Answer{}, err
		}
	}
	switch o.Verb {
	case space.VerbPut, space.VerbGet, space.VerbQuery:
		if err := h.takeWaiter(o.Peer); err != nil {
			return Answer{}, err
		}
		defer h.returnWaiter(o.Peer)
	}
	s, err := h.currentSession(ctx)
	if err != nil {
		return Answer{}, err
	}
	switch {
	case o.Space == task.Result && o.Verb != space.VerbCount && isResult(o.Tuple):
		return Answer{}, h.report(ctx, s, o.Tuple)
	case o.Space == task.Space && o.Verb.Takes():
		return h.claim(ctx, o)
	}
	p, plain := o.Pattern.Plain()
	if plain {
		return h.doPlain(ctx, s, o, p)
	}
	switch o.Verb {
	case space.VerbGetAll, space.VerbQueryAll:
		return h.findAll(ctx, s, o)
	}
	return h.find(ctx, s, o)
}

// doPlain carries out an operation whose pattern is a template. The tuples that it takes are
// held by the get (Ack) until the answer was delivered. Recent is true, because the hub repeats
// no operation, and Shared, because it only encodes the tuples. The error is the engine's.
func (h *Hub) doPlain(ctx context.Context, s engine.GateSession, o Operation, p tuple.Template) (Answer, error) {
	r := space.Request{Verb: o.Verb, Space: o.Space, Tuple: o.Tuple, Template: p, Shared: true}
	if o.Verb.Takes() {
		r.Op = space.OpID{Session: s.Session(), Seq: h.sequence.Add(1)}
		r.Ack, r.Recent = true, true
	}
	reply, err := s.Do(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Tuples: reply.Tuples, Count: reply.Count}
	if reply.Found && reply.Tuples == nil {
		a.Tuples = []tuple.Tuple{reply.Tuple}
	}
	if o.Verb.Takes() && reply.Found {
		a.taken = takenByGet{s, r.Op}
	}
	return a, nil
}

// find carries out an operation on one tuple whose pattern accepts several types, and holds the tuple if it
// takes. A pattern of more types than a procedure can wait for is watched instead.
func (h *Hub) find(ctx context.Context, s engine.GateSession, o Operation) (Answer, error) {
	patterns := overPatterns(s)
	options := interop.Options{Take: o.Verb.Takes(), Wait: o.Verb == space.VerbGet || o.Verb == space.VerbQuery}
	found, ok, err := patterns.Find(ctx, o.Space, o.Pattern, options)
	switch {
	case errors.Is(err, interop.ErrCannotWait):
		options.Wait = false
		found, err = watch(ctx, s, o, options)
		ok = err == nil
	case err == nil && !ok:
		err = h.mustExist(ctx, s, o.Space)
	}
	if err != nil || !ok {
		return Answer{}, err
	}
	a := Answer{Tuples: []tuple.Tuple{found.Tuple}}
	if options.Take {
		a.taken = h.takenByPattern(s, found)
	}
	return a, nil
}

// findAll carries out an operation on all matches of a pattern that accepts several types, and holds the tuples
// that it takes.
func (h *Hub) findAll(ctx context.Context, s engine.GateSession, o Operation) (Answer, error) {
	options := interop.Options{Take: o.Verb.Takes()}
	found, err := overPatterns(s).FindAll(ctx, o.Space, o.Pattern, options)
	if err == nil && len(found) == 0 {
		err = h.mustExist(ctx, s, o.Space)
	}
	var a Answer
	if options.Take && len(found) > 0 {
		a.taken = h.takenByPattern(s, found...)
	}
	if err != nil {
		h.Undelivered(a)
		return Answer{}, err
	}
	for _, f := range found {
		a.Tuples = append(a.Tuples, f.Tuple)
	}
	return a, nil
}

// mustExist returns fault.ErrNotFound if a space does not exist, because to a procedure it looks
// empty. Other errors are the engine's.
func (h *Hub) mustExist(ctx context.Context, s space.Conn, name string) error {
	_, err := space.Over(s).Space(name).Count(ctx, tuple.Template{})
	return err
}

// watch waits for a match of a pattern that no procedure can wait for: it subscribes to all changes of the space
// before it searches, so that it misses none, and searches again after each. Such waiters have no order. options
// do not wait.
func watch(ctx context.Context, s space.Conn, o Operation, options interop.Options) (interop.Found, error) {
	subscription, err := space.Over(s).Space(o.Space).Notify(ctx, nil)
	if err != nil {
		return interop.Found{}, err
	}
	defer func() { _ = subscription.Close(context.WithoutCancel(ctx)) }() // the session's end closes it too
	for {
		found, ok, err := overPatterns(s).Find(ctx, o.Space, o.Pattern, options)
		if ok || err != nil {
			return found, err
		}
		if _, _, err := subscription.Next(ctx); err != nil {
			return interop.Found{}, err
		}
	}
}

// Size counts all tuples of a space that can be found. It fails with fault.ErrNotFound if the space does not
// exist.
func (h *Hub) Size(ctx context.Context, name string) (Answer, error) {
	s, err := h.currentSession(ctx)
	if err != nil {
		return Answer{}, err
	}
	all, err := space.Over(s).List(ctx)
	if err != nil {
		return Answer{}, err
	}
	for _, info := range all {
		if info.Name == name {
			return Answer{Count: info.Visible}, nil
		}
	}
	return Answer{}, fmt.Errorf("size of %q: %w", name, fault.ErrNotFound)
}
