package native

import (
	"context"
	"sync"
	"sync/atomic"
)

// maxIdle is how many goroutines of a pool wait for calls. They are kept because their
// stacks have grown to the size that a call needs; a new goroutine's would grow again.
const maxIdle = 512

// pool carries out calls, each in a goroutine of its own, because a call may block.
type pool struct {
	ctx     context.Context // of Serve
	running *sync.WaitGroup
	calls   chan *call // to idle goroutines
	idle    atomic.Int32
}

func newPool(ctx context.Context, running *sync.WaitGroup) *pool {
	return &pool{ctx: ctx, running: running, calls: make(chan *call)}
}

// start carries out c, and the calls linked to it (next), in an idle goroutine, or in a new one.
// It does not wait.
func (p *pool) start(c *call) {
	select {
	case p.calls <- c:
	default:
		p.running.Go(func() { p.work(c) })
	}
}

// work carries out c, those linked to it in their order, and then further calls, until ctx ends
// or maxIdle others are idle: so a burst of calls does not keep its goroutines.
func (p *pool) work(c *call) {
	for {
		for ; c != nil; c = c.next {
			c.session.perform(p.ctx, c)
		}
		if p.idle.Add(1) > maxIdle {
			p.idle.Add(-1)
			return
		}
		select {
		case c = <-p.calls:
			p.idle.Add(-1)
		case <-p.ctx.Done():
			return
		}
	}
}
