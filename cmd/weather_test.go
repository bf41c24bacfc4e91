package cmd

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"
)

// weather is a network of pipes, in fake time, that can be made as bad as a test
// wants. Its zero value carries everything at once.
type weather struct {
	latency, jitter time.Duration
	segment         int // bytes that arrive at a time; 0: as they were sent
	resets          int // per cent of connections, within each 1,000 bytes that they carry

	mu     sync.Mutex // guards what follows
	rand   *rand.Rand
	mute   [2]bool // what is dropped: what clients send, what they are sent
	closed bool    // who dials is refused
	open   []net.Conn
	cuts   int
}

const (
	up = iota
	down
)

// pipes is a listener whose connections are the far ends of pipes.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// to makes a dial that reaches p through this weather.
func (w *weather) to(p *pipes) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		if w.is(&w.closed) {
			return nil, syscall.ECONNREFUSED
		}
		<-time.After(w.delay() - w.latency) // those that were dialled at once arrive in any order
		client, near := net.Pipe()
		far, gate := net.Pipe()
		select {
		case p.conns <- gate:
		case <-p.done:
			return nil, syscall.ECONNREFUSED
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		budget := w.budget(near, far)
		go w.carry(up, near, far, budget)
		go w.carry(down, far, near, budget)
		return client, nil
	}
}

// budget is how many bytes a connection carries before it is reset.
func (w *weather) budget(ends ...net.Conn) *int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, ends...)
	left := 1 << 40
	if w.resets > 0 {
		left = 1 + w.rand.IntN(1000)
		for w.rand.IntN(100) >= w.resets {
			left += 1000
		}
	}
	return &left
}

// spend takes n bytes of a budget; it reports whether the connection is cut.
func (w *weather) spend(budget *int, n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := *budget
	*budget -= n
	if before > 0 && *budget <= 0 {
		w.cuts++
	}
	return *budget <= 0
}

// cutSoFar is how many connections have been reset by their budgets.
func (w *weather) cutSoFar() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cuts
}

func (w *weather) delay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.jitter == 0 {
		return w.latency
	}
	return w.latency + time.Duration(w.rand.Int64N(int64(w.jitter)))
}

func (w *weather) is(flag *bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *flag
}

func (w *weather) set(flag *bool, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*flag = yes
}

// reset breaks all connections.
func (w *weather) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// parcel is what was sent at one time, and when it arrives.
type parcel struct {
	data []byte
	due  time.Time
}

// carry takes bytes from one end to the other, in order, until either breaks.
func (w *weather) carry(way int, from, to net.Conn, budget *int) {
	under := make(chan parcel, 1000)
	go func() {
		defer close(under)
		for {
			buf := make([]byte, 4096)
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			if !w.is(&w.mute[way]) {
				under <- parcel{buf[:n], time.Now().Add(w.delay())}
			}
		}
	}()
	for p := range under {
		<-time.After(time.Until(p.due))
		if w.deliver(to, p.data, budget) {
			break
		}
	}
	_ = from.Close()
	_ = to.Close()
	for range under { // what was under way is lost
	}
}

// deliver writes segment by segment; it reports whether the connection broke.
func (w *weather) deliver(to net.Conn, data []byte, budget *int) (broke bool) {
	for len(data) > 0 {
		n := len(data)
		if w.segment > 0 {
			n = min(n, w.segment)
		}
		if w.spend(budget, n) {
			return true
		}
		if _, err := to.Write(data[:n]); err != nil {
			return true
		}
		data = data[n:]
	}
	return false
}
