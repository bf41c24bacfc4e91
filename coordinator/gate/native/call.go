package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/wire"
)

// call is a request in progress, or one whose answer is kept until it is acknowledged. The session's mu guards
// connection and answer.
type call struct {
	session    *session
	number     uint64
	request    space.Request
	size       int   // of the request, in bytes
	memory     int64 // that was reserved for the call
	ctx        context.Context
	cancel     context.CancelFunc
	began      time.Time       // when its request had arrived
	started    *engine.Started // what the reader began; nil: nothing
	next       *call           // to be finished after this one, by the same goroutine
	connection *connection     // to be answered over; nil: the client is not connected
	answer     *wire.Frame     // the kept answer; nil: not answered yet
}

// readRequests reads what the client sends until the connection ends, and returns the reason. Answers are
// written, and calls whose answers are not durable are finished, whenever no further frame has arrived. A frame
// for which memory was lacking is refused. After refused calls the connection pauses, for at most the interval of
// pings, unless it belongs to a manager, a worker or the coordinator.
func (s *session) readRequests(ctx context.Context, conn *connection) error {
	conn.link.BeforeWait = conn.endBatch
	defer conn.endBatch()
	for {
		if !isFleet(s.mode) && conn.refusals.pauses() {
			conn.endBatch()
			conn.refusals.pause(ctx, conn.link.Ping)
		}
		f, err := conn.link.Receive()
		if err != nil {
			return err
		}
		if f.Refused != nil {
			conn.refusals.note(f.RefusedBytes, f.Refused)
			if err := conn.link.Send(failure(f.Call, f.Refused)); err != nil {
				return err
			}
			continue
		}
		switch f.Kind {
		case wire.Request:
			err = s.startCall(ctx, conn, f)
		case wire.Cancel:
			s.mu.Lock()
			if c := s.calls[f.Call]; c != nil {
				c.cancel()
			}
			s.mu.Unlock()
		default:
			err = fmt.Errorf("a frame of kind %d: %w", f.Kind, fault.ErrInvalid)
		}
		if err != nil {
			return err
		}
	}
}

// startCall starts a call, or moves one to this connection that the client repeats because it has reconnected.
func (s *session) startCall(ctx context.Context, conn *connection, f wire.Frame) error {
	r, err := wire.DecodeRequest(f.Body)
	if err != nil {
		return fmt.Errorf("call %d: %w", f.Call, err)
	}
	if err := s.g.Check(s.identity, s.id, r); err != nil {
		conn.refusals.note(len(f.Body), err)
		return conn.link.Send(failure(f.Call, err))
	}
	c, err := s.admitCall(conn, f, r)
	if c == nil {
		return err
	}
	return s.runCall(ctx, conn, c)
}

// admitCall returns a new call with what it needs reserved; nil if the request was answered, was refused with
// fault.ErrOverloaded, or belongs to a call that runs. Such a call is answered over this connection from now on.
// An acknowledgement drops the kept answers that it confirms before anything is counted.
func (s *session) admitCall(conn *connection, f wire.Frame, r space.Request) (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if earlier := s.calls[f.Call]; earlier != nil {
		earlier.connection = conn
		if earlier.answer != nil {
			return nil, conn.link.Send(*earlier.answer)
		}
		return nil, nil // it runs, and is answered over conn
	}
	if r.Verb == space.VerbAck || r.Verb == space.VerbBack {
		for _, seq := range append(r.Acknowledged, r.Op.Seq) {
			s.forgetAnswer(seq - space.AutoSeq) // the client adds AutoSeq to the number of a call for its operation id
		}
	}
	if len(s.calls) >= maxCalls || s.bytes+len(f.Body) > maxInFlight {
		err := fmt.Errorf("%s: %d calls with %d bytes are in flight: %w", r.Verb, len(s.calls), s.bytes, fault.ErrOverloaded)
		conn.refusals.note(len(f.Body), err)
		return nil, conn.link.Send(failure(f.Call, err))
	}
	size := callCost + bodyCopies*int64(len(f.Body))
	if err := s.reserveCall(r.Verb, size); err != nil {
		conn.refusals.note(len(f.Body), err)
		return nil, conn.link.Send(failure(f.Call, fmt.Errorf("%s: %w", r, err)))
	}
	if mayWait(r.Verb) {
		if err := s.g.takeWaiter(s); err != nil {
			s.g.Memory.Add(-size)
			conn.refusals.note(len(f.Body), err)
			return nil, conn.link.Send(failure(f.Call, fmt.Errorf("%s: %w", r.Verb, err)))
		}
	}
	r.Shared = true // the reply is only encoded
	return &call{memory: size, session: s, number: f.Call, request: r, size: len(f.Body), connection: conn, began: time.Now()}, nil
}

// reserveCall reserves the memory of a call. It refuses one that only puts before others, and never the end of a
// get or of the session, because these free memory.
func (s *session) reserveCall(v space.Verb, size int64) error {
	class := memory.Draining
	switch v {
	case space.VerbAck, space.VerbBack, space.VerbEnd, space.VerbUnnotify:
		s.g.Memory.Add(size)
		return nil
	case space.VerbPut, space.VerbPutP, space.VerbCreate, space.VerbNotify:
		class = s.class()
	}
	return s.g.Memory.Reserve(size, class)
}

// forgetAnswer drops the kept answer of a call, because it has arrived. It does nothing for a
// call that runs, or is unknown. The caller holds mu.
func (s *session) forgetAnswer(number uint64) {
	if c := s.calls[number]; c != nil && c.answer != nil {
		s.bytes -= len(c.answer.Body)
		s.kept.Add(-int64(len(c.answer.Body)))
		delete(s.calls, number)
	}
}

// returnReserved returns what admitCall reserved. It must be called once for each call.
func (s *session) returnReserved(c *call) {
	if mayWait(c.request.Verb) {
		s.g.returnWaiter(s)
	}
	s.g.Memory.Add(-c.memory)
}

// perform carries out a call, or finishes one that the reader began, answers it, and frees what
// it reserved. serving ends when the gate closes. A panic answers the call with errPanic.
func (s *session) perform(serving context.Context, c *call) {
	defer c.cancel()
	defer s.returnReserved(c)
	if h := s.g.Calls[c.request.Verb]; h != nil {
		defer func() { h.Observe(time.Since(c.began)) }()
	}
	panicked := true
	defer func() {
		if panicked {
			s.finishCall(c, failure(c.number, errPanic), dropAnswer)
		}
	}()
	defer s.g.recoverPanic("call", s.id)
	s.executeAndAnswer(serving, c)
	panicked = false
}

// executeAndAnswer carries out a call and answers it.
//
// The call ends without an answer while the client is not connected, because the client sends it
// again then, and if the gate closes. But an answer that a repetition would not find again
// (KeepsAnswer) is kept for the next connection; its memory needs no reservation that could fail
// (reserveReply). A large answer waits for one of maxLarge places.
func (s *session) executeAndAnswer(serving context.Context, c *call) {
	operation := c.request.Operation()
	if c.started == nil {
		failpoint.Reached("call.before", operation)
	}
	place := largePlace{places: s.large}
	defer place.release()
	if s.g.hasLargeAnswer(c.request) {
		place.take() // before the answer is made
		if s.dropUnconnected(c) {
			return
		}
	}
	reply, err := s.execute(c)
	if len(reply.Events) > 0 || reply.Tuple.Size() > largeAnswer {
		place.take() // before the reply takes memory a second time, encoded
	}
	if err == nil {
		var size int64
		size, err = s.reserveReply(c.request.Verb, reply)
		defer s.g.Memory.Add(-size)
	}
	failpoint.Reached("call.after", operation)
	if serving.Err() != nil && errors.Is(err, context.Canceled) { // the gate is closing; the client did not cancel
		s.dropCall(c)
		return
	}
	if errors.Is(err, engine.ErrDeposed) { // the client repeats the call at the engine of the next owner
		if conn := s.dropCall(c); conn != nil {
			conn.link.Close(err)
		}
		return
	}
	keep := err == nil && c.request.Verb.KeepsAnswer()
	if !keep && s.dropUnconnected(c) {
		return
	}
	s.finishCall(c, s.answerFrame(c, reply, err), keep)
	failpoint.Reached("reply.after", operation)
}

// A largePlace is one of a session's maxLarge places for large answers, or none yet.
type largePlace struct {
	places chan struct{}
	taken  bool
}

// take waits until the link has sent an earlier large answer, or is closed. It does nothing if a
// place is taken already.
func (p *largePlace) take() {
	if !p.taken {
		p.places <- struct{}{}
		p.taken = true
	}
}

func (p *largePlace) release() {
	if p.taken {
		<-p.places
	}
}

// execute carries out a call at the engine, or finishes what the reader began, and returns the
// engine's error. A new space counts for the client's peer, whose quota may refuse it.
func (s *session) execute(c *call) (space.Reply, error) {
	switch {
	case c.started != nil:
		return c.started.Finish(c.ctx)
	case c.request.Verb == space.VerbCreate:
		return s.g.Spaces.Create(c.ctx, s.peer, s.backend, c.request)
	}
	return s.backend.Do(c.ctx, c.request)
}

// answerFrame returns the frame with the answer to a call: err, unless it is nil, or the reply.
func (s *session) answerFrame(c *call, reply space.Reply, err error) wire.Frame {
	if err != nil {
		s.noteRefusal(c, err)
		return failure(c.number, err)
	}
	return wire.Frame{Kind: wire.Reply, Call: c.number, Body: wire.AppendReply(make([]byte, 0, 32+reply.Tuple.Size()), reply)}
}

// noteRefusal counts a call that was refused with err, so that the client's connection
// pauses, if it is connected. It does nothing after other errors.
func (s *session) noteRefusal(c *call, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.connection != nil {
		c.connection.refusals.note(c.size, err)
	}
}

// reserveReply reserves memory for the encoding of a reply, until the link counts it, and
// returns its size, which the caller gives back. It reserves none for a request that changes
// something, because its answer must not be refused.
func (s *session) reserveReply(v space.Verb, reply space.Reply) (int64, error) {
	if v.Changes() || v.KeepsAnswer() {
		return 0, nil
	}
	// A client that reads slowly may ask for more than there is memory for.
	size := sizeOfReply(reply)
	if err := s.g.Memory.Reserve(size, s.class()); err != nil {
		return 0, err
	}
	return size, nil
}

// sizeOfReply estimates the memory of a reply's encoding: the tuples, because the rest is small.
func sizeOfReply(r space.Reply) int64 {
	size := r.Tuple.Size()
	for _, t := range r.Tuples {
		size += t.Size()
	}
	return int64(size)
}

// hasLargeAnswer reports whether the answer to a request may be large, so that it needs one of
// maxLarge places.
func (g *Gate) hasLargeAnswer(r space.Request) bool {
	switch r.Verb {
	case space.VerbGetAll, space.VerbQueryAll, space.VerbGetUpTo, space.VerbQueryUpTo, space.VerbList:
		return true
	case space.VerbCall:
		return slices.Contains(g.LargeAnswers, r.Procedure)
	}
	return false
}

// noCall is the call number of a failure of the connection.
const noCall = 0

// failure returns the frame with the error of a call, or of the connection (noCall).
func failure(number uint64, err error) wire.Frame {
	return wire.Frame{Kind: wire.Failure, Call: number, Body: wire.AppendError(nil, err)}
}

// dropUnconnected ends a call without an answer if the client is not connected, because it sends
// the call again then, and reports whether it did.
func (s *session) dropUnconnected(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.connection != nil {
		return false
	}
	s.removeCall(c)
	return true
}

// removeCall removes a call that has no kept answer. It does nothing if the call was removed
// before, also if the client has repeated it since. The caller holds mu.
func (s *session) removeCall(c *call) {
	if s.calls[c.number] == c {
		s.bytes -= c.size
		delete(s.calls, c.number)
	}
}

// dropCall removes a call, and returns the connection to answer it over; nil if the
// client is not connected.
func (s *session) dropCall(c *call) *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeCall(c)
	return c.connection
}

// dropAnswer is for finishCall: the answer is not kept.
const dropAnswer = false

// finishCall sends a call's answer if the client is connected, and keeps it for the next connection if keep is
// set. If the answer is too large for a frame, that error is sent instead.
func (s *session) finishCall(c *call, f wire.Frame, keep bool) {
	var conn *connection
	if keep {
		s.mu.Lock()
		s.bytes += len(f.Body) - c.size
		c.answer, conn = &f, c.connection
		s.kept.Add(int64(len(f.Body)))
		s.mu.Unlock()
	} else {
		conn = s.dropCall(c)
	}
	if conn == nil {
		return
	}
	if err := conn.link.Send(f); errors.Is(err, fault.ErrTooLarge) {
		_ = conn.link.Send(failure(c.number, err)) // a closed link has no reader
	}
}
