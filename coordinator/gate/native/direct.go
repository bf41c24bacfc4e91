package native

import (
	"context"
	"errors"
	"time"

	"leasehold/shared/process/failpoint"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/wire"
)

// maxDirect bounds the bytes that wait to be written while the reader of a connection answers
// calls itself. The reader must never wait for the client to read, because the client may wait
// for the gate to read: above the bound, goroutines of the pool answer. Each direct answer has
// at most about largeAnswer bytes, so that the link's own bound is never reached by it.
const maxDirect = 1 << 20

// runCall carries out a call in the goroutine of the reader if it needs not wait: not for a tuple, not for a
// disk, and not for the client. Else the pool carries it out, or finishes what the reader began; a call that only
// has to become durable is finished with others in a batch.
func (s *session) runCall(ctx context.Context, conn *connection, c *call) error {
	if !s.g.hasLargeAnswer(c.request) && s.backend.CanStart(c.request) {
		answered, err := s.tryDirect(conn, c)
		if answered || err != nil {
			return err
		}
	}
	c.ctx, c.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	s.calls[c.number] = c
	s.bytes += c.size
	s.mu.Unlock()
	if c.started != nil && !c.started.Waits() && c.started.Size() <= largeAnswer {
		conn.addToBatch(c)
		return nil
	}
	conn.workers.start(c)
	return nil
}

// tryDirect begins a call, and answers it if that needs no waiting, and reports whether it did. If not, c.started
// has to be finished. If it panics the call is answered too, with errPanic. What the call had reserved is
// returned once it is answered.
func (s *session) tryDirect(conn *connection, c *call) (answered bool, err error) {
	panicked := true
	defer func() {
		if !panicked {
			return
		}
		answered, err = true, conn.link.Queue(failure(c.number, errPanic))
		s.returnReserved(c)
	}()
	defer s.g.recoverPanic("call", s.id)
	operation := c.request.Operation()
	failpoint.Reached("call.before", operation)
	started := s.backend.Start(c.request)
	c.started = &started
	if !started.Ready() || started.Size() > largeAnswer || conn.link.Queued() > maxDirect {
		panicked = false
		return false, nil
	}
	f, err := s.finishDirect(c) // of c.started
	failpoint.Reached("call.after", operation)
	s.returnReserved(c)
	panicked = false
	if errors.Is(err, engine.ErrDeposed) {
		return true, err // without an answer, as in executeAndAnswer
	}
	if h := s.g.Calls[c.request.Verb]; h != nil {
		h.Observe(time.Since(c.began))
	}
	err = conn.link.Queue(f)
	failpoint.Reached("reply.after", operation)
	return true, err
}

// finishDirect returns the answer to a call, and its error, that was begun and need not wait (Started.Ready). It
// ends the reservation for the reply at once, because the link counts the frame when it is
// queued.
func (s *session) finishDirect(c *call) (wire.Frame, error) {
	reply, err := c.started.Finish(context.Background())
	if err == nil {
		var size int64
		size, err = s.reserveReply(c.request.Verb, reply)
		s.g.Memory.Add(-size)
	}
	return s.answerFrame(c, reply, err), err
}

// addToBatch adds a call that only has to become durable to those that one goroutine finishes,
// because one commit makes all durable. Only the reader calls it.
func (conn *connection) addToBatch(c *call) {
	if conn.batch == nil {
		conn.batch = c
	} else {
		conn.last.next = c
	}
	conn.last = c
}

// endBatch writes the answers that are queued, and gives the batch to the pool, because no
// further frame has arrived. Only the reader calls it.
func (conn *connection) endBatch() {
	if conn.batch != nil {
		conn.workers.start(conn.batch)
		conn.batch, conn.last = nil, nil
	}
	if conn.link.Queued() > 0 {
		conn.link.Flush()
	}
}
