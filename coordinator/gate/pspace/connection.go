package pspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/memory"
)

// Limits of a connection.
const (
	requestTimeout = 30 * time.Second // from the first byte of a request to its last
	writeTimeout   = 30 * time.Second // of an answer that the client does not read
	confirmAfter   = 2 * time.Second  // see package foreign
	maxOutstanding = 1024             // requests that are not answered
	firstBuffer    = 4 << 10
	keptBuffer     = 64 << 10 // a larger one is dropped when it is empty
	decodedCopies  = 2        // of a request's bytes, beside its buffer
)

// connection is one connection of a client.
type connection struct {
	gate *Gate
	*foreign.Conn
	slots   chan struct{} // one for each unanswered request
	running sync.WaitGroup

	// The reader's.
	store      []byte // of buf
	buf        []byte // what was read and is not decoded
	frame      frame
	reserved   int64     // memory of store
	began      time.Time // when the reader began to wait for the rest of a request; zero if none of it has come
	confirming int       // answers of unconfirmed that were written before the latest read

	mu          sync.Mutex       // guards what follows, and writes
	unconfirmed []foreign.Answer // written, oldest first; the client may not have them
	oldest      time.Time        // when the oldest was written
	deadline    time.Time        // of reads, as set
	writeUntil  time.Time        // deadline of writes, as set
	broken      bool             // a write failed
	last        bool             // the answer to a request without a session was written: none follows
}

func newConnection(g *Gate, c *foreign.Conn) *connection {
	store := make([]byte, firstBuffer)
	return &connection{gate: g, Conn: c, slots: make(chan struct{}, maxOutstanding), store: store, buf: store[:0]}
}

// serve answers requests until the client leaves, violates the protocol or ctx ends. Then
// blocked requests end and take nothing, and when all have ended it decides about the answers
// that are not confirmed.
func (c *connection) serve(ctx context.Context) {
	ctx, leave := context.WithCancel(ctx)
	err := c.readRequests(ctx)
	leave() // blocked requests take nothing any more
	c.running.Wait()
	c.gate.Hub.Memory.Add(-c.reserved)
	c.confirmOrReturn(ctx, err)
}

// confirmOrReturn confirms the answers that are not confirmed, or returns what they took to
// the space, after the end of the connection because of err. They arrived if the client closed
// the connection in order and its machine received all bytes, or if this side closes the
// connection, because the client has violated the protocol or the gate closes. They did not if a
// write failed or the connection broke.
func (c *connection) confirmOrReturn(ctx context.Context, err error) {
	c.mu.Lock()
	unconfirmed, broken := c.unconfirmed, c.broken
	c.unconfirmed = nil
	c.mu.Unlock()
	if len(unconfirmed) == 0 {
		return
	}
	arrived := false
	switch {
	case broken:
	case errors.Is(err, io.EOF), err == nil:
		arrived = c.ReceivedAll(time.Now().Add(confirmAfter))
	case errors.Is(err, net.ErrClosed), fault.Of(err).Kind != nil:
		arrived = true // this side closes the connection, in order
	}
	if arrived {
		c.gate.Hub.Delivered(unconfirmed...)
	} else {
		c.gate.Hub.Undelivered(unconfirmed...)
	}
}

// readRequests reads and starts requests until the connection ends, and returns why: io.EOF if the client closed
// it, nil after a request without a session. A message that is not JSON, too large or too deep, or for which
// memory is lacking, is answered, and its error (of package fault) ends the connection. After a malformed request
// in valid JSON, which is answered too, the next one is read.
func (c *connection) readRequests(ctx context.Context) error {
	for {
		message, err := c.nextMessage()
		if err == nil {
			var r request
			if r, err = decodeRequest(message); err == nil || !errors.Is(err, errMalformed) {
				if c.isLast() { // a client without sessions sends one request
					return nil
				}
				if more := c.startRequest(ctx, r, err, len(message)); !more {
					return nil
				}
				continue
			}
		}
		if kind := fault.Of(err).Kind; kind != nil && ctx.Err() == nil {
			c.gate.Log.Info("gate: malformed message", "gate", "pspace", "remote", c.RemoteAddr(), "error", err)
			_ = c.write(appendAnswer(nil, request{}, nil, err))
			c.EndSending()
		}
		return err
	}
}

// nextMessage returns the next JSON object; it is valid until the next call.
func (c *connection) nextMessage() ([]byte, error) {
	if len(c.buf) == 0 {
		if len(c.store) > keptBuffer {
			c.resize(firstBuffer)
		}
		c.buf = c.store[:0]
	}
	for {
		n, err := c.frame.findEnd(c.buf)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			message := c.buf[:n]
			c.buf = bytes.TrimLeft(c.buf[n:], " \t\r\n")
			c.began = time.Time{}
			return message, nil
		}
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
}

// fill waits until bytes come, and appends them to buf. They also confirm the answers that were written before
// the read began. A passed deadline is an error only if readTimedOut returns one, because it may have been the
// time to confirm answers.
func (c *connection) fill() error {
	if err := c.makeSpace(); err != nil {
		return err
	}
	if len(c.buf) > 0 && c.began.IsZero() {
		c.began = time.Now()
	}
	for {
		c.setReadDeadline()
		n, err := c.Read(c.buf[len(c.buf):cap(c.buf)])
		if n > 0 {
			c.buf = c.buf[:len(c.buf)+n]
			c.confirm()
			return nil
		}
		if err == nil {
			return io.ErrNoProgress
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := c.readTimedOut(); err != nil {
			return err
		}
	}
}

// makeSpace gives buf, which is the unread part of store, space for further bytes: it moves buf to
// the front of store, or both to a store of twice the size.
func (c *connection) makeSpace() error {
	switch {
	case len(c.buf) < cap(c.buf):
		return nil
	case len(c.buf) >= maxRequest:
		return fmt.Errorf("a message of more than %d bytes: %w", maxRequest, fault.ErrTooLarge)
	case 2*len(c.buf) <= len(c.store):
		c.buf = c.store[:copy(c.store, c.buf)]
		return nil
	}
	size := 2 * len(c.store)
	// Both stores exist while resize copies, so there must be memory for the whole new one. The
	// reservation only asks for it; resize counts the difference.
	if err := c.gate.Hub.Memory.Reserve(int64(size), memory.Growth); err != nil {
		return err
	}
	c.gate.Hub.Memory.Add(int64(-size))
	c.resize(size)
	return nil
}

// resize replaces the store by one of a size, which must have space for buf, and counts its
// memory. Bytes of buf are copied.
func (c *connection) resize(size int) {
	c.gate.Hub.Memory.Add(int64(size) - c.reserved)
	c.reserved = int64(size)
	c.store = make([]byte, size)
	c.buf = c.store[:copy(c.store, c.buf)]
}

// requestDeadline returns when the request that has begun must be complete; zero if none
// has. A client may open its connection long before its first request.
func (c *connection) requestDeadline() time.Time {
	if c.began.IsZero() {
		return time.Time{}
	}
	return c.began.Add(requestTimeout)
}

// setReadDeadline sets the deadline of the next read: the deadline of the request or, if it is earlier, the time
// at which the oldest answer is believed to have arrived. confirming counts the answers that bytes of this read
// confirm.
func (c *connection) setReadDeadline() {
	now := time.Now()
	wanted := c.requestDeadline()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.confirming = len(c.unconfirmed)
	if len(c.unconfirmed) > 0 {
		if at := c.oldest.Add(confirmAfter); wanted.IsZero() || at.Before(wanted) {
			wanted = at
		}
	}
	c.lowerReadDeadline(wanted, now)
}

// lowerReadDeadline sets the deadline of reads unless an earlier one is set. Then the read times
// out early, and setReadDeadline sets the later one; this saves a system call for most reads. A
// wanted of zero is none. The caller holds mu.
func (c *connection) lowerReadDeadline(wanted, now time.Time) {
	isSet := c.deadline.After(now)
	if wanted.IsZero() && (isSet || c.deadline.IsZero()) || isSet && !wanted.Before(c.deadline) {
		return
	}
	c.deadline = wanted
	_ = c.SetReadDeadline(wanted) // a closed connection fails at the read
}

// readTimedOut handles the deadline of a read: answers that are old enough are believed to have arrived. It
// returns nil if reading goes on. An error ends the connection: os.ErrDeadlineExceeded for a request incomplete
// at its deadline, io.EOF if the last answer has arrived.
func (c *connection) readTimedOut() error {
	now := time.Now()
	if end := c.requestDeadline(); !end.IsZero() && !now.Before(end) {
		return fmt.Errorf("a request that is not complete after %s: %w", requestTimeout, os.ErrDeadlineExceeded)
	}
	c.mu.Lock()
	var arrived []foreign.Answer
	if len(c.unconfirmed) > 0 && now.Sub(c.oldest) >= confirmAfter {
		arrived, c.unconfirmed, c.confirming = c.unconfirmed, nil, 0 // no answer is left for confirm
	}
	ended := c.last && len(c.unconfirmed) == 0
	c.mu.Unlock()
	c.gate.Hub.Delivered(arrived...)
	if ended {
		return io.EOF // the client has its answer, and leaves the end to this side
	}
	return nil
}

// confirm confirms the answers that were written before the latest read began, because the
// client has sent something after it. Only the reader calls it.
func (c *connection) confirm() {
	if c.confirming == 0 {
		return
	}
	c.mu.Lock()
	arrived := c.unconfirmed[:c.confirming:c.confirming]
	c.unconfirmed, c.oldest, c.confirming = c.unconfirmed[c.confirming:], time.Now(), 0
	c.mu.Unlock()
	c.gate.Hub.Delivered(arrived...)
}

// startRequest carries out a request of size bytes, or answers it with err unless err is nil. It carries it out
// itself if the client waits for it, and in a goroutine if further requests were read or the operation blocks. It
// reports whether the connection serves more requests. It waits while maxOutstanding requests are not answered.
func (c *connection) startRequest(ctx context.Context, r request, err error, size int) (more bool) {
	o := foreign.Operation{Verb: r.verb, Space: r.target, Tuple: r.tuple, Pattern: r.pattern, Peer: c.Peer}
	if err == nil {
		err = c.gate.Access.Check(o)
	}
	r.session = bytes.Clone(r.session)
	reserved := int64(decodedCopies * size)
	if err == nil {
		err = c.gate.Hub.Memory.Reserve(reserved, classOf(r.verb))
	}
	if err != nil {
		return c.answer(r, foreign.Answer{}, err)
	}
	if clientWaits := len(c.buf) == 0 || r.session == nil; clientWaits {
		if a, done, err := c.gate.Hub.TryAtOnce(ctx, o); done {
			c.gate.Hub.Memory.Add(-reserved)
			return c.answer(r, a, err)
		}
	}
	c.slots <- struct{}{} // the client must read answers before it sends more
	c.running.Go(func() {
		defer c.gate.Hub.Memory.Add(-reserved)
		defer func() { <-c.slots }()
		c.gate.Hub.Protect(c.Conn, func() {
			a, err := c.gate.Hub.Do(ctx, o)
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return // the client has left, or the gate closes
			}
			if !c.answer(r, a, err) {
				_ = c.Close() // ends the reader
			}
		})
	})
	return true
}

// classOf returns the class of memory of a request: puts are refused first, because gets free
// memory in the end.
func classOf(v space.Verb) memory.Class {
	if v == space.VerbPut {
		return memory.Growth
	}
	return memory.Draining
}

// answer answers a request with what it found or with err, or with fault.ErrOverloaded if there is
// no memory for the answer; then it returns what a took. It reports whether the connection serves
// more requests: not after a write that failed, and not after a request without a session, whose
// connection ends. If that took tuples, the reader goes on until it knows whether they arrived.
func (c *connection) answer(r request, a foreign.Answer, err error) (more bool) {
	if err != nil {
		c.gate.Log.Debug("gate: refused", "gate", "pspace", "remote", c.RemoteAddr(), "error", err)
	}
	answer := appendAnswer(make([]byte, 0, 256), r, a.Tuples, err)
	size := int64(cap(answer))
	if overBudget := c.gate.Hub.Memory.Reserve(size, memory.Draining); overBudget != nil {
		c.gate.Hub.Undelivered(a)
		a, size = foreign.Answer{}, 0
		answer = appendAnswer(nil, r, nil, overBudget)
	}
	defer c.gate.Hub.Memory.Add(-size)
	if err := c.writeAnswer(answer, a); err != nil {
		return false
	}
	if r.session != nil || r.dialect == dotSpace {
		return true
	}
	c.finishSingle()
	return a.Took()
}

// finishSingle ends a connection after the answer to a request without a session: it ends the
// sending half, and lets the reader end within confirmAfter, because the client may leave the
// end to this side.
func (c *connection) finishSingle() {
	c.EndSending()
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.last = true
	c.lowerReadDeadline(now.Add(confirmAfter), now)
}

// isLast reports whether the answer after which none follows was written. It locks mu.
func (c *connection) isLast() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// writeAnswer writes an answer. If it took tuples, they are to be confirmed, by the reader, whose deadline is
// lowered for it; if it cannot be written, they return to the space.
func (c *connection) writeAnswer(answer []byte, a foreign.Answer) error {
	err := c.write(answer)
	if !a.Took() {
		return err
	}
	if err != nil {
		c.gate.Hub.Undelivered(a)
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.unconfirmed) == 0 {
		c.oldest = now
	}
	c.unconfirmed = append(c.unconfirmed, a)
	c.lowerReadDeadline(c.oldest.Add(confirmAfter), now)
	return nil
}

// write writes bytes, at most for about writeTimeout. The deadline is set for twice that time,
// so that most writes need not set it. After an error the connection is closed.
func (c *connection) write(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.writeUntil.Sub(now) < writeTimeout {
		c.writeUntil = now.Add(2 * writeTimeout)
		_ = c.SetWriteDeadline(c.writeUntil) // a closed connection fails at the write
	}
	_, err := c.Write(data)
	if err != nil {
		c.broken = true
		_ = c.Close()
	}
	return err
}
