package foreign

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

// An answer counts as delivered confirmAfter after it was written, unless the client closes or
// breaks the connection or sends another request before.
const confirmAfter = 2 * time.Second

// confirmInterval is the shortest time between two transactions that end holds.
const confirmInterval = 2 * time.Millisecond

// pollUnsent is the interval at which AwaitClose checks whether a client that has closed
// its connection has received the answer.
const pollUnsent = 5 * time.Millisecond

// taken is the tuples that an answer took.
type taken interface {
	// undo returns the tuples to their old places.
	undo(ctx context.Context) error
}

// takenByGet is what a get with Ack took.
type takenByGet struct {
	session engine.GateSession
	op      space.OpID
}

// undo ends the get with VerbBack. The error is the engine's.
func (t takenByGet) undo(ctx context.Context) error {
	_, err := t.session.Do(ctx, space.Request{Verb: space.VerbBack, Op: t.op})
	return err
}

// takenByPattern is what the procedures of package interop hold.
type takenByPattern struct {
	hub     *Hub
	session engine.GateSession
	found   []interop.Found // without the tuples
	op      space.OpID      // of undo; zero: none has begun
}

func (h *Hub) takenByPattern(s engine.GateSession, found ...interop.Found) *takenByPattern {
	t := &takenByPattern{hub: h, session: s}
	for _, f := range found {
		t.found = append(t.found, interop.Found{Ref: f.Ref})
	}
	return t
}

// undo may be repeated after an error. While its outcome is unknown it keeps its operation id, because the tuples may be
// back already and held again for another client of this session.
func (t *takenByPattern) undo(ctx context.Context) error {
	if t.op == (space.OpID{}) {
		t.op = space.OpID{Session: t.session.Session(), Seq: t.hub.sequence.Add(1)}
	}
	patterns := overPatterns(t.session)
	patterns.Op = t.op
	err := patterns.Back(ctx, t.found...)
	if errors.Is(err, fault.ErrOverloaded) { // it has not happened, and the id may be too old for the next attempt
		t.op = space.OpID{}
	}
	return err
}

// confirmations are the answers that clients have received, and whose holds are to end.
// They wait for one transaction that ends many.
type confirmations struct {
	ready chan struct{} // has a value while there are some

	mu       sync.Mutex // guards what follows
	gets     []takenByGet
	patterns []*takenByPattern
}

func newConfirmations() confirmations { return confirmations{ready: make(chan struct{}, 1)} }

// Delivered ends the holds of answers that the client has received, except those of claims. It
// does not wait: Run ends them soon (confirm).
func (h *Hub) Delivered(answers ...Answer) {
	c := &h.confirms
	c.mu.Lock()
	for _, a := range answers {
		switch t := a.taken.(type) {
		case takenByGet:
			c.gets = append(c.gets, t)
		case *takenByPattern:
			c.patterns = append(c.patterns, t)
		}
	}
	c.mu.Unlock()
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// Undelivered returns what answers took to its old place, because the client has not received
// them. A claim is handed back. It waits for that, but Run repeats what the engine refuses for now. Any other error is
// logged: the end of the session returns the tuples.
func (h *Hub) Undelivered(answers ...Answer) {
	for _, a := range answers {
		if a.taken == nil {
			continue
		}
		if err := h.refused.Do(context.Background(), a.taken.undo); err != nil {
			h.Log.Warn("foreign gates: cannot return a tuple yet; the end of the session returns it", "error", err)
		}
	}
}

// confirm ends the holds of all answers that have been delivered. Gets of one session that
// follow each other end in one request, as many as it may name (MaxAcknowledged besides its own),
// and so do patterns, without a limit, because each request is a commit. What the engine refuses for now is repeated
// (refused), because ending a hold twice does nothing. Any other error is logged; the tuples may be delivered again then.
func (h *Hub) confirm(ctx context.Context) {
	c := &h.confirms
	c.mu.Lock()
	gets, patterns := c.gets, c.patterns
	c.gets, c.patterns = nil, nil
	c.mu.Unlock()
	var err error
	for len(gets) > 0 {
		first, n := gets[0], 1
		r := space.Request{Verb: space.VerbAck, Op: first.op}
		for n < len(gets) && n <= space.MaxAcknowledged && gets[n].session == first.session {
			r.Acknowledged = append(r.Acknowledged, gets[n].op.Seq)
			n++
		}
		doErr := h.refused.Do(ctx, func(ctx context.Context) error {
			_, err := first.session.Do(ctx, r)
			return err
		})
		err, gets = errors.Join(err, doErr), gets[n:]
	}
	for len(patterns) > 0 {
		session, found, n := patterns[0].session, patterns[0].found, 1
		for n < len(patterns) && patterns[n].session == session {
			found = append(found[:len(found):len(found)], patterns[n].found...)
			n++
		}
		done := func(ctx context.Context) error { return overPatterns(session).Done(ctx, found...) }
		err, patterns = errors.Join(err, h.refused.Do(ctx, done)), patterns[n:]
	}
	if err != nil {
		h.Log.Warn("foreign gates: cannot confirm what clients received; it may be delivered again", "error", err)
	}
}

// EndSending ends the sending half, so that the client reads the answer and then the end.
func (c *Conn) EndSending() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the connection is closed soon in any case
	}
}

// AwaitClose waits until the client closes the connection after an answer, at most
// confirmAfter, and reports whether the client has received the answer. If the connection is
// still open then, it has.
func (c *Conn) AwaitClose() bool {
	deadline := time.Now().Add(confirmAfter)
	_ = c.SetReadDeadline(deadline)
	var ignored [512]byte
	for {
		_, err := c.Conn.Read(ignored[:])
		switch {
		case err == nil: // the client still sends, which is ignored
		case errors.Is(err, io.EOF):
			return c.ReceivedAll(deadline)
		default:
			return errors.Is(err, os.ErrDeadlineExceeded)
		}
	}
}

// ReceivedAll reports whether the machine of a client that has closed its sending half received everything sent
// to it. It waits until this is known, and returns false if the connection is reset or deadline passes before. On
// systems other than Linux it returns true at once.
func (c *Conn) ReceivedAll(deadline time.Time) bool {
	for {
		n, final := unsent(c.Conn)
		if n == 0 {
			return true
		}
		if final || time.Now().After(deadline) {
			return false
		}
		time.Sleep(pollUnsent)
	}
}
