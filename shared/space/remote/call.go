package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// cancelIn is how long a call whose context has ended waits for the gate to say
// whether it happened at the same moment.
const cancelIn = time.Second

// call is a request that was not answered yet.
type call struct {
	number  uint64
	request space.Request
	body    []byte        // guarded by the Conn's mu, as is sent
	sent    bool          // over some connection, so that it may have happened
	done    chan struct{} // closed when it is answered; nil: nobody waits
	reply   space.Reply
	err     error
}

// Do implements space.Conn. The error is the engine's; or fault.ErrOverloaded for
// more calls than space.Window at a time; fault.ErrClosed once the session is
// over.
func (c *Conn) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if r.Verb == space.VerbEnd {
		return space.Reply{}, c.close(ctx)
	}
	if ctx.Err() != nil {
		return space.Reply{}, failed(r, over(ctx))
	}
	for pause := c.Backoff.Min; ; pause = c.Backoff.next(pause) {
		p, err := c.begin(r)
		if err != nil {
			return space.Reply{}, failed(r, err)
		}
		reply, err := c.await(ctx, p)
		if !errors.Is(err, fault.ErrUnavailable) {
			return reply, err
		}
		// Its outcome is unknown to the coordinator itself: ask again.
		r = p.request
		select {
		case <-time.After(pause):
		case <-c.done:
		case <-ctx.Done():
			c.recall(p)
			return space.Reply{}, failed(r, over(ctx))
		}
	}
}

// failed says what could not be done, as the engine does.
func failed(r space.Request, err error) error {
	return fmt.Errorf("%s %s: %w", r.Verb, r.Target(), err)
}

// over says why ctx has ended.
func over(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// begin numbers a call and sends it, if there is a connection.
func (c *Conn) begin(r space.Request) (*call, error) {
	c.mu.Lock()
	p, err := c.register(r)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	l, f := c.link, p.frame()
	p.sent = l != nil
	c.mu.Unlock()
	if l != nil {
		_ = l.Send(f) // else the next connection carries it
	}
	return p, nil
}

// frame is how a call travels. The caller holds the Conn's mu.
func (p *call) frame() wire.Frame {
	return wire.Frame{Kind: wire.Request, Call: p.number, Body: p.body}
}

// register makes a call of a request. The caller holds mu.
func (c *Conn) register(r space.Request) (*call, error) {
	note := r.Verb == space.VerbAck || r.Verb == space.VerbBack
	switch {
	case c.ended != nil:
		return nil, c.ended
	case note || r.Verb == space.VerbEnd:
	case c.closing:
		return nil, c.closed()
	case c.asked >= space.Window:
		return nil, fmt.Errorf("%d calls of one session wait already: %w", c.asked, fault.ErrOverloaded)
	}
	number := c.last + 1
	if r.Op == (space.OpID{}) && (r.Verb.Changes() || consumes(r.Verb)) {
		r.Op = space.OpID{Session: c.id, Seq: space.AutoSeq + number}
		r.Recent = true // fewer than Window are asked
	}
	r.Ack = r.Verb.Takes()
	body, err := wire.AppendRequest(make([]byte, 0, 128+r.Tuple.Size()+r.Args.Size()), r)
	if err != nil {
		return nil, err
	}
	p := &call{number: number, request: r, body: body}
	if note {
		c.notes++
	} else {
		p.done = make(chan struct{})
		c.asked++
	}
	c.last = number
	c.calls[number] = p
	return p, nil
}

// consumes says that the gate keeps the answer until it is acknowledged.
func consumes(v space.Verb) bool {
	return v == space.VerbReceive || v == space.VerbNext || v == space.VerbNotify
}

// await waits for the answer. When ctx ends, the gate is told, and may say that
// the call was served at the same moment.
func (c *Conn) await(ctx context.Context, p *call) (space.Reply, error) {
	select {
	case <-p.done:
		return p.reply, p.err
	case <-c.done:
		return c.cut(p)
	case <-ctx.Done():
	}
	patience := time.NewTimer(cancelIn)
	defer patience.Stop()
	if !c.withdraw(p) { // nobody is there to say anything
		patience.Reset(0)
	}
	select {
	case <-p.done:
	case <-c.done:
		return c.cut(p)
	case <-patience.C:
	}
	if c.leave(p) || errors.Is(p.err, context.Canceled) {
		c.recall(p)
		return space.Reply{}, failed(p.request, over(ctx))
	}
	return p.reply, p.err // it was answered at this very moment
}

// cut is the answer of a call when the Conn ends before the gate gives one.
func (c *Conn) cut(p *call) (space.Reply, error) {
	select {
	case <-p.done:
		return p.reply, p.err
	default:
		return space.Reply{}, failed(p.request, c.ended) // set before done was closed
	}
}

// withdraw tells the gate that nobody wants the answer, and reports whether it
// was told.
func (c *Conn) withdraw(p *call) bool {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	return l != nil && l.Send(wire.Frame{Kind: wire.Cancel, Call: p.number}) == nil
}

// leave forgets a call that nobody wants, and reports whether it was unanswered.
func (c *Conn) leave(p *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[p.number] != p {
		return false
	}
	delete(c.calls, p.number)
	c.asked--
	if p.sent && c.link == nil {
		c.cancels = append(c.cancels, p.number) // for the next connection
	}
	return true
}

// recall brings back what a call took, or makes the gate forget what it kept, if
// the answer never came to whoever wanted it.
func (c *Conn) recall(p *call) {
	c.mu.Lock()
	sent := p.sent
	c.mu.Unlock()
	switch {
	case !sent:
	case p.request.Verb.Takes():
		c.note(space.VerbBack, p)
	case consumes(p.request.Verb):
		c.note(space.VerbAck, p)
	}
}

// note sends an acknowledgement, which nobody waits for. A Conn that is closed
// needs none: the end of the session says the same.
func (c *Conn) note(v space.Verb, p *call) { _, _ = c.begin(space.Request{Verb: v, Op: p.request.Op}) }

// answered gives a call its answer, and acknowledges it.
func (c *Conn) answered(number uint64, reply space.Reply, err error) {
	c.mu.Lock()
	p := c.calls[number]
	if p == nil { // nobody wants it, or it was answered twice
		c.mu.Unlock()
		return
	}
	if p.done == nil {
		c.noted(p, err)
		c.mu.Unlock()
		return
	}
	delete(c.calls, number)
	c.asked--
	p.reply, p.err = reply, err
	if err == nil && (consumes(p.request.Verb) || p.request.Verb.Takes() && reply.Found) {
		c.due = append(c.due, p.request.Op.Seq)
		c.notes++ // before anybody can close the Conn
	}
	close(p.done)
	c.mu.Unlock()
}

// acknowledge says which answers have arrived since it did so last. It is called
// by the one who reads them.
func (c *Conn) acknowledge() {
	for len(c.due) > 0 {
		r := space.Request{Verb: space.VerbAck, Op: space.OpID{Session: c.id, Seq: c.due[0]}}
		n := min(len(c.due), 1+space.MaxAcknowledged)
		r.Acknowledged = slices.Clone(c.due[1:n])
		c.due = append(c.due[:0], c.due[n:]...)
		if _, err := c.begin(r); err != nil {
			return // a Conn that is closed needs none
		}
		c.mu.Lock()
		c.notes -= n // which the request now stands for
		c.mu.Unlock()
	}
}

// noted ends an acknowledgement, or repeats it if its outcome is unknown. The
// caller holds mu.
func (c *Conn) noted(p *call, err error) {
	if errors.Is(err, fault.ErrUnavailable) {
		c.running.Go(func() { c.again(p) })
		return
	}
	delete(c.calls, p.number)
	c.notes--
	if c.notes == 0 && c.settled != nil {
		close(c.settled)
		c.settled = nil
	}
}

// again sends a call once more after a while.
func (c *Conn) again(p *call) {
	select {
	case <-time.After(c.Backoff.first()):
	case <-c.done:
		return
	}
	c.mu.Lock()
	l, f := c.link, p.frame()
	c.mu.Unlock()
	if l != nil {
		_ = l.Send(f) // else the next connection carries it
	}
}
