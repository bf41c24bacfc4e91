package postgres_test

import (
	"context"
	"io"
	"net"
	"sync"
)

// network connects to the server, and breaks connections when a test wants it.
type network struct {
	mu    sync.Mutex // guards conns and cut
	conns []*faulty
	cut   bool // no connection can be made
}

// faulty is a connection that loses what passes it.
type faulty struct {
	net.Conn
	mu sync.Mutex // guards what follows
	// onWrite and onRead, if set, are called with the bytes before they are sent, and after they have come; an error breaks
	// the connection instead.
	onWrite, onRead func([]byte) error
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		return nil, net.ErrClosed
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	f := &faulty{Conn: conn}
	n.conns = append(n.conns, f)
	return f, nil
}

// each calls do with all connections made so far.
func (n *network) each(do func(*faulty)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.conns {
		f.mu.Lock()
		do(f)
		f.mu.Unlock()
	}
}

// loseRequests breaks each connection before the next message is sent.
func (n *network) loseRequests() {
	n.each(func(f *faulty) { f.onWrite = func([]byte) error { return io.ErrClosedPipe } })
}

// loseAnswers breaks each connection when the next answer comes.
func (n *network) loseAnswers() {
	n.each(func(f *faulty) { f.onRead = func([]byte) error { return io.ErrUnexpectedEOF } })
}

// swallow makes messages disappear without an error, so that no answer comes.
func (n *network) swallow() {
	n.each(func(f *faulty) { f.onWrite = func([]byte) error { return errSwallowed } })
}

var errSwallowed = io.EOF

func (f *faulty) Write(b []byte) (int, error) {
	f.mu.Lock()
	on := f.onWrite
	f.mu.Unlock()
	if on != nil {
		switch err := on(b); err {
		case nil:
		case errSwallowed:
			return len(b), nil
		default:
			_ = f.Close()
			return 0, err
		}
	}
	return f.Conn.Write(b)
}

func (f *faulty) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	f.mu.Lock()
	on := f.onRead
	f.mu.Unlock()
	if on != nil && n > 0 {
		if err := on(b[:n]); err != nil {
			_ = f.Close()
			return 0, err
		}
	}
	return n, err
}
