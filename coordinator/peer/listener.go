package peer

import (
	"net"
	"net/netip"
	"sync"
)

// Limit returns a listener that closes the connections of a peer at once while it has its
// quota of them.
func Limit(l net.Listener, connections *Quota, exempt []netip.Prefix) net.Listener {
	return &listener{l, connections, exempt}
}

type listener struct {
	net.Listener
	quota  *Quota
	exempt []netip.Prefix
}

// Accept returns the next connection within the quota of its peer, and closes the others. The connection counts
// until it is closed.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p := Of(c.RemoteAddr(), l.exempt)
		if l.quota.Take(p) == nil {
			return &conn{Conn: c, end: sync.OnceFunc(func() { l.quota.Return(p) })}, nil
		}
		_ = c.Close()
	}
}

// conn is a connection that counts until it is closed.
type conn struct {
	net.Conn
	end func()
}

// NetConn returns the connection that counts.
func (c *conn) NetConn() net.Conn { return c.Conn }

func (c *conn) Close() error {
	defer c.end()
	return c.Conn.Close()
}

// CloseWrite ends the sending half; it does nothing if the connection has no halves.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
