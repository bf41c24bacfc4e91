package wire

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"leasehold/shared/space"
)

// sequence numbers the operations of all loopbacks, so that two over one session
// never use the same id.
var sequence atomic.Uint64

// Loopback returns a connection that carries every request, reply and error over
// conn in its encoded form, as a network would, so that the two sides share no memory.
// A changing operation without an id gets one; because of that, at most space.Window
// of them may be unanswered at a time in one session.
func Loopback(conn space.Conn) space.Conn { return loopback{conn} }

type loopback struct{ conn space.Conn }

// Session implements space.Conn: the id of the connection behind it.
func (l loopback) Session() string { return l.conn.Session() }

// Do implements space.Conn: it encodes and decodes the request, passes it on, and encodes and decodes the reply or
// the error. It also fails if the encoding does, such as with fault.ErrTooLarge.
func (l loopback) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	call := sequence.Add(1)
	if r.Verb.Changes() && r.Op == (space.OpID{}) {
		r.Op = space.OpID{Session: l.Session(), Seq: space.AutoSeq + call}
		r.Recent = true // because at most Window of them are unanswered
	}
	arrived, err := carryRequest(call, r)
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s: %w", r, err)
	}
	reply, err := l.conn.Do(ctx, arrived)
	return carryAnswer(call, reply, err)
}

// carryRequest returns a request as a gate reads it.
func carryRequest(call uint64, r space.Request) (space.Request, error) {
	body, err := AppendRequest(nil, r)
	if err != nil {
		return space.Request{}, err
	}
	f, err := carry(Frame{Kind: Request, Call: call, Body: body})
	if err != nil {
		return space.Request{}, err
	}
	return DecodeRequest(f.Body)
}

// carryAnswer returns the reply, or the failure if it is not nil, as a client reads it.
func carryAnswer(call uint64, reply space.Reply, failure error) (space.Reply, error) {
	f := Frame{Kind: Reply, Call: call}
	if failure != nil {
		f.Kind, f.Body = Failure, AppendError(nil, failure)
	} else {
		f.Body = AppendReply(nil, reply)
	}
	f, err := carry(f)
	if err != nil {
		return space.Reply{}, err
	}
	if f.Kind == Reply {
		return DecodeReply(f.Body)
	}
	arrived, err := DecodeError(f.Body)
	if err != nil {
		return space.Reply{}, err
	}
	return space.Reply{}, arrived
}

// carry writes a frame and reads it, so that both sides share no memory.
func carry(f Frame) (Frame, error) {
	written, err := f.Append(nil)
	if err != nil {
		return Frame{}, err
	}
	read, _, err := Read(bytes.NewReader(written), nil)
	return read, err
}
