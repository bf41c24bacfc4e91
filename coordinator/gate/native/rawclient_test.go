package native_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// raw is a client that says what it likes.
type raw struct {
	h *house
	net.Conn
	r       *bufio.Reader
	session string
}

func (h *house) raw() *raw {
	h.Helper()
	c, err := h.port.dial(h.Context(), "")
	require.NoError(h, err)
	h.Cleanup(func() { _ = c.Close() })
	return &raw{h: h, Conn: c, r: bufio.NewReader(c)}
}

// hello is a raw client that was let in.
func (h *house) hello(session string, ttl time.Duration) *raw {
	h.Helper()
	c := h.raw()
	c.session = session
	c.send(wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, wire.Hello{Session: session, Key: []byte("k"), TTL: ttl})})
	_, err := wire.ReadPreamble(c.r)
	require.NoError(h, err)
	require.Equal(h, wire.Welcomed, c.frame().Kind)
	return c
}

func (c *raw) send(prefix []byte, f wire.Frame) {
	c.h.Helper()
	require.NoError(c.h, wire.Send(c, prefix, f))
}

func (c *raw) frame() wire.Frame {
	c.h.Helper()
	f, _, err := wire.Read(c.r, nil)
	require.NoError(c.h, err)
	return f
}

// request sends a request.
func (c *raw) request(number uint64, r space.Request) {
	c.h.Helper()
	body, err := wire.AppendRequest(nil, r)
	require.NoError(c.h, err)
	c.send(nil, wire.Frame{Kind: wire.Request, Call: number, Body: body})
}

// refused requires that the gate answers with one error and closes, and returns
// the error.
func (c *raw) refused(greeted bool) error {
	c.h.Helper()
	if !greeted {
		_, err := wire.ReadPreamble(c.r)
		require.NoError(c.h, err)
	}
	f := c.frame()
	require.Equal(c.h, wire.Failure, f.Kind)
	failure, err := wire.DecodeError(f.Body)
	require.NoError(c.h, err)
	c.closed()
	return failure
}

// closed requires that the gate says nothing more and closes.
func (c *raw) closed() {
	c.h.Helper()
	rest, err := io.ReadAll(c.r)
	require.Empty(c.h, rest)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		require.NoError(c.h, err)
	}
}

// speaks sends bytes, of which the gate may not read all.
func (c *raw) speaks(data string) {
	go func() { _, _ = io.WriteString(c, data) }()
}
