package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/members"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// handshakeTimeout bounds one attempt to connect, the handshake included.
const handshakeTimeout = 5 * time.Second

// warnInterval is the time between warnings of failed attempts to connect; those in
// between are logged at level debug.
const warnInterval = 10 * time.Second

// Config is the gate to dial, and the session to open there.
type Config struct {
	Address string        // of the gate, or those of the members of a realm, with commas between them
	Members *members.List // the same, shared with other connections, which learn from each other; nil: those of Address
	Mode    string        // manager, worker, client …; empty: client
	Name    string        // stable name of a worker, which it has again after a restart; empty: none
	Host    string        // of the client, as other sessions see it; empty: the name of this machine
	Session string        // its id, such as SessionID makes one
	TTL     time.Duration // of the session without a sign of life; 0: it lives with the connection
	Backoff retry.Backoff // between attempts to connect
	// Reconnect bounds how long a lost connection is replaced; then the session is over. 0: no
	// limit.
	Reconnect time.Duration
	Log       *slog.Logger // nil: slog.Default
	// Token proves who the client is to a gate that authenticates; empty: none. A connection without TLS to another
	// machine fails with fault.ErrInvalid then, before the token is sent.
	Token string
	// TLS is the configuration of TLS; nil: plain TCP. Without a ServerName the host of Address is verified.
	TLS *tls.Config
	// Dial opens a connection, with its TLS; nil is TCP, with TLS if that is set.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// withDefaults fills in defaults, and refuses a negative TTL and names that are missing or too
// long with fault.ErrInvalid.
func (c Config) withDefaults() (Config, error) {
	c.Mode = cmp.Or(c.Mode, "client")
	c.Log = cmp.Or(c.Log, slog.Default())
	if tlsConfig := c.TLS; c.Dial == nil {
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			if tlsConfig != nil {
				return identity.Dial(ctx, address, tlsConfig)
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	if c.Members == nil {
		c.Members = members.Parse(c.Address)
	}
	c.Backoff = c.Backoff.WithDefaults()
	switch {
	case c.TTL < 0:
		return c, fmt.Errorf("a TTL of %s, want 0 or more: %w", c.TTL, fault.ErrInvalid)
	case c.Session == "" || max(len(c.Session), len(c.Mode), len(c.Host), len(c.Name)) > space.MaxName:
		return c, fmt.Errorf("a session, a mode, a host and a worker need names of at most %d bytes: %w", space.MaxName, fault.ErrInvalid)
	}
	return c, nil
}

// SessionID returns a new id for a session of a mode: <mode>-<8 hex>.
func SessionID(mode string) string { return mode + "-" + hex.EncodeToString(random(4)) }

// random returns n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}

// Dial opens a session at a gate. It retries until ctx ends, so that a client may be started before its coordinator.
// Errors that a retry cannot help end it at once: fault.ErrConflict for a session that another client has,
// fault.ErrInvalid for a gate of another version or an invalid name, wire.ErrForeign for an address where another
// program answers, and any other permanent refusal. If ctx ends first, it returns the errors of ctx and of the last
// attempt. The caller must Close the Conn, or see a call end with fault.ErrClosed.
func Dial(ctx context.Context, c Config) (*Conn, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", cmp.Or(c.Address, "a gate"), err)
	}
	conn := newConn(c)
	l, err := conn.connect(ctx, openNew)
	if err != nil {
		conn.cancel()
		return nil, fmt.Errorf("dial %s as %s: %w", conn.Members, c.Session, err)
	}
	conn.running.Go(func() { conn.run(l) })
	return conn, nil
}

// Whether the session must still be alive at the gate when a connection is made.
const (
	openNew = false
	resume  = true
)

// connect retries until there is a connection, ctx ends, or a retry cannot help (isPermanent). It pauses when all
// members of the realm have failed. resumes tells that the session must be alive at the gate.
func (c *Conn) connect(ctx context.Context, resumes bool) (*wire.Link, error) {
	var warned time.Time
	for pause := c.Backoff.First(); ; pause = c.Backoff.Next(pause) {
		l, err := c.connectToAny(ctx, resumes)
		if err == nil {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w; the last attempt: %w", space.ContextError(ctx), err)
		}
		if isPermanent(err) {
			return nil, err
		}
		level := slog.LevelDebug
		if time.Since(warned) >= warnInterval {
			level, warned = slog.LevelWarn, time.Now()
		}
		c.Log.Log(ctx, level, "remote: cannot connect; retrying", "address", c.Members.String(), "session", c.id, "error", err, "in", pause.Round(time.Millisecond))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w; the last attempt: %w", space.ContextError(ctx), err)
		}
	}
}

// connectToAny connects to the member that serves the realm: it tries each once, the one that served last first. An
// address that cannot be dialled does not matter for the others, but the refusal of a gate does.
func (c *Conn) connectToAny(ctx context.Context, resumes bool) (*wire.Link, error) {
	var errs []error
	for _, address := range c.Members.Order() {
		l, err := c.connectOnce(ctx, address, resumes)
		if err == nil {
			c.Members.Serves(address)
			return l, nil
		}
		if ctx.Err() != nil || isPermanent(err) && !errors.As(err, new(undialled)) {
			return nil, err
		}
		c.Members.Failed(address)
		errs = append(errs, err)
	}
	return nil, members.Unreached(errs)
}

// undialled is the error of an address that could not be dialled.
type undialled struct{ error }

func (u undialled) Unwrap() error { return u.error }

// isPermanent reports whether an attempt with this error would fail again, because the gate has refused the client,
// or the address belongs to another program.
func isPermanent(err error) bool {
	for _, kind := range []error{fault.ErrClosed, fault.ErrConflict, fault.ErrInvalid, fault.ErrTooLarge, fault.ErrUnauthenticated, fault.ErrForbidden, wire.ErrForeign} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// connectOnce opens one connection to an address and does the handshake, within handshakeTimeout, after which it fails with
// fault.ErrUnavailable. On success the connection no longer depends on ctx. For resumes see connect.
func (c *Conn) connectOnce(ctx context.Context, address string, resumes bool) (*wire.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	nc, err := c.Dial(ctx, address)
	if err != nil {
		return nil, undialled{err}
	}
	if c.Token != "" && !mayHaveToken(nc) {
		_ = nc.Close() // nothing was sent
		return nil, fmt.Errorf("%w: a token is sent to another machine over TLS only, because others could read it", fault.ErrInvalid)
	}
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	l := wire.NewLink(nc)
	welcome, err := c.handshake(nc, l, resumes)
	if err == nil && !stop() { // ctx has ended, so nc is closed or will be
		err = context.Cause(ctx)
	}
	if ctx.Err() == context.DeadlineExceeded { // err is that the connection was closed for it
		err = fmt.Errorf("no answer within %s: %w", handshakeTimeout, fault.ErrUnavailable)
	}
	if err != nil {
		l.Close(err)
		return nil, fmt.Errorf("handshake: %w", err)
	}
	l.Ping = welcome.Ping
	c.mu.Lock()
	defer c.mu.Unlock()
	c.welcome = welcome
	return l, nil
}

// mayHaveToken reports whether nobody else can read what is sent over a connection: it has TLS, or it stays on this
// machine.
func mayHaveToken(nc net.Conn) bool {
	if _, secured := nc.(*tls.Conn); secured {
		return true
	}
	remote, ok := nc.RemoteAddr().(*net.TCPAddr)
	return ok && remote.IP.IsLoopback()
}

// handshake sends the Hello, and returns the gate's Welcome or the error that the gate answered with. It fails with
// io.ErrUnexpectedEOF without an answer, and with wire.ErrForeign for another protocol.
func (c *Conn) handshake(nc net.Conn, l *wire.Link, resumes bool) (wire.Welcome, error) {
	p := space.ThisProcess(c.Mode)
	h := wire.Hello{
		Session: c.id, Mode: p.Mode, Key: c.key, TTL: c.TTL, Resume: resumes,
		Host: cmp.Or(c.Host, p.Host), PID: p.PID, Version: p.Version, Name: c.Name, Token: c.Token,
	}
	if err := wire.Send(nc, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, h)}); err != nil {
		return wire.Welcome{}, err
	}
	if _, err := wire.ReadPreamble(l.Reader()); err != nil {
		return wire.Welcome{}, err
	}
	f, _, err := wire.Read(l.Reader(), nil)
	switch {
	case errors.Is(err, io.EOF):
		return wire.Welcome{}, io.ErrUnexpectedEOF
	case err != nil:
		return wire.Welcome{}, err
	case f.Kind == wire.Failure:
		return wire.Welcome{}, decodeError(f.Body)
	case f.Kind != wire.Welcomed:
		return wire.Welcome{}, fmt.Errorf("a frame of kind %d where a welcome (%d) is expected: %w", f.Kind, wire.Welcomed, fault.ErrInvalid)
	}
	w, err := wire.DecodeWelcome(f.Body)
	if err == nil && w.Ping <= 0 {
		err = fmt.Errorf("a ping interval of %s, want more than 0: %w", w.Ping, fault.ErrInvalid)
	}
	return w, err
}
