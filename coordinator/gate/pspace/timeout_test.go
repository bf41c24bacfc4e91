package pspace_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/coordinator/gate/pspace"
)

// pipes is a listener of connections in memory, so that time is fake.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

// Accept returns the next connection that the test sends, until done.
func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// Between requests a client may be silent for days; a request that has begun must be whole after
// 30 s, because its connection takes memory.
func TestAClientMayBeSilentButNotWithinARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := foreigntest.New(t, 0)
		f.Create("space")
		gate := pspace.New(pspace.Config{Hub: f.Hub, Access: foreign.Access{Write: true}, Log: slog.New(slog.DiscardHandler)})
		l := pipes{make(chan net.Conn), make(chan struct{})}
		foreigntest.Start(t, func(ctx context.Context) error { return gate.Serve(ctx, l) })
		dial := func() net.Conn {
			client, server := net.Pipe()
			l.conns <- server
			return client
		}
		silent := dial()
		for range 2 {
			time.Sleep(24 * time.Hour)
			_, err := io.WriteString(silent, `{"messageType":"PUT_REQUEST","target":"space","clientSession":"0","tuple":[]}`)
			require.NoError(t, err)
			line, err := bufio.NewReader(silent).ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, line, `"status":true`)
		}
		slow, began := dial(), time.Now()
		_, err := io.WriteString(slow, "{")
		require.NoError(t, err)
		_, err = slow.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, 30*time.Second, time.Since(began))
		require.NoError(t, silent.Close())
	})
}
