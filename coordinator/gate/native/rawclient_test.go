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

// rawClient is a client that sends any frames and bytes, also invalid ones.
type rawClient struct {
	fx *fixture
	net.Conn
	r       *bufio.Reader
	session string
}

// rawClient returns a connection over which a test sends any bytes.
func (fx *fixture) rawClient() *rawClient {
	fx.Helper()
	c, err := fx.port.dial(fx.Context(), "")
	require.NoError(fx, err)
	fx.Cleanup(func() { _ = c.Close() })
	return &rawClient{fx: fx, Conn: c, r: bufio.NewReader(c)}
}

// hello returns a raw client that the gate has admitted.
func (fx *fixture) hello(session string, ttl time.Duration) *rawClient {
	fx.Helper()
	c := fx.rawClient()
	c.session = session
	c.send(wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, wire.Hello{Session: session, Key: []byte("k"), TTL: ttl})})
	_, err := wire.ReadPreamble(c.r)
	require.NoError(fx, err)
	require.Equal(fx, wire.Welcomed, c.frame().Kind)
	return c
}

func (c *rawClient) send(prefix []byte, f wire.Frame) {
	c.fx.Helper()
	require.NoError(c.fx, wire.Send(c, prefix, f))
}

// frame reads one frame, which must be well-formed.
func (c *rawClient) frame() wire.Frame {
	c.fx.Helper()
	f, _, err := wire.Read(c.r, nil)
	require.NoError(c.fx, err)
	return f
}

// request sends a request.
func (c *rawClient) request(number uint64, r space.Request) {
	c.fx.Helper()
	body, err := wire.AppendRequest(nil, r)
	require.NoError(c.fx, err)
	c.send(nil, wire.Frame{Kind: wire.Request, Call: number, Body: body})
}

// refused requires that the gate answers with one error and closes, and returns
// the error.
func (c *rawClient) refused(greeted bool) error {
	c.fx.Helper()
	if !greeted {
		_, err := wire.ReadPreamble(c.r)
		require.NoError(c.fx, err)
	}
	f := c.frame()
	require.Equal(c.fx, wire.Failure, f.Kind)
	failure, err := wire.DecodeError(f.Body)
	require.NoError(c.fx, err)
	c.closed()
	return failure
}

// closed requires that the gate sends nothing more and closes.
func (c *rawClient) closed() {
	c.fx.Helper()
	rest, err := io.ReadAll(c.r)
	require.Empty(c.fx, rest)
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		require.NoError(c.fx, err)
	}
}

// sendBytes sends bytes in a goroutine, because the gate may not read all of them.
func (c *rawClient) sendBytes(data string) {
	go func() { _, _ = io.WriteString(c, data) }()
}
