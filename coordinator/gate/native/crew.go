package native

import (
	"context"
	"sync"
	"sync/atomic"
)

// maxIdle is how many hands wait for work. Their stacks have grown to what a call
// needs, which a new goroutine's would have to each time.
const maxIdle = 512

// crew carries out calls, each in a goroutine, since it may block.
type crew struct {
	ctx     context.Context // of Serve
	running *sync.WaitGroup
	calls   chan *call
	idle    atomic.Int32
}

func newCrew(ctx context.Context, running *sync.WaitGroup) *crew {
	return &crew{ctx: ctx, running: running, calls: make(chan *call)}
}

// take has a call carried out at once.
func (w *crew) take(c *call) {
	select {
	case w.calls <- c:
	default:
		w.running.Go(func() { w.work(c) })
	}
}

// work carries out one call after the other, unless enough others do.
func (w *crew) work(c *call) {
	for {
		c.session.perform(w.ctx, c)
		if w.idle.Add(1) > maxIdle {
			w.idle.Add(-1)
			return
		}
		select {
		case c = <-w.calls:
			w.idle.Add(-1)
		case <-w.ctx.Done():
			return
		}
	}
}
