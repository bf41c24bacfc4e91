package mux

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"leasehold/shared/fault"
)

// secureTimeout bounds a handshake of TLS from its first bytes.
const secureTimeout = 10 * time.Second

// secure does the server's part of a TLS handshake on a connection.
func secure(ctx context.Context, c net.Conn, config *tls.Config) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, secureTimeout)
	defer cancel()
	secured := tls.Server(c, config)
	return secured, secured.HandshakeContext(ctx)
}

// StateOf returns the TLS state of a connection that a port has passed to a gate, also if the gate has wrapped it, and
// reports whether the connection has TLS. A wrapper has the method NetConn, as tls.Conn has it.
func StateOf(c net.Conn) (state tls.ConnectionState, secured bool) {
	for {
		switch x := c.(type) {
		case *tls.Conn:
			return x.ConnectionState(), true
		case interface{ NetConn() net.Conn }:
			c = x.NetConn()
		default:
			return tls.ConnectionState{}, false
		}
	}
}

// NetConn returns the connection whose first bytes were read.
func (c *conn) NetConn() net.Conn { return c.Conn }

// isLocal reports whether the other side of a connection is on this machine.
func isLocal(c net.Conn) bool {
	remote, ok := c.RemoteAddr().(*net.TCPAddr)
	return ok && remote.IP.IsLoopback()
}

// refusePlain tells a client without TLS, in its own protocol, that it needs TLS.
func refusePlain(c net.Conn, p Protocol) {
	refuseWith(c, p, "this coordinator authenticates its clients: a process needs a join line (--join; leasehold invite makes one), and HTTP is at https://",
		"This port speaks TLS: use https:// instead of http://.", fault.ErrUnauthenticated)
}
