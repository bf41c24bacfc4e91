package remote

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// Conn is a session at a gate. It implements space.Conn.
type Conn struct {
	Config
	id      string
	key     []byte
	ctx     context.Context // ends when the Conn is closed
	cancel  context.CancelFunc
	running sync.WaitGroup
	due     []uint64 // answers to be acknowledged: of whoever reads

	mu      sync.Mutex // guards what follows
	welcome wire.Welcome
	link    *wire.Link // nil while there is no connection
	calls   map[uint64]*call
	last    uint64        // number given to a call
	asked   int           // calls that somebody waits for
	notes   int           // acknowledgements that are due or not confirmed
	cancels []uint64      // calls to be cancelled over the next connection
	closing bool          // no more calls are taken
	settled chan struct{} // closed once no acknowledgement is due; nil: nobody wants to know
	ended   error         // why the Conn is closed
	done    chan struct{} // closed with it
}

func newConn(c Config) *Conn {
	conn := &Conn{Config: c, id: c.Session, key: random(16), calls: map[uint64]*call{}, done: make(chan struct{})}
	conn.ctx, conn.cancel = context.WithCancel(context.Background())
	return conn
}

// Session implements space.Conn.
func (c *Conn) Session() string { return c.id }

// Welcome returns what the gate told last: where the coordinator's API is, and how
// often it wants a sign of life.
func (c *Conn) Welcome() wire.Welcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcome
}

// run has one connection after the other, until the session is over.
func (c *Conn) run(l *wire.Link) {
	for {
		why := c.converse(l)
		if c.over() {
			return
		}
		c.Log.Warn("remote: the connection is lost", "address", c.Address, "session", c.id, "error", why)
		var err error
		// Even the first attempt waits a little: the others try now, too.
		select {
		case <-time.After(c.Backoff.first()):
			l, err = c.connect(c.ctx, true)
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
			c.end(fmt.Errorf("session %s cannot go on: %w: %w", c.id, err, fault.ErrClosed))
			return
		}
		// As loud as what said that it was lost, so that whoever read that knows.
		c.Log.Warn("remote: connected again", "address", c.Address, "session", c.id)
	}
}

// converse carries calls over one connection until it ends.
func (c *Conn) converse(l *wire.Link) error {
	var writing sync.WaitGroup
	writing.Go(func() { l.Write(nil, nil) })
	defer writing.Wait()
	stop := context.AfterFunc(c.ctx, func() { l.Close(fault.ErrClosed) })
	defer stop()
	c.resume(l)
	err := c.listen(l)
	c.mu.Lock()
	c.link = nil
	c.mu.Unlock()
	l.Close(err)
	return l.Err()
}

// resume asks again for all that was not answered, oldest first.
func (c *Conn) resume(l *wire.Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, number := range c.cancels {
		_ = l.Send(wire.Frame{Kind: wire.Cancel, Call: number}) // a link that fails is followed by another
	}
	c.cancels = nil
	for _, p := range slices.SortedFunc(maps.Values(c.calls), func(a, b *call) int { return cmp.Compare(a.number, b.number) }) {
		p.sent = true
		_ = l.Send(p.frame())
	}
	c.link = l
}

// listen reads what the gate says until the connection ends.
func (c *Conn) listen(l *wire.Link) error {
	for {
		if !l.More() {
			c.acknowledge()
		}
		f, err := l.Receive()
		if err != nil {
			return err
		}
		switch f.Kind {
		case wire.Reply:
			reply, err := wire.DecodeReply(f.Body)
			c.answered(f.Call, reply, err)
		case wire.Failure:
			failure, err := wire.DecodeError(f.Body)
			switch {
			case err != nil:
				failure = err
			case f.Call == 0:
				return fmt.Errorf("the gate refuses us: %w", failure)
			}
			c.answered(f.Call, space.Reply{}, failure)
		case wire.Ended:
			failure, err := wire.DecodeError(f.Body)
			if err != nil {
				failure = err
			}
			c.end(fmt.Errorf("%w: %w", failure, fault.ErrClosed))
			return failure
		default:
			return fmt.Errorf("a frame of kind %d: %w", f.Kind, fault.ErrInvalid)
		}
	}
}

// end closes the Conn to everybody.
func (c *Conn) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = why
	close(c.done)
	c.cancel()
}

// over says that the Conn has ended.
func (c *Conn) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
