package mux

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"leasehold/coordinator/gate/accept"
	"leasehold/shared/fault"
	"leasehold/shared/space/wire"
)

// MaxPending bounds the connections whose protocol is not recognised, unless Config does.
const MaxPending = 1_000

// headTimeout is how long a client may take to send enough bytes to recognise its protocol. Without a gate for JSON it
// counts from the beginning of the connection, else from the first byte.
const headTimeout = 10 * time.Second

// passTimeout is how long a connection waits for its gate to accept it.
const passTimeout = 10 * time.Second

// Config is what a port has, and its limits.
type Config struct {
	// Timeout is how long a client may send nothing if the port has a gate for JSON, because a jSpace client
	// opens its connection long before its first request; 0: 1 h. Without such a gate it is 10 s at most.
	Timeout time.Duration
	Pending int          // connections whose protocol is not recognised; 0: 1,000
	Log     *slog.Logger // nil: slog.Default
	// TLS, if not nil, ends TLS before the protocol is recognised. Then clients without it are refused, except those on
	// this machine that speak HTTP, as a proxy does, or a protocol of foreign programs, which know no TLS; and those of
	// AdmitPlain.
	TLS *tls.Config
}

// Port is a port that several gates share. Its methods may be called concurrently.
type Port struct {
	Config
	base    net.Listener
	gates   map[Protocol]*listener
	plain   map[Protocol]bool // are admitted without TLS from everywhere
	refused Refusals

	mu      sync.Mutex // guards pending
	pending list.List  // of net.Conn, the oldest first
}

// New returns a port with the defaults of its Config; Serve opens it to the listeners that
// Listener has returned.
func New(base net.Listener, c Config) *Port {
	c.Timeout = cmp.Or(c.Timeout, time.Hour)
	c.Pending = cmp.Or(c.Pending, MaxPending)
	c.Log = cmp.Or(c.Log, slog.Default())
	return &Port{Config: c, base: base, gates: map[Protocol]*listener{}, plain: map[Protocol]bool{}}
}

// Listener returns the listener of the connections that speak a protocol. It must be
// called before Serve, once for each protocol.
func (p *Port) Listener(protocol Protocol) net.Listener {
	l := &listener{address: p.base.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})}
	p.gates[protocol] = l
	return l
}

// AdmitPlain admits clients of a protocol without TLS from other machines too. It must be called before Serve.
func (p *Port) AdmitPlain(protocol Protocol) { p.plain[protocol] = true }

// Speaks reports whether a protocol has a listener.
func (p *Port) Speaks(protocol Protocol) bool { return p.gates[protocol] != nil }

// Has reports whether Listener has returned l.
func (p *Port) Has(l net.Listener) bool {
	for _, own := range p.gates {
		if net.Listener(own) == l {
			return true
		}
	}
	return false
}

// Addr returns the address of the port.
func (p *Port) Addr() net.Addr { return p.base.Addr() }

// Close closes the port.
func (p *Port) Close() error { return p.base.Close() }

// Serve accepts connections until ctx ends, and closes the port. It returns nil then, after all
// connections that no gate has accepted are closed, and an error if the port was closed from
// outside. Each connection counts before it is read in a goroutine of its own, so that pending
// never exceeds its bound.
func (p *Port) Serve(ctx context.Context) error {
	name := "port " + p.base.Addr().String()
	return accept.Serve(ctx, p.base, accept.Gate{Name: name, Log: p.Log, Admit: func(c net.Conn) func(context.Context) {
		place := p.add(c)
		return func(ctx context.Context) { p.dispatch(ctx, c, place) }
	}})
}

// add counts a connection as pending and returns its place in the list. If there are too many,
// it closes the oldest, whose goroutine then fails to read.
func (p *Port) add(c net.Conn) *list.Element {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending.Len() >= p.Pending {
		_ = p.pending.Remove(p.pending.Front()).(net.Conn).Close() // its goroutine notices
	}
	return p.pending.PushBack(c)
}

// remove counts a connection no more; it does nothing if add has removed it already.
func (p *Port) remove(place *list.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending.Remove(place)
}

// dispatch passes a connection to the gate that speaks its protocol, or closes it, because no
// gate speaks it, no gate accepts it within passTimeout, or ctx ends. A client of a protocol that no
// gate speaks gets an answer before. The gate has no deadline set and may set its own.
func (p *Port) dispatch(ctx context.Context, c net.Conn, place *list.Element) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(p.silence())) // a closed connection fails below
	opened, protocol, refuse := p.open(ctx, c)
	p.remove(place) // before pass, because add may close what is pending
	gate := p.gates[protocol]
	if refuse == nil && gate == nil {
		refuse = p.refuse
	}
	if refuse != nil {
		if p.refused.IsDue(c.RemoteAddr(), protocol) {
			p.Log.Info("port: refused", "remote", c.RemoteAddr(), "first bytes", fmt.Sprintf("%x", opened.head))
		}
		refuse(opened.Conn, protocol)
		stop()
		_ = c.Close()
		return
	}
	_ = c.SetDeadline(time.Time{})
	ctxEnded := !stop() // which closes c
	if ctxEnded || !gate.pass(ctx, opened, passTimeout) {
		_ = c.Close()
	}
}

// silence is how long a client may send nothing.
func (p *Port) silence() time.Duration {
	if p.gates[JSON] == nil {
		return min(p.Timeout, headTimeout)
	}
	return p.Timeout
}

// open reads the first bytes of a connection, ends TLS if the port has it, and returns the protocol inside. If the client
// must be refused, refuse does it.
func (p *Port) open(ctx context.Context, c net.Conn) (opened *conn, protocol Protocol, refuse func(net.Conn, Protocol)) {
	head, protocol := readHead(c)
	opened = &conn{Conn: c, head: head}
	switch {
	case p.TLS == nil || protocol == Unknown || p.plain[protocol]:
		return opened, protocol, nil
	case protocol != TLS && (protocol == Native || !isLocal(c)):
		return opened, protocol, refusePlain
	case protocol != TLS:
		return opened, protocol, nil
	}
	secured, err := secure(ctx, opened, p.TLS)
	if err != nil {
		if p.refused.IsDue(c.RemoteAddr(), TLS) {
			p.Log.Info("port: no TLS", "remote", c.RemoteAddr(), "error", err)
		}
		return opened, Unknown, func(net.Conn, Protocol) {} // the client got an alert
	}
	_ = c.SetDeadline(time.Now().Add(p.silence())) // a closed connection fails below
	head, protocol = readHead(secured)
	return &conn{Conn: secured, head: head}, protocol, nil
}

// readHead reads until the protocol is recognised, and returns it with the bytes that it read. The size of buf is
// enough for that. If the client sends too few bytes, the protocol is Other, and Unknown if it sends none.
func readHead(c net.Conn) (head []byte, protocol Protocol) {
	buf := make([]byte, longest)
	for n := 0; n < len(buf); {
		more, err := c.Read(buf[n:])
		if n == 0 && more > 0 {
			_ = c.SetReadDeadline(time.Now().Add(headTimeout)) // a closed connection fails at the next read
		}
		n += more
		protocol = Recognise(buf[:n])
		if err != nil && protocol == Unknown && n > 0 {
			protocol = Other
		}
		if protocol != Unknown || err != nil {
			return buf[:n], protocol
		}
	}
	return buf, Other
}

// Refuse tells a client in its own protocol that the port does not speak it: clients of gob, which
// has no message for that, and those of other protocols get a line of text. The caller closes the connection.
func Refuse(c net.Conn, p Protocol) {
	const text = "this port does not speak the protocol of this client: check the address"
	refuseWith(c, p, text, "This port does not serve HTTP.", fault.ErrInvalid)
}

// RefuseAtHTTP is Refuse at a port of HTTP: it tells processes and commands which address they need.
func RefuseAtHTTP(c net.Conn, p Protocol) {
	if p != Native {
		Refuse(c, p)
		return
	}
	const text = "this is the coordinator's port for HTTP (API and page): use the address of its gate, which it prints at its start (gate HOST:PORT)"
	refuseWith(c, p, text, "", fault.ErrInvalid)
}

// refuseWith refuses a client with a text, and with an error of a kind if it speaks our protocol. page is the text for a
// browser.
func refuseWith(c net.Conn, p Protocol, text, page string, kind error) {
	page += "\n"
	var answer []byte
	switch p {
	case TLS:
		answer = []byte{21, 3, 1, 0, 2, 2, 40} // a fatal alert: handshake failure
	case HTTP:
		answer = fmt.Appendf(nil, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(page), page)
	case JSON:
		answer = fmt.Appendf(nil, `{"messageType":"FAILURE","status":false,"statusCode":"400","statusMessage":%q}`+"\n", text)
	case Native:
		why := fmt.Errorf("%s: %w", text, kind)
		_ = wire.Send(c, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Failure, Body: wire.AppendError(nil, why)})
	case Gob, Other:
		answer = []byte("leasehold: " + text + "\n")
	}
	if answer != nil {
		_, _ = c.Write(answer) // the connection is closed in any case
	}
	drain(c)
}

// What drain reads at most, and for how long.
const (
	drainBytes   = 64 << 10
	drainTimeout = time.Second
)

// drain ends the sending half and reads what the client still sends, because closing a connection
// with unread bytes would destroy the answer. It does nothing if the connection has no halves.
func drain(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(drainTimeout))
	_, _ = io.CopyN(io.Discard, c, drainBytes)
}

// listener is the part of a port that one gate accepts.
type listener struct {
	address net.Addr
	conns   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

// pass passes a connection to the gate, and reports whether the gate accepted it within timeout,
// before ctx ended or the listener was closed. If not, the caller still has the connection.
func (l *listener) pass(ctx context.Context, c net.Conn, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case l.conns <- c:
		return true
	case <-l.closed:
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// Accept implements net.Listener: it returns the next connection that the port passes on, and
// net.ErrClosed after Close.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It does not close the port.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return l.address }

// conn is a connection whose first bytes were read already.
type conn struct {
	net.Conn
	head []byte
}

// Read returns the bytes that were read already before those of the connection.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.head) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.head)
	c.head = c.head[n:]
	return n, nil
}

// CloseWrite ends the sending half; it does nothing if the connection has no halves.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// SyscallConn implements syscall.Conn, by which package wire writes without waiting;
// errors.ErrUnsupported if the connection lacks it.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
