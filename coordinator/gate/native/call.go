package native

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leasehold/shared/failpoint"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// call is a request that is carried out, or whose answer was not acknowledged.
type call struct {
	session *session
	number  uint64
	request space.Request
	size    int
	ctx     context.Context
	stop    context.CancelFunc
	visit   *visit      // whom to answer; nil: nobody is there
	answer  *wire.Frame // of a call that must not be carried out again
}

// listen reads what the client wants until the connection ends.
func (s *session) listen(ctx context.Context, v *visit) error {
	for {
		f, err := v.link.Receive()
		if err != nil {
			return err
		}
		switch f.Kind {
		case wire.Request:
			err = s.request(ctx, v, f)
		case wire.Cancel:
			s.cancel(f.Call)
		default:
			err = fmt.Errorf("a frame of kind %d: %w", f.Kind, fault.ErrInvalid)
		}
		if err != nil {
			return err
		}
	}
}

// request starts a call. The error is that of a request which is none.
func (s *session) request(ctx context.Context, v *visit, f wire.Frame) error {
	r, err := wire.DecodeRequest(f.Body)
	if err != nil {
		return fmt.Errorf("call %d: %w", f.Call, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if earlier := s.calls[f.Call]; earlier != nil { // it is repeated over this connection
		earlier.visit = v
		if earlier.answer != nil {
			return v.link.Send(*earlier.answer)
		}
		return nil
	}
	if r.Verb == space.VerbAck || r.Verb == space.VerbBack {
		s.forget(r.Op.Seq - space.AutoSeq)
		for _, seq := range r.Acknowledged {
			s.forget(seq - space.AutoSeq)
		}
	}
	if len(s.calls) >= maxCalls || s.bytes+len(f.Body) > maxInFlight {
		err := fmt.Errorf("%s: %d calls with %d bytes are in flight: %w", r.Verb, len(s.calls), s.bytes, fault.ErrOverloaded)
		return v.link.Send(failure(f.Call, err))
	}
	c := &call{session: s, number: f.Call, request: r, size: len(f.Body), visit: v}
	c.request.Shared = true // it is encoded, and nothing else
	c.ctx, c.stop = context.WithCancel(ctx)
	s.calls[c.number] = c
	s.bytes += c.size
	v.hands.take(c)
	return nil
}

// forget drops the answer of a call that has arrived. The caller holds mu.
func (s *session) forget(number uint64) {
	if c := s.calls[number]; c != nil && c.answer != nil {
		s.bytes -= len(c.answer.Body)
		delete(s.calls, number)
	}
}

// cancel ends a call that is carried out still.
func (s *session) cancel(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[number]; c != nil {
		c.stop()
	}
}

// perform carries out a call and answers it.
func (s *session) perform(serving context.Context, c *call) {
	defer c.stop()
	answered := false
	defer func() {
		if !answered {
			s.finish(c, failure(c.number, errPanic), false)
		}
	}()
	defer s.g.rescue("call", s.id)
	failpoint.Reached("call.before", c.request.Operation())
	large := s.enter(s.g.hasLargeAnswer(c.request))
	defer func() { s.leave(large) }()
	if answered = large && s.abandon(c); answered {
		return
	}
	reply, err := s.conn.Do(c.ctx, c.request)
	large = large || s.enter(len(reply.Events) > 0 || reply.Tuple.Size() > largeAnswer) // not encoded yet
	failpoint.Reached("call.after", c.request.Operation())
	keep := err == nil && consumes(c.request.Verb)
	var f wire.Frame
	switch {
	case serving.Err() != nil && errors.Is(err, context.Canceled): // it was not the client who wanted that
		answered = true
		s.drop(c)
		return
	case !keep && s.abandon(c):
		answered = true
		return
	case err != nil:
		f = failure(c.number, err)
	default:
		f = wire.Frame{Kind: wire.Reply, Call: c.number, Body: wire.AppendReply(make([]byte, 0, 32+reply.Tuple.Size()), reply)}
	}
	answered = true
	s.finish(c, f, keep)
	failpoint.Reached("reply.after", c.request.Operation())
}

// abandon drops a call if nobody is there to be answered, and reports whether: the
// client will ask again.
func (s *session) abandon(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.visit != nil {
		return false
	}
	s.bytes -= c.size
	delete(s.calls, c.number)
	return true
}

// enter waits, if an answer is large, until few others of the session are there:
// until its link has taken them, or is closed. It reports whether leave must be
// called when the answer is on its way.
func (s *session) enter(large bool) bool {
	if large {
		s.large <- struct{}{}
	}
	return large
}

func (s *session) leave(large bool) {
	if large {
		<-s.large
	}
}

// hasLargeAnswer says that the answer may be large, and is made for the request.
func (g *Gate) hasLargeAnswer(r space.Request) bool {
	switch r.Verb {
	case space.VerbGetAll, space.VerbQueryAll, space.VerbList:
		return true
	case space.VerbCall:
		return slices.Contains(g.LargeAnswers, r.Procedure)
	}
	return false
}

// consumes says that the call cannot be carried out twice, and the engine does
// not know it by its operation id.
func consumes(v space.Verb) bool {
	return v == space.VerbReceive || v == space.VerbNext || v == space.VerbNotify
}

func failure(number uint64, err error) wire.Frame {
	return wire.Frame{Kind: wire.Failure, Call: number, Body: wire.AppendError(nil, err)}
}

// drop ends a call without an answer.
func (s *session) drop(c *call) *visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= c.size
	delete(s.calls, c.number)
	return c.visit
}

// finish answers a call if anybody is there. If not, the client will ask again;
// an answer that must be kept until then is.
func (s *session) finish(c *call, f wire.Frame, keep bool) {
	var v *visit
	if keep {
		s.mu.Lock()
		s.bytes += len(f.Body) - c.size
		c.answer, v = &f, c.visit
		s.mu.Unlock()
	} else {
		v = s.drop(c)
	}
	if v == nil {
		return
	}
	if err := v.link.Send(f); errors.Is(err, fault.ErrTooLarge) {
		_ = v.link.Send(failure(c.number, err)) // a link that is closed has no reader
	}
}
