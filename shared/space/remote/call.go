package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// cancelTimeout is how long a call whose context has ended waits for the gate's answer,
// which tells whether it happened at the same moment.
const cancelTimeout = time.Second

// call is a request that was not answered yet.
type call struct {
	number    uint64
	request   space.Request
	body      []byte
	sent      bool          // over some connection, so that it may have happened; guarded by the Conn's mu
	givesBack bool          // an acknowledgement whose effect the end of the session has too; guarded by mu
	done      chan struct{} // closed when reply and err are set; nil for an acknowledgement, for which no caller waits
	reply     space.Reply
	err       error
}

// Do implements space.Conn. Errors of the engine pass through unchanged; it also fails with fault.ErrOverloaded for
// more calls than space.Window at a time, fault.ErrInvalid for a malformed request and fault.ErrClosed once the
// session is over. A call whose outcome the coordinator does not know (fault.ErrUnavailable) is repeated with its
// operation id, after a pause that grows, so that it happens once.
func (c *Conn) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if r.Verb == space.VerbEnd {
		return space.Reply{}, c.close(ctx)
	}
	if ctx.Err() != nil {
		return space.Reply{}, withRequest(r, space.ContextError(ctx))
	}
	for pause := c.Backoff.First(); ; pause = c.Backoff.Next(pause) {
		pending, err := c.start(r)
		if err != nil {
			return space.Reply{}, withRequest(r, err)
		}
		reply, err := c.await(ctx, pending)
		if !errors.Is(err, fault.ErrUnavailable) {
			return reply, err
		}
		// The coordinator itself does not know the outcome: repeat the operation.
		r = pending.request
		select {
		case <-time.After(pause):
		case <-c.done:
		case <-ctx.Done():
			c.giveBack(pending)
			return space.Reply{}, withRequest(r, space.ContextError(ctx))
		}
	}
}

// withRequest adds to an error what failed, in the words of the engine.
func withRequest(r space.Request, err error) error {
	return fmt.Errorf("%s: %w", r, err)
}

// start makes a call of a request and sends it. If there is no connection, or it fails now, the next one carries the
// call (resendCalls). An error means that there is no call.
func (c *Conn) start(r space.Request) (*call, error) {
	c.mu.Lock()
	pending, err := c.addCall(r)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	l := c.link
	pending.sent = l != nil
	c.mu.Unlock()
	if l != nil {
		_ = l.Send(pending.frame())
	}
	return pending, nil
}

func (c *call) frame() wire.Frame {
	return wire.Frame{Kind: wire.Request, Call: c.number, Body: c.body}
}

// addCall makes a call of a request. One whose effect or answer must not be doubled gets an operation id. After close
// only acknowledgements and the end of the session are accepted. At most space.Window calls may be open. The caller
// holds mu.
func (c *Conn) addCall(r space.Request) (*call, error) {
	acknowledgement := r.Verb == space.VerbAck || r.Verb == space.VerbBack
	switch {
	case c.ended != nil:
		return nil, c.ended
	case acknowledgement || r.Verb == space.VerbEnd:
	case c.closing:
		return nil, c.closedError()
	case c.waiting >= space.Window:
		return nil, fmt.Errorf("%d calls of one session are already waiting, the maximum: %w", c.waiting, fault.ErrOverloaded)
	}
	number := c.last + 1
	if r.Op == (space.OpID{}) && (r.Verb.Changes() || r.Verb.KeepsAnswer()) {
		r.Op = space.OpID{Session: c.id, Seq: space.AutoSeq + number}
		r.Recent = true // because at most Window calls wait
	}
	r.Ack = r.Verb.Takes()
	body, err := wire.AppendRequest(make([]byte, 0, 128+r.Tuple.Size()+r.Args.Size()), r)
	if err != nil {
		return nil, err
	}
	pending := &call{number: number, request: r, body: body}
	if acknowledgement {
		c.unacked++
	} else {
		pending.done = make(chan struct{})
		c.waiting++
	}
	c.last = number
	c.calls[number] = pending
	return pending, nil
}

// await waits for the answer. If ctx ends first it cancels the call at the gate, and waits at most cancelTimeout for
// its answer. If the call was served at the same moment, that answer is returned. Otherwise it returns the context's
// error, and the gate takes back what the call took. If the Conn has ended, it returns lastReply.
func (c *Conn) await(ctx context.Context, pending *call) (space.Reply, error) {
	select {
	case <-pending.done:
		return pending.reply, pending.err
	case <-c.done:
		return c.lastReply(pending)
	case <-ctx.Done():
	}
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	timeout := time.NewTimer(cancelTimeout)
	defer timeout.Stop()
	if l == nil || l.Send(wire.Frame{Kind: wire.Cancel, Call: pending.number}) != nil {
		timeout.Reset(0) // no answer can come
	}
	select {
	case <-pending.done:
	case <-c.done:
		return c.lastReply(pending)
	case <-timeout.C:
	}
	if c.abandon(pending) || errors.Is(pending.err, context.Canceled) {
		c.giveBack(pending)
		return space.Reply{}, withRequest(pending.request, space.ContextError(ctx))
	}
	return pending.reply, pending.err // it was answered at this moment
}

// lastReply returns the answer of a call when the Conn has ended: the gate's if it came, else
// why the Conn has ended, as an error, and whether the call happened.
func (c *Conn) lastReply(pending *call) (space.Reply, error) {
	select {
	case <-pending.done:
		return pending.reply, pending.err
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return space.Reply{}, withRequest(pending.request, fmt.Errorf("%s: %w", pending.happened(), c.ended))
}

// happened tells whether a call without an answer has had an effect. What it took returns with the
// end of its session. The Conn's mu is held.
func (c *call) happened() string {
	switch v := c.request.Verb; {
	case !c.sent:
		return "it was not sent"
	case v.Takes():
		return "it took nothing"
	case v.Changes():
		return "it may have happened"
	}
	return "it has no answer"
}

// abandon removes a call whose caller has given up, and reports whether it was still
// unanswered. await has sent a Cancel if there is a connection; if there is none, the next
// connection sends it.
func (c *Conn) abandon(pending *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[pending.number] != pending {
		return false
	}
	delete(c.calls, pending.number)
	c.waiting--
	if pending.sent && c.link == nil {
		c.cancels = append(c.cancels, pending.number)
	}
	return true
}

// giveBack makes the gate bring back what a call took, or drop the answer that it keeps, because
// the caller never got the answer. It does nothing for any other call, or for one that was never
// sent. A closed Conn refuses the request, but the end of its session has the same
// effect.
func (c *Conn) giveBack(pending *call) {
	c.mu.Lock()
	sent := pending.sent
	c.mu.Unlock()
	var verb space.Verb
	switch {
	case !sent:
		return
	case pending.request.Verb.Takes():
		verb = space.VerbBack
	case pending.request.Verb.KeepsAnswer():
		verb = space.VerbAck
	default:
		return
	}
	if back, err := c.start(space.Request{Verb: verb, Op: pending.request.Op}); err == nil {
		c.mu.Lock()
		back.givesBack = true
		c.mu.Unlock()
	}
}

// needsAcknowledging reports whether the gate has to get an acknowledgement before the session ends. The end has the
// same effect as those of giveBack. The caller holds mu.
func (c *Conn) needsAcknowledging() bool {
	n := c.unacked
	for _, pending := range c.calls {
		if pending.givesBack {
			n--
		}
	}
	return n > 0
}

// finishCall gives the call of that number its answer, if it still waits. If the answer must
// be acknowledged, it is listed in arrived. Only the goroutine that reads frames calls it.
func (c *Conn) finishCall(number uint64, reply space.Reply, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pending := c.calls[number]
	if pending == nil { // its caller has given up, or it was answered twice
		return
	}
	if pending.done == nil { // an acknowledgement
		c.finishAcknowledgement(pending, err)
		return
	}
	delete(c.calls, number)
	c.waiting--
	pending.reply, pending.err = reply, err
	tookSomething := pending.request.Verb.Takes() && reply.Found
	if err == nil && (tookSomething || pending.request.Verb.KeepsAnswer()) {
		c.arrived = append(c.arrived, pending.request.Op.Seq)
		c.unacked++ // before the caller can close the Conn
	}
	close(pending.done)
}

// acknowledgeArrived acknowledges the answers that have arrived since it was called last, in as
// few requests as possible. unacked counted each answer; then it counts each request. Only the
// goroutine that reads frames calls it.
func (c *Conn) acknowledgeArrived() {
	for ops := range slices.Chunk(c.arrived, 1+space.MaxAcknowledged) {
		r := space.Request{Verb: space.VerbAck, Op: space.OpID{Session: c.id, Seq: ops[0]}, Acknowledged: slices.Clone(ops[1:])}
		if _, err := c.start(r); err != nil {
			return // a closed Conn needs none
		}
		c.mu.Lock()
		c.unacked -= len(ops) // the request counts for them now
		c.mu.Unlock()
	}
	c.arrived = c.arrived[:0]
}

// finishAcknowledgement ends an acknowledgement, or repeats it if its outcome is unknown or the
// coordinator could not keep it, because its disk is full for example. Any other error means that
// the session has ended or nothing is to be acknowledged. After the last one, endSession goes on.
// The caller holds mu.
func (c *Conn) finishAcknowledgement(pending *call, err error) {
	if retry.CanPass(err) {
		c.running.Go(func() { c.resend(pending) })
		return
	}
	delete(c.calls, pending.number)
	c.unacked--
	if c.unacked == 0 && c.allAcked != nil {
		close(c.allAcked)
		c.allAcked = nil
	}
}

// resend sends a call once more after a pause. If there is no connection then, the next one
// carries it. A closed Conn sends nothing.
func (c *Conn) resend(pending *call) {
	select {
	case <-time.After(c.Backoff.First()):
	case <-c.done:
		return
	}
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l != nil {
		_ = l.Send(pending.frame())
	}
}
