package native

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space/wire"
)

// visit is one connection of a session.
type visit struct {
	link     *wire.Link
	hands    *crew         // who carries out its calls
	left     chan struct{} // closed when nothing more is read from it
	replaced chan struct{} // closed when a later one has taken its place
}

// admit does the handshake. A client that cannot be admitted is told why, once,
// and then the session is nil and the connection closed.
func (g *Gate) admit(ctx context.Context, c net.Conn) (*session, *visit) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_ = c.SetDeadline(time.Now().Add(g.Handshake)) // a closed connection fails below
	v := &visit{link: wire.NewLink(c), left: make(chan struct{}), replaced: make(chan struct{})}
	hello, err := g.hello(c, v.link)
	var s *session
	if err == nil {
		s, err = g.attach(ctx, hello, v)
	}
	switch {
	case errors.Is(err, wire.ErrForeign):
	case err != nil:
		g.fail(c, 0, err)
	default:
		return s, v
	}
	g.Log.Info("gate: refused", "remote", c.RemoteAddr(), "session", hello.Session, "error", err)
	v.link.Close(err)
	return nil, nil
}

// hello reads who the client is. To a client that is none the answer is given
// here, in its own language if that is HTTP.
func (g *Gate) hello(c net.Conn, l *wire.Link) (wire.Hello, error) {
	head, err := wire.ReadPreamble(l.Reader())
	switch {
	case errors.Is(err, wire.ErrForeign) && isHTTP(head):
		text := fmt.Sprintf("This is the port of leasehold's tuple spaces. HTTP is at %s.\n", orNowhere(g.HTTP))
		_, _ = fmt.Fprintf(c, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
		return wire.Hello{}, err
	case errors.Is(err, wire.ErrForeign):
		g.fail(c, 0, fmt.Errorf("this is the port of leasehold's tuple spaces: %w: %w", err, fault.ErrInvalid))
		return wire.Hello{}, err
	case err != nil:
		return wire.Hello{}, fmt.Errorf("handshake: %w", err)
	}
	f, _, err := wire.Read(l.Reader(), nil)
	if err == nil && f.Kind != wire.Greeting {
		err = fmt.Errorf("a frame of kind %d: %w", f.Kind, fault.ErrInvalid)
	}
	if err != nil {
		return wire.Hello{}, fmt.Errorf("handshake: %w", err)
	}
	h, err := wire.DecodeHello(f.Body)
	if err == nil && (h.TTL < 0 || h.TTL > maxTTL) {
		err = fmt.Errorf("a session's TTL is at most %s; got %s: %w", maxTTL, h.TTL, fault.ErrInvalid)
	}
	return h, err
}

func isHTTP(head []byte) bool {
	for _, method := range []string{"GET ", "HEAD ", "POST ", "PUT ", "PATCH ", "DELETE ", "OPTIONS ", "CONNECT ", "PRI * "} {
		if bytes.HasPrefix(head, []byte(method[:min(len(method), len(head))])) && len(head) > 2 {
			return true
		}
	}
	return false
}

func orNowhere(address string) string {
	if address == "" {
		return "another port"
	}
	return address
}

// attach makes v the connection of the session that the client wants, which is
// opened if need be. An earlier connection of the same client has ended then.
func (g *Gate) attach(ctx context.Context, h wire.Hello, v *visit) (*session, error) {
	for {
		s, earlier, err := g.find(ctx, h, v)
		switch {
		case err != nil:
			return nil, err
		case earlier == nil:
			return s, nil
		}
		earlier.link.Close(fmt.Errorf("a later connection of session %s: %w", h.Session, fault.ErrClosed))
		select {
		case <-earlier.left:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// find returns the session, with v as its connection, or the connection that has
// to leave first.
func (g *Gate) find(ctx context.Context, h wire.Hello, v *visit) (*session, *visit, error) {
	g.opening.Lock()
	defer g.opening.Unlock()
	s := g.sessions[h.Session]
	if s != nil && s.over() {
		delete(g.sessions, h.Session)
		s = nil
	}
	if s == nil {
		s, err := g.openSession(ctx, h)
		if err != nil {
			return nil, nil, err
		}
		s.visit = v
		return s, nil, nil
	}
	if subtle.ConstantTimeCompare(s.key, h.Key) != 1 {
		return nil, nil, fmt.Errorf("session %s: %w: a %s of that name is connected already", h.Session, fault.ErrConflict, s.mode)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visit != nil {
		select {
		case <-s.visit.left:
			close(s.visit.replaced)
		default:
			return nil, s.visit, nil
		}
	}
	s.visit = v
	return s, nil, nil
}

// welcome tells the client that it is in.
func (g *Gate) welcome(c net.Conn, s *session, v *visit) error {
	v.link.Ping = g.Ping
	if s.ttl > 0 {
		v.link.Ping = min(g.Ping, s.ttl/3) // so that a dead peer is found before the session is lost
	}
	w := wire.Welcome{HTTP: g.HTTP, Heartbeat: g.Heartbeat, Lost: g.Lost, Ping: v.link.Ping}
	err := wire.Send(c, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Welcomed, Body: wire.AppendWelcome(nil, w)})
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	return err
}
