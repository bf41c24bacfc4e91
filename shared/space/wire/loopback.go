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

// Session implements space.Conn.
func (l loopback) Session() string { return l.conn.Session() }

// Do implements space.Conn: it encodes and decodes the request, passes it on, and encodes and
// decodes the reply or the error.
func (l loopback) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	call := sequence.Add(1)
	if r.Verb.Changes() && r.Op == (space.OpID{}) {
		r.Op = space.OpID{Session: l.Session(), Seq: space.AutoSeq + call}
		r.Recent = true // because at most Window of them are unanswered
	}
	sent, err := AppendRequest(nil, r)
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s: %w", r, err)
	}
	f, err := carry(Frame{Kind: Request, Call: call, Body: sent})
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s: %w", r, err)
	}
	arrived, err := DecodeRequest(f.Body)
	if err != nil {
		return space.Reply{}, err
	}
	reply, err := l.conn.Do(ctx, arrived)
	answer := Frame{Kind: Reply, Call: call}
	if err != nil {
		answer.Kind, answer.Body = Failure, AppendError(nil, err)
	} else {
		answer.Body = AppendReply(nil, reply)
	}
	if f, err = carry(answer); err != nil {
		return space.Reply{}, err
	}
	if f.Kind == Failure {
		failure, err := DecodeError(f.Body)
		if err != nil {
			return space.Reply{}, err
		}
		return space.Reply{}, failure
	}
	return DecodeReply(f.Body)
}

// carry writes a frame and reads it, so that both sides share no memory. The error is that of
// either, such as fault.ErrTooLarge.
func carry(f Frame) (Frame, error) {
	written, err := f.Append(nil)
	if err != nil {
		return Frame{}, err
	}
	read, _, err := Read(bytes.NewReader(written), nil)
	return read, err
}
