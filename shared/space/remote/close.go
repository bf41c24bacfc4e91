package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// closeIn bounds how long a Conn tries to say good-bye. Who does not hear it will
// notice the silence.
const closeIn = 6 * time.Second

func (c *Conn) closed() error { return fmt.Errorf("session %s: %w", c.id, fault.ErrClosed) }

// close ends the session in order, once all acknowledgements are confirmed; what
// it waits for is bounded by ctx and by closeIn. When it returns, nothing of the
// Conn runs any more.
func (c *Conn) close(ctx context.Context) error {
	defer c.running.Wait()
	if !c.closeOnce() {
		<-c.done
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeIn)
	defer cancel()
	err := c.goodbye(ctx)
	c.end(c.closed())
	if err == nil || errors.Is(err, fault.ErrClosed) {
		return nil
	}
	return fmt.Errorf("close session %s: %w", c.id, err)
}

// closeOnce takes no more calls; it reports whether nobody closes the Conn
// already.
func (c *Conn) closeOnce() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.closing = true
	return true
}

// goodbye settles what is due and ends the session.
func (c *Conn) goodbye(ctx context.Context) error {
	if settled := c.settling(); settled != nil {
		select {
		case <-settled:
		case <-c.done:
			return nil
		case <-ctx.Done():
			return over(ctx)
		}
	}
	p, err := c.begin(space.Request{Verb: space.VerbEnd})
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-c.done:
		return nil
	case <-ctx.Done():
		return over(ctx)
	}
}

// settling returns what is closed once no acknowledgement is due; nil if none is.
func (c *Conn) settling() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notes == 0 {
		return nil
	}
	c.settled = make(chan struct{})
	return c.settled
}
