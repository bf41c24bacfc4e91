package gospace

import (
	"context"
	"errors"
	"net"
	"time"

	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/space"
	"leasehold/shared/space/memory"
)

// Limits of a connection.
const (
	requestTimeout = 10 * time.Second // for the whole request
	writeTimeout   = 30 * time.Second // for the whole answer
	drainTimeout   = time.Second      // for the client's end after an answer
)

// serve answers one request. The memory of the request counts until it returns. A request is refused if it is
// malformed or fails, unless it was ended because the client has left or the gate closes.
func (g *Gate) serve(ctx context.Context, c *foreign.Conn) {
	_ = c.SetReadDeadline(time.Now().Add(requestTimeout)) // a closed connection fails at the read
	reserved := int64(0)
	defer func() { g.Hub.Memory.Add(-reserved) }()
	q, err := decodeRequest(c, func(n int64) error {
		err := g.Hub.Memory.Reserve(n, memory.Growth)
		if err == nil {
			reserved += n
		}
		return err
	})
	if err != nil {
		g.Log.Info("gate: refused", "gate", "gospace", "remote", c.RemoteAddr(), "error", err)
		g.refuse(c, q)
		return
	}
	a, err := g.perform(ctx, c, q)
	switch {
	case errors.Is(err, context.Canceled): // the client has left, or the gate closes
	case err != nil:
		g.Log.Debug("gate: refused", "gate", "gospace", "remote", c.RemoteAddr(), "error", err)
		g.refuse(c, q)
	default:
		g.writeAnswer(c, q, a)
	}
}

// refuse answers "not found" if the client needs an answer, because it would panic without one.
// For other operations the end of the connection, which the caller of serve closes, is the
// refusal.
func (g *Gate) refuse(c *foreign.Conn, q request) {
	if q.operation.answer != maybeAnswer {
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := c.Write(encodeAnswer(maybeAnswer, nil, 0)); err == nil {
		drain(c)
	}
}

// drain ends the sending half and reads what the client still sends, because the end of a
// connection with unread bytes would destroy the answer.
func drain(c *foreign.Conn) {
	c.EndSending()
	_ = c.SetReadDeadline(time.Now().Add(drainTimeout))
	var ignored [4 << 10]byte
	for left := maxRequest; left > 0; {
		n, err := c.Read(ignored[:])
		if err != nil {
			return
		}
		left -= n
	}
}

// perform carries out a request. It tries an operation without waiting first, because only one that waits needs a
// goroutine that watches the connection. If the space is full or has no match, it waits, and the operation ends
// without effect when the client leaves.
func (g *Gate) perform(ctx context.Context, c *foreign.Conn, q request) (foreign.Answer, error) {
	o := foreign.Operation{Verb: q.operation.verb, Space: g.Space, Tuple: q.tuple, Pattern: interop.Exactly(q.template), Peer: c.Peer}
	if err := g.Access.Check(o); err != nil {
		return foreign.Answer{}, err
	}
	if o.Verb == space.VerbCount {
		return g.Hub.Size(ctx, g.Space)
	}
	a, done, err := g.Hub.TryAtOnce(ctx, o)
	if done {
		return a, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan struct{})
	_ = c.SetReadDeadline(time.Time{}) // a closed connection fails at the read
	go func() {
		defer close(stopped)
		g.Hub.Protect(c, func() { awaitEnd(c, cancel) })
	}()
	a, err = g.Hub.Do(ctx, o)
	_ = c.SetReadDeadline(time.Unix(1, 0)) // ends awaitEnd
	<-stopped
	return a, err
}

// awaitEnd calls ended when the client ends the connection, and returns. It does the same when a
// deadline of reads passes, by which perform stops it.
func awaitEnd(c net.Conn, ended func()) {
	var ignored [512]byte
	for {
		if _, err := c.Read(ignored[:]); err != nil {
			ended()
			return
		}
	}
}

// writeAnswer writes the answer. If it took tuples, it waits until the client has closed the
// connection, and returns them to the space if the answer did not arrive. Without memory for the
// answer the request is refused.
func (g *Gate) writeAnswer(c *foreign.Conn, q request, a foreign.Answer) {
	if q.operation.answer == noAnswer {
		return
	}
	data := encodeAnswer(q.operation.answer, a.Tuples, a.Count)
	size := int64(len(data))
	if err := g.Hub.Memory.Reserve(size, memory.Draining); err != nil {
		g.Hub.Undelivered(a)
		g.refuse(c, q)
		return
	}
	defer g.Hub.Memory.Add(-size)
	_ = c.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := c.Write(data)
	if !a.Took() {
		return
	}
	c.EndSending()
	if err == nil && c.AwaitClose() {
		g.Hub.Delivered(a)
	} else {
		g.Hub.Undelivered(a)
	}
}
