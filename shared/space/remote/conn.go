package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// closeTimeout bounds how long a Conn tries to end its session at the gate. If the gate is not reached in this time,
// it notices the silence.
const closeTimeout = 6 * time.Second

// awayTimeout is closeTimeout for a Conn that has no connection, and no acknowledgement that the gate needs: then only
// the session ends later, so a process need not wait for a coordinator that is away.
const awayTimeout = time.Second

// Conn is a session at a gate. It implements space.Conn.
type Conn struct {
	Config
	id      string
	key     []byte
	ctx     context.Context // ends when the Conn is closed
	cancel  context.CancelFunc
	running sync.WaitGroup
	done    chan struct{} // closed with the Conn, after ended is set
	arrived []uint64      // sequence numbers of answers to be acknowledged; only the goroutine that reads frames uses it

	mu       sync.Mutex // guards what follows
	welcome  wire.Welcome
	link     *wire.Link // nil while there is no connection
	calls    map[uint64]*call
	last     uint64        // number given to a call
	waiting  int           // calls that are not acknowledgements
	unacked  int           // acknowledgements that are to be sent, or not confirmed
	cancels  []uint64      // calls to be cancelled over the next connection
	closing  bool          // no more calls are accepted
	allAcked chan struct{} // closed when unacked becomes 0; nil unless the Conn is closing
	ended    error         // why the Conn is closed
}

// newConn returns a Conn without a connection, with a new key.
func newConn(c Config) *Conn {
	conn := &Conn{Config: c, id: c.Session, key: random(16), calls: map[uint64]*call{}, done: make(chan struct{})}
	conn.ctx, conn.cancel = context.WithCancel(context.Background())
	return conn
}

// Session implements space.Conn: the session of the Config.
func (c *Conn) Session() string { return c.id }

// Welcome returns what the gate sent in the latest handshake: where the coordinator's
// API is, and how often it expects a sign of life.
func (c *Conn) Welcome() wire.Welcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcome
}

// run serves l and then further connections, until the session has ended or a connection cannot
// be replaced. Before each attempt it pauses, because all clients of the gate reconnect now.
func (c *Conn) run(l *wire.Link) {
	for {
		why := c.serveLink(l)
		if c.ctx.Err() != nil {
			return
		}
		c.Log.Warn("remote: connection lost", "address", c.Members.First(), "session", c.id, "error", why)
		c.Members.Failed(c.Members.First()) // it may be frozen, and another member may have taken over
		var err error
		select {
		case <-time.After(c.Backoff.First()):
			l, err = c.reconnect()
		case <-c.ctx.Done():
			return
		}
		switch {
		case c.ctx.Err() != nil:
			if err == nil {
				l.Close(fault.ErrClosed)
			}
			return
		case err != nil:
			c.end(cannotGoOn(c.id, err))
			return
		}
		c.Log.Warn("remote: connected again", "address", c.Members.First(), "session", c.id) // as visible as the loss was
	}
}

// cannotGoOn returns the error of a session that could not be joined again: always of kind fault.ErrClosed, because
// the caller must dial anew.
func cannotGoOn(id string, err error) error {
	if errors.Is(err, fault.ErrClosed) {
		return fmt.Errorf("session %s cannot go on: %w", id, err)
	}
	return fmt.Errorf("session %s cannot go on: %w: %w", id, err, fault.ErrClosed)
}

// reconnect replaces a lost connection, in the time that Config.Reconnect allows. The session must still be alive at
// the gate.
func (c *Conn) reconnect() (*wire.Link, error) {
	if c.Reconnect <= 0 {
		return c.connect(c.ctx, resume)
	}
	ctx, stop := context.WithTimeoutCause(c.ctx, c.Reconnect, fmt.Errorf("no connection for %s: %w", c.Reconnect, fault.ErrUnavailable))
	defer stop()
	return c.connect(ctx, resume)
}

// serveLink carries calls over one connection until it ends, and returns the reason of the first Close, by the
// writer, by the end of the Conn or here. When it returns, no goroutine uses l.
func (c *Conn) serveLink(l *wire.Link) error {
	var writing sync.WaitGroup
	writing.Go(func() { l.Write(nil, nil) }) // without a last frame, which only a gate sends
	defer writing.Wait()
	stop := context.AfterFunc(c.ctx, func() { l.Close(fault.ErrClosed) })
	defer stop()
	c.resendCalls(l)
	err := c.readFrames(l)
	c.mu.Lock()
	c.link = nil
	c.mu.Unlock()
	l.Close(err)
	return l.Err()
}

// resendCalls sends again all calls that were not answered, oldest first, and makes l the
// connection for new ones. Calls that were given up are cancelled before. It holds mu meanwhile,
// so that no new call comes in between. A send that fails needs no handling, because another
// link follows.
func (c *Conn) resendCalls(l *wire.Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, number := range c.cancels {
		_ = l.Send(wire.Frame{Kind: wire.Cancel, Call: number})
	}
	c.cancels = nil
	for _, pending := range slices.SortedFunc(maps.Values(c.calls), func(a, b *call) int { return cmp.Compare(a.number, b.number) }) {
		pending.sent = true
		_ = l.Send(pending.frame())
	}
	c.link = l
}

// readFrames handles what the gate sends until the connection ends, and returns the reason. A
// failure without a call and a frame of an unknown kind end the connection, and Ended the Conn.
// It acknowledges answers whenever no further frame has arrived, so that one acknowledgement
// serves many.
func (c *Conn) readFrames(l *wire.Link) error {
	l.BeforeWait = c.acknowledgeArrived
	for {
		f, err := l.Receive()
		if err != nil {
			return err
		}
		switch f.Kind {
		case wire.Reply:
			reply, err := wire.DecodeReply(f.Body)
			c.finishCall(f.Call, reply, err)
		case wire.Failure:
			err := decodeError(f.Body)
			if f.Call == 0 {
				return fmt.Errorf("the gate has refused the connection: %w", err)
			}
			c.finishCall(f.Call, space.Reply{}, err)
		case wire.Ended:
			err := decodeError(f.Body)
			c.end(fmt.Errorf("%w: %w", err, fault.ErrClosed))
			return err
		default:
			return fmt.Errorf("a frame of kind %d: %w", f.Kind, fault.ErrInvalid)
		}
	}
}

// decodeError returns the error in a frame's body, or why it cannot be decoded.
func decodeError(body []byte) error {
	carried, err := wire.DecodeError(body)
	if err != nil {
		return err
	}
	return carried
}

// end closes the Conn, and ends all calls, with an error. It may be repeated; the first error
// stays. It does not end the session at the gate.
func (c *Conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = why
	c.cancel()
	close(c.done)
}

func (c *Conn) closedError() error { return fmt.Errorf("session %s: %w", c.id, fault.ErrClosed) }

// close ends the session in order, once all acknowledgements are confirmed; ctx and closeTimeout or awayTimeout bound
// how long it waits for that. When it returns, no goroutine of the Conn runs. A second call waits for the first, and returns nil.
// It also returns nil if the session has ended already.
func (c *Conn) close(ctx context.Context) error {
	defer c.running.Wait()
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	timeout := closeTimeout
	if c.link == nil && !c.needsAcknowledging() {
		timeout = awayTimeout
	}
	c.mu.Unlock()
	if !first {
		<-c.done
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := c.endSession(ctx)
	c.end(c.closedError())
	if err == nil || errors.Is(err, fault.ErrClosed) {
		return nil
	}
	return fmt.Errorf("close session %s: %w", c.id, err)
}

// endSession waits until all acknowledgements are confirmed, because the end of the session would bring back all
// unacknowledged tuples, and ends the session at the gate. It returns nil if the Conn has ended meanwhile.
func (c *Conn) endSession(ctx context.Context) error {
	c.mu.Lock()
	allAcked := make(chan struct{})
	if c.unacked == 0 {
		close(allAcked)
	} else {
		c.allAcked = allAcked // finishAcknowledgement closes it
	}
	c.mu.Unlock()
	select {
	case <-allAcked:
	case <-c.done:
		return nil
	case <-ctx.Done():
		return space.ContextError(ctx)
	}
	for pause := c.Backoff.First(); ; pause = c.Backoff.Next(pause) {
		err := c.endOnce(ctx)
		if !retry.CanPass(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-c.done:
			return nil
		case <-ctx.Done():
			return err
		}
	}
}

// endOnce asks the gate once to end the session. Its error can pass if the outcome is unknown or the coordinator cannot
// do it now. It returns nil if the Conn has ended meanwhile.
func (c *Conn) endOnce(ctx context.Context) error {
	pending, err := c.start(space.Request{Verb: space.VerbEnd})
	if err != nil {
		return err
	}
	select {
	case <-pending.done:
		return pending.err
	case <-c.done:
		return nil
	case <-ctx.Done():
		return space.ContextError(ctx)
	}
}
