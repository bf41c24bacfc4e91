package node

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"
)

// faultyNetwork is a network of pipes, in fake time, that delays, drops and resets as
// configured. Its zero value delivers everything at once.
type faultyNetwork struct {
	latency, jitter time.Duration
	segment         int // bytes that arrive at a time; 0: as they were sent
	resets          int // per cent of connections, within each 1,000 bytes that they carry

	mu     sync.Mutex // guards the fields below
	rand   *rand.Rand
	mute   [2]bool // whether bytes are dropped: up from clients, down to clients
	closed bool    // dials are refused
	open   []net.Conn
	cuts   int
}

const (
	up = iota
	down
)

// pipeListener is a listener whose connections are the far ends of pipes.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipeListener) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// dial connects to the listener.
func (p *pipeListener) dial(ctx context.Context, _ string) (net.Conn, error) {
	far, gate := net.Pipe()
	select {
	case p.conns <- gate:
		return far, nil
	case <-p.done:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// over makes a dial that connects through this network.
func (w *faultyNetwork) over(dial func(context.Context, string) (net.Conn, error)) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		if w.is(&w.closed) {
			return nil, syscall.ECONNREFUSED
		}
		<-time.After(w.delay() - w.latency) // those that were dialled at once arrive in any order
		far, err := dial(ctx, address)
		if err != nil {
			return nil, err
		}
		client, near := net.Pipe()
		budget := w.budget(near, far)
		go w.carry(up, near, far, budget)
		go w.carry(down, far, near, budget)
		return client, nil
	}
}

// budget is how many bytes a connection carries before it is reset.
func (w *faultyNetwork) budget(ends ...net.Conn) *int {
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
func (w *faultyNetwork) spend(budget *int, n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := *budget
	*budget -= n
	if before > 0 && *budget <= 0 {
		w.cuts++
	}
	return *budget <= 0
}

// resetCount is how many connections have been reset by their budgets.
func (w *faultyNetwork) resetCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cuts
}

func (w *faultyNetwork) delay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.jitter == 0 {
		return w.latency
	}
	return w.latency + time.Duration(w.rand.Int64N(int64(w.jitter)))
}

func (w *faultyNetwork) is(flag *bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *flag
}

func (w *faultyNetwork) set(flag *bool, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*flag = yes
}

// reset breaks all connections.
func (w *faultyNetwork) reset() {
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
func (w *faultyNetwork) carry(way int, from, to net.Conn, budget *int) {
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
	for range under { // discard bytes in transit
	}
}

// deliver writes segment by segment; it reports whether the connection broke.
func (w *faultyNetwork) deliver(to net.Conn, data []byte, budget *int) (broke bool) {
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
