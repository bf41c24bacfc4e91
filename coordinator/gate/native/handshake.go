package native

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"time"

	"leasehold/coordinator/gate/mux"
	"leasehold/coordinator/peer"
	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/space/wire"
)

// connection is one connection of a session.
type connection struct {
	link     *wire.Link
	remote   string // IP address
	peer     peer.Peer
	identity access.Identity
	workers  *pool // carries out its calls
	refusals refusals
	ended    chan struct{} // closed when no more is read from it
	replaced chan struct{} // closed when a later connection has taken its place

	batch, last *call // that the reader has begun and that wait for a commit; only it uses them
}

// admit does the handshake: it reads the client's Hello, counts the connection as one of the
// client's mode, and attaches it to the session. If the client cannot be admitted it gets one
// error and the connection is closed; the session is nil then. The deadline that it sets holds
// until welcome removes it.
func (g *Gate) admit(ctx context.Context, slot *slot) (*session, *connection) {
	nc := slot.conn
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	_ = nc.SetDeadline(time.Now().Add(g.Handshake)) // a closed connection fails below
	conn := &connection{link: wire.NewLink(nc), remote: addressOf(nc), peer: slot.peer, ended: make(chan struct{}), replaced: make(chan struct{})}
	conn.link.Memory = g.Memory
	hello, err := g.readHello(nc, conn.link)
	if err == nil {
		if conn.identity, err = g.identify(nc, hello.Token); err == nil {
			err = checkMode(conn.identity, hello.Mode)
		}
	}
	if err == nil {
		err = g.slots.admit(slot, hello.Mode)
	}
	if err == nil {
		var s *session
		if s, err = g.attach(ctx, hello, conn); err == nil {
			if _, revoked := g.identify(nc, hello.Token); revoked != nil { // before attach, so the session was not ended with others
				g.Log.Info("gate: revoked", "session", hello.Session, "ended", g.Engine.EndSession(ctx, hello.Session))
			}
			return s, conn
		}
	}
	if !errors.Is(err, wire.ErrForeign) { // that one was answered already
		g.sendFailure(nc, err)
	}
	if g.refused.IsDue(nc.RemoteAddr(), mux.Native) {
		g.Log.Info("gate: refused", "remote", nc.RemoteAddr(), "session", hello.Session, "error", err)
	}
	conn.link.Close(err)
	return nil, nil
}

// identify returns the identity of a client: by its token, or by the certificate of its connection.
func (g *Gate) identify(nc net.Conn, token string) (access.Identity, error) {
	if token != "" && g.ByToken != nil {
		return g.ByToken(nc, token)
	}
	return g.Identify(nc)
}

// checkMode refuses a client that declares to be a manager or a worker without that role, because a part of the slots
// and of the memory is reserved for those, and a client without an identity.
func checkMode(i access.Identity, mode string) error {
	need := access.Any
	switch mode {
	case "manager":
		need = access.Manager
	case "worker":
		need = access.Worker
	case "coordinator":
		need = access.None
	}
	return i.Check("a session of a "+mode, need)
}

// addressOf returns the IP address of the other side; empty if it has none.
func addressOf(nc net.Conn) string {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		return ""
	}
	return host
}

// readHello reads the client's preamble and Hello. If the other side does not speak the protocol it is answered
// here, in HTTP, JSON or TLS if it speaks that, and the error is wire.ErrForeign.
func (g *Gate) readHello(nc net.Conn, l *wire.Link) (wire.Hello, error) {
	head, err := wire.ReadPreamble(l.Reader())
	switch {
	case errors.Is(err, wire.ErrForeign) && isHTTP(head):
		text := fmt.Sprintf("This is the port of leasehold's tuple spaces. HTTP is at %s.\n", cmp.Or(g.HTTP, "another port"))
		_, _ = fmt.Fprintf(nc, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text) // the connection is closed in any case
		return wire.Hello{}, err
	case errors.Is(err, wire.ErrForeign) && hasRefusal(head):
		mux.Refuse(nc, mux.Recognise(head))
		return wire.Hello{}, err
	case errors.Is(err, wire.ErrForeign):
		g.sendFailure(nc, fmt.Errorf("this is the port of leasehold's tuple spaces: %w: %w", err, fault.ErrInvalid))
		return wire.Hello{}, err
	case err != nil:
		return wire.Hello{}, fmt.Errorf("handshake: %w", err)
	}
	f, err := wire.ReadHello(l.Reader())
	if err == nil && f.Kind != wire.Greeting {
		err = fmt.Errorf("a frame of kind %d where a hello (%d) is expected: %w", f.Kind, wire.Greeting, fault.ErrInvalid)
	}
	if err != nil {
		return wire.Hello{}, fmt.Errorf("handshake: %w", err)
	}
	h, err := wire.DecodeHello(f.Body)
	if err == nil && (h.TTL < 0 || h.TTL > g.MaxTTL) {
		err = fmt.Errorf("a session's TTL must be 0 to %s (the coordinator's session-max-ttl); got %s: %w", g.MaxTTL, h.TTL, fault.ErrInvalid)
	}
	return h, err
}

// hasRefusal reports whether a connection that begins with head speaks a protocol in which it can be refused.
func hasRefusal(head []byte) bool {
	p := mux.Recognise(head)
	return p == mux.JSON || p == mux.TLS
}

// isHTTP reports whether head, the first bytes of a connection, begins an HTTP request. Three
// bytes are enough, because fewer may have arrived than a method is long.
func isHTTP(head []byte) bool {
	for _, method := range []string{"GET ", "HEAD ", "POST ", "PUT ", "PATCH ", "DELETE ", "OPTIONS ", "CONNECT ", "PRI * "} {
		if bytes.HasPrefix(head, []byte(method[:min(len(method), len(head))])) && len(head) > 2 {
			return true
		}
	}
	return false
}

// attach makes conn the connection of the session that the client asks for, which it opens if
// necessary. An earlier connection of the same client is closed, and has ended when attach
// returns. The error is the engine's or a quota's, fault.ErrConflict for a wrong key, or why ctx
// ended.
func (g *Gate) attach(ctx context.Context, h wire.Hello, conn *connection) (*session, error) {
	for {
		s, wait, err := g.tryAttach(ctx, h, conn)
		if s != nil || err != nil {
			return s, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryAttach returns the session, with conn as its connection. If an earlier connection is opening the session or
// has to end first, it returns a channel instead, which closes when tryAttach should be called again. The key of
// an open session must be the client's. It looks for the session while it holds opening, but opens one without
// it, so that one commit serves many of them.
func (g *Gate) tryAttach(ctx context.Context, h wire.Hello, conn *connection) (_ *session, tryAgain <-chan struct{}, _ error) {
	g.opening.Lock()
	s := g.sessions[h.Session]
	if s != nil && !s.isOpened() {
		g.opening.Unlock()
		return nil, s.opened, nil
	}
	if s == nil || s.backend.Err() != nil { // unknown here, or it has ended
		g.forgetSession(s)
		s = g.newSession(h, conn)
		g.sessions[h.Session] = s
		g.opening.Unlock()
		if err := s.open(ctx, h); err != nil {
			return nil, nil, err
		}
		return s, nil, nil
	}
	defer g.opening.Unlock()
	if subtle.ConstantTimeCompare(s.key, h.Key) != 1 {
		return nil, nil, fmt.Errorf("session %s: %w: a %s of that name is connected already", h.Session, fault.ErrConflict, s.mode)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.identity.ID != conn.identity.ID {
		return nil, nil, fmt.Errorf("session %s: %w: %s did not open it", h.Session, fault.ErrForbidden, conn.identity)
	}
	if s.connection != nil {
		select {
		case <-s.connection.ended:
			close(s.connection.replaced)
		default:
			s.connection.link.Close(fmt.Errorf("a later connection of session %s: %w", h.Session, fault.ErrClosed))
			return nil, s.connection.ended, nil
		}
	}
	s.connection = conn
	return s, nil, nil
}

// welcome completes the handshake from the gate's side: it sends how often to give a sign of life, and removes
// the deadline of the handshake. Pings come at least three times in a session's TTL, so that a dead peer is
// noticed before the session is lost.
func (g *Gate) welcome(nc net.Conn, s *session, conn *connection) error {
	conn.link.Ping, conn.link.Class = g.Ping, s.class()
	if s.ttl > 0 {
		conn.link.Ping = min(g.Ping, s.ttl/3)
	}
	w := wire.Welcome{HTTP: g.HTTP, Heartbeat: g.Heartbeat, Lost: g.Lost, Ping: conn.link.Ping}
	err := wire.Send(nc, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Welcomed, Body: wire.AppendWelcome(nil, w)})
	if err == nil {
		err = nc.SetDeadline(time.Time{})
	}
	return err
}
