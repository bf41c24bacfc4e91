package api

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// connections bounds the open connections of a listener. When a new one comes and too many are open, the one that has
// been without a request for longest is closed, because clients keep connections that they do not use. If each has a
// request, the new one waits.
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
	idle   *list.Element // nil: it has a request, or none yet
	closed bool
}

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
		l.remove(c)
		_ = c.Conn.Close() // its server notices
	}
	if l.ended {
		_ = nc.Close()
		return nil, net.ErrClosed
	}
	l.open++
	return &countedConn{Conn: nc, all: l}, nil
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

// noteState is http.Server.ConnState.
func (l *connections) noteState(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*countedConn); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.setIdle(c, state == http.StateIdle)
	}
}

// Close closes the connection, and counts it no more.
func (c *countedConn) Close() error {
	c.all.mu.Lock()
	c.all.remove(c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
