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
// conn in its encoded form, as a network would: nothing is shared between the
// two sides. An operation that changes something and has no id gets one. Of one
// session at most space.Window of these may be unanswered at a time.
func Loopback(conn space.Conn) space.Conn { return loopback{conn} }

type loopback struct{ conn space.Conn }

// Session implements space.Conn.
func (l loopback) Session() string { return l.conn.Session() }

// Do implements space.Conn.
func (l loopback) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	call := sequence.Add(1)
	if r.Verb.Changes() && r.Op == (space.OpID{}) {
		r.Op = space.OpID{Session: l.Session(), Seq: space.AutoSeq + call}
		r.Recent = true // however many others were numbered before it arrives
	}
	sent, err := AppendRequest(nil, r)
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s %s: %w", r.Verb, r.Target(), err)
	}
	f, err := carry(Frame{Kind: Request, Call: call, Body: sent})
	if err != nil {
		return space.Reply{}, fmt.Errorf("%s %s: %w", r.Verb, r.Target(), err)
	}
	arrived, err := DecodeRequest(f.Body)
	if err != nil {
		return space.Reply{}, err
	}
	reply, err := l.conn.Do(ctx, arrived)
	f, err = carry(answer(call, reply, err))
	if err != nil {
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

// answer is the frame that answers a call.
func answer(call uint64, reply space.Reply, err error) Frame {
	if err != nil {
		return Frame{Kind: Failure, Call: call, Body: AppendError(nil, err)}
	}
	return Frame{Kind: Reply, Call: call, Body: AppendReply(nil, reply)}
}

// carry writes a frame and reads it.
func carry(f Frame) (Frame, error) {
	written, err := f.Append(nil)
	if err != nil {
		return Frame{}, err
	}
	read, _, err := Read(bytes.NewReader(written), nil)
	return read, err
}
