package api_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
)

// pipes is a listener whose connections have no buffer.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A client that does not read is closed on every path, health and metrics included.
func TestFault37AClientThatDoesNotReadItsAnswerIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ln := pipes{make(chan net.Conn), make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- api.Serve(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
		}()
		client, far := net.Pipe()
		ln.conns <- far
		_, err := io.WriteString(client, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		<-time.After(time.Minute)
		_ = client.SetWriteDeadline(time.Now().Add(time.Second)) // a closed pipe has none
		_, err = client.Write([]byte("x"))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		stop()
		require.NoError(t, <-served)
	})
}
