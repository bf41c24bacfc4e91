package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// handshake is how long a gate may take to say who it is.
const handshake = 5 * time.Second

// Config says whom to dial, and as whom.
type Config struct {
	Address string
	Mode    string        // manager, worker, client …
	Session string        // its id, such as SessionID makes one
	TTL     time.Duration // of the session without a sign of life; 0: it lives with the connection
	Backoff Backoff
	Log     *slog.Logger // nil: slog.Default
	// Dial opens a connection; nil is TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

func (c Config) normal() (Config, error) {
	if c.Mode == "" {
		c.Mode = "client"
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	c.Backoff = c.Backoff.normal()
	switch {
	case c.TTL < 0:
		return c, fmt.Errorf("a TTL of %s: %w", c.TTL, fault.ErrInvalid)
	case c.Session == "" || max(len(c.Session), len(c.Mode)) > space.MaxName:
		return c, fmt.Errorf("a session and a mode need names of at most %d bytes: %w", space.MaxName, fault.ErrInvalid)
	}
	return c, nil
}

// SessionID returns a new id for a session of a mode: <mode>-<8 hex>.
func SessionID(mode string) string { return mode + "-" + hex.EncodeToString(random(4)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}

// Dial opens a session at a gate. It tries until ctx ends, so that a client may
// be started before its coordinator. What will not get better ends it at once:
// fault.ErrConflict for a session that somebody else has, fault.ErrInvalid for a
// gate of another version or a name that is none, wire.ErrForeign for an address
// where something else answers. The caller must Close the Conn, or see a call end
// with fault.ErrClosed.
func Dial(ctx context.Context, c Config) (*Conn, error) {
	c, err := c.normal()
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", c.Address, err)
	}
	conn := newConn(c)
	l, err := conn.connect(ctx, false)
	if err != nil {
		conn.cancel()
		return nil, fmt.Errorf("dial %s as %s: %w", c.Address, c.Session, err)
	}
	conn.running.Go(func() { conn.run(l) })
	return conn, nil
}

// quiet is how long failed attempts are not warned of after one that was.
const quiet = 10 * time.Second

// connect tries until there is a connection, ctx ends, or trying on is of no use.
func (c *Conn) connect(ctx context.Context, resume bool) (*wire.Link, error) {
	var warned time.Time
	for pause := c.Backoff.first(); ; pause = c.Backoff.next(pause) {
		l, err := c.greet(ctx, resume)
		if err == nil {
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w; the last attempt: %w", over(ctx), err)
		}
		if final(err) {
			return nil, err
		}
		level := slog.LevelDebug
		if time.Since(warned) >= quiet {
			level, warned = slog.LevelWarn, time.Now()
		}
		c.Log.Log(ctx, level, "remote: no connection; trying again", "address", c.Address, "session", c.id, "error", err, "in", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w; the last attempt: %w", over(ctx), err)
		}
	}
}

// final says that trying again will not help.
func final(err error) bool {
	for _, kind := range []error{fault.ErrClosed, fault.ErrConflict, fault.ErrInvalid, fault.ErrTooLarge, fault.ErrUnauthenticated, wire.ErrForeign} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// greet opens one connection and does the handshake.
func (c *Conn) greet(ctx context.Context, resume bool) (*wire.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, handshake)
	defer cancel()
	nc, err := c.Dial(ctx, c.Address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	l := wire.NewLink(nc)
	err = c.shake(nc, l, resume)
	if err == nil && !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.Close(err)
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return l, nil
}

// shake says who we are, and reads what the gate has to say.
func (c *Conn) shake(nc net.Conn, l *wire.Link, resume bool) error {
	h := wire.Hello{Session: c.id, Mode: c.Mode, Key: c.key, TTL: c.TTL, Resume: resume}
	if err := wire.Send(nc, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, h)}); err != nil {
		return err
	}
	if _, err := wire.ReadPreamble(l.Reader()); err != nil {
		return err
	}
	f, _, err := wire.Read(l.Reader(), nil)
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case f.Kind == wire.Failure:
		failure, err := wire.DecodeError(f.Body)
		return errors.Join(failure, err)
	case f.Kind != wire.Welcomed:
		return fmt.Errorf("a frame of kind %d: %w", f.Kind, fault.ErrInvalid)
	}
	w, err := wire.DecodeWelcome(f.Body)
	if err == nil && w.Ping <= 0 {
		err = fmt.Errorf("pings every %s: %w", w.Ping, fault.ErrInvalid)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.welcome, l.Ping = w, w.Ping
	return err
}
