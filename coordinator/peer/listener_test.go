package peer_test

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/peer"
)

// clients is a listener of connections that seem to come from other machines.
type clients chan net.Conn

// Accept returns the connections of the channel, and net.ErrClosed when it is closed.
func (c clients) Accept() (net.Conn, error) {
	if accepted, ok := <-c; ok {
		return accepted, nil
	}
	return nil, net.ErrClosed
}
func (c clients) Close() error   { close(c); return nil }
func (c clients) Addr() net.Addr { return &net.TCPAddr{} }

type client struct {
	net.Conn
	address string
	closed  bool
}

func (c *client) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.address)} }
func (c *client) Close() error         { c.closed = true; return nil }

func TestConnectionsPastTheQuotaOfAPeerAreClosed(t *testing.T) {
	t.Parallel()
	dialled := make(clients, 10)
	l := peer.Limit(dialled, peer.NewQuota("connections", 2), nil)
	var greedy []*client
	for range 3 {
		greedy = append(greedy, &client{address: "192.0.2.1"})
		dialled <- greedy[len(greedy)-1]
	}
	dialled <- &client{address: "192.0.2.2"}
	dialled <- &client{address: "127.0.0.1"}
	var accepted []net.Conn
	for range 4 {
		c, err := l.Accept()
		require.NoError(t, err)
		accepted = append(accepted, c)
	}
	require.Equal(t, "192.0.2.2:0", accepted[2].RemoteAddr().String())
	require.True(t, greedy[2].closed)
	require.NoError(t, accepted[0].Close())
	require.NoError(t, accepted[0].Close(), "it counts once")
	for range 2 {
		dialled <- &client{address: "192.0.2.1"}
	}
	dialled <- &client{address: "192.0.2.3"}
	for _, want := range []string{"192.0.2.1:0", "192.0.2.3:0"} {
		c, err := l.Accept()
		require.NoError(t, err)
		require.Equal(t, want, c.RemoteAddr().String())
	}
	require.NoError(t, l.Close())
	_, err := l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestAConnectionOfAPeerHasASendingHalf(t *testing.T) {
	t.Parallel()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := peer.Limit(tcp, peer.NewQuota("connections", 2), nil)
	out, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	in, err := l.Accept()
	require.NoError(t, err)
	half, ok := in.(interface{ CloseWrite() error })
	require.True(t, ok)
	require.NoError(t, half.CloseWrite())
	_, err = out.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	_, err = out.Write([]byte("x"))
	require.NoError(t, err)
	_, err = in.Read(make([]byte, 1))
	require.NoError(t, err, "the other half is open")
	require.NoError(t, errors.Join(in.Close(), out.Close(), l.Close()))
}
