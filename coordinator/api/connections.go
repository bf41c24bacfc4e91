package api

import (
	"container/list"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/coordinator/gate/mux"
)

// silentTime is how long a new connection may send nothing before it gives way to another one. It is enough for
// the server to read what has arrived already.
const silentTime = 50 * time.Millisecond

// connections bounds the open connections of a listener. When a new one comes and too many are open, the one that has
// been without a request for longest is closed, because clients keep connections that they do not use, or open some
// and send nothing. If each has a request, the new one waits.
type connections struct {
	net.Listener
	max int

	mu    sync.Mutex // guards the fields below
	freed *sync.Cond
	open  int
	idle  list.List // of *countedConn, the longest idle first
	ended bool
}

func limitConnections(l net.Listener, most int) *connections {
	c := &connections{Listener: l, max: most}
	c.freed = sync.NewCond(&c.mu)
	return c
}

// countedConn is a connection that counts until it is closed. The mu of its connections guards the fields.
type countedConn struct {
	net.Conn
	all    *connections
	opened time.Time
	begun  atomic.Bool   // it has sent something
	idle   *list.Element // nil: it has a request
	closed bool
}

// NetConn returns the connection that counts.
func (c *countedConn) NetConn() net.Conn { return c.Conn }

// Accept returns the next connection when there is a place for it.
func (l *connections) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.max && !l.ended {
		oldest := l.idle.Front()
		if oldest == nil {
			l.freed.Wait()
			continue
		}
		c := oldest.Value.(*countedConn)
		if wait := silentTime - time.Since(c.opened); wait > 0 && !c.begun.Load() {
			l.waitAtMost(wait)
			continue
		}
		l.remove(c)
		_ = c.Conn.Close() // its server notices
	}
	if l.ended {
		_ = nc.Close()
		return nil, net.ErrClosed
	}
	l.open++
	c := &countedConn{Conn: nc, all: l, opened: time.Now()}
	l.setIdle(c, true)
	return c, nil
}

// waitAtMost waits until a place may be free, or d is over. The caller holds mu.
func (l *connections) waitAtMost(d time.Duration) {
	timer := time.AfterFunc(d, func() {
		l.mu.Lock() // else it might signal before Wait
		defer l.mu.Unlock()
		l.freed.Broadcast()
	})
	defer timer.Stop()
	l.freed.Wait()
}

// Close closes the listener, and ends an Accept that waits for a place.
func (l *connections) Close() error {
	l.mu.Lock()
	l.ended = true
	l.freed.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// remove counts a connection no more. The caller holds mu.
func (l *connections) remove(c *countedConn) {
	if c.closed {
		return
	}
	c.closed = true
	l.setIdle(c, false)
	l.open--
	l.freed.Signal()
}

// setIdle notes whether a connection is without a request. The caller holds mu.
func (l *connections) setIdle(c *countedConn, idle bool) {
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
	if idle && !c.closed {
		c.idle = l.idle.PushBack(c)
		l.freed.Signal() // a new connection may take its place
	}
}

// noteState is http.Server.ConnState. Accept and Read note the state of a new connection.
func (l *connections) noteState(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*countedConn); ok && state != http.StateNew {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.setIdle(c, state == http.StateIdle)
	}
}

// Read notes the first bytes of the connection, which begin a request. If they are of another protocol, the client gets a
// refusal in that protocol or in words, and Read returns io.EOF.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.begun.Swap(true) {
		c.all.mu.Lock()
		c.all.setIdle(c, false)
		c.all.mu.Unlock()
		if refuseForeign(c.Conn, b[:n]) {
			return 0, io.EOF
		}
	}
	return n, err
}

// refuseForeign refuses a client that does not begin as one of HTTP does, and reports whether it has. What begins with a
// letter is left to the server, because it may be a method that we do not know.
func refuseForeign(c net.Conn, head []byte) bool {
	switch protocol := mux.Recognise(head); {
	case protocol == mux.Gob, protocol == mux.Other && !isLetter(head[0]):
		mux.RefuseText(c, "HTTP")
	case protocol == mux.JSON, protocol == mux.Native, protocol == mux.TLS:
		mux.RefuseAtHTTP(c, protocol)
	default:
		return false
	}
	return true
}

func isLetter(b byte) bool { return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' }

// Close closes the connection, and counts it no more.
func (c *countedConn) Close() error {
	c.all.mu.Lock()
	c.all.remove(c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
