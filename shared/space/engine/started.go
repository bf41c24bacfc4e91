package engine

import (
	"context"
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// Started is a request that GateSession.Start has executed, or that waits in the engine.
type Started struct {
	session *session
	request space.Request
	answer  answer
	waiter  *waiter // nil: the request was executed
}

// CanStart implements GateSession. It reports true for verbs for one tuple, verbs that end gets, and calls of
// procedures. Other verbs need Do, as large requests, which wait for their turn, and calls of readers too, because they read the disk.
func (s *session) CanStart(r space.Request) bool {
	if sizeOf(r) >= largeRequest {
		return false
	}
	switch r.Verb {
	case space.VerbPut, space.VerbPutP, space.VerbGet, space.VerbGetP, space.VerbQuery, space.VerbQueryP, space.VerbCount:
		return true
	case space.VerbAck, space.VerbBack:
		return true
	case space.VerbCall:
		return s.e.readers[r.Procedure] == nil
	}
	return false
}

// Start implements GateSession. The answer to a malformed request is its error.
func (s *session) Start(r space.Request) Started {
	if err := s.validate(r); err != nil {
		return Started{session: s, request: r, answer: answer{err: err}}
	}
	return s.startValid(r)
}

// startValid is Start for a request that was validated: it ends gets, or executes the request.
func (s *session) startValid(r space.Request) Started {
	x := Started{session: s, request: r}
	if r.Verb == space.VerbAck || r.Verb == space.VerbBack {
		x.answer = s.e.acknowledge(s, r)
	} else {
		x.answer, x.waiter = s.e.start(s, r)
	}
	return x
}

// Waits reports whether the request waits for a tuple or for capacity.
func (x Started) Waits() bool { return x.waiter != nil }

// Ready reports whether Finish will not wait, neither for a tuple nor for a disk. It waits
// for other commits of a journal in memory.
func (x Started) Ready() bool {
	return x.waiter == nil && (x.session.e.instant() || x.answer.settled())
}

// Size returns the bytes of the tuple in the answer of a request that was executed.
func (x Started) Size() int { return x.answer.reply.Tuple.Size() }

// Finish returns the answer, or the error, as Do does. It must be called once, because nothing else ends a request
// that waits. Its context has the same effect as Do's.
func (x Started) Finish(ctx context.Context) (space.Reply, error) {
	reply, err := x.session.e.finish(ctx, x)
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s: %w", x.request, err)
	}
	return reply, nil
}

// finish waits until a started request has an answer and the answer is durable. The end of ctx ends the wait for a
// tuple or for capacity, and for durability only if the request changed nothing. The caller does not hold state.mu.
func (e *Engine) finish(ctx context.Context, x Started) (space.Reply, error) {
	a := x.answer
	if x.waiter != nil {
		var err error
		if a, err = e.awaitWaiter(ctx, x.waiter); err != nil {
			return space.Reply{}, err
		}
	}
	if x.request.Verb.Changes() || x.request.Verb == space.VerbAck || x.request.Verb == space.VerbBack {
		// The change belongs to the caller even if its context has ended meanwhile.
		ctx = context.WithoutCancel(ctx)
	}
	return e.awaitDurable(ctx, a)
}

// instant reports whether commits need no disk, because the journal is in memory only.
func (e *Engine) instant() bool {
	m, ok := e.journal.(*journal.Memory)
	return ok && m.Instant()
}
