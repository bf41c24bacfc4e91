package client_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/client"
	"leasehold/shared/fault"
)

// The server refuses each call, and keeps its connections open. The client gives up.
func TestACallThatIsRefusedOverEachConnectionFails(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	c, err := client.NewWith(server.URL, client.Options{Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}})
	require.NoError(t, err)
	defer c.Close()
	for range 2 { // the first call is over a new connection
		_, err := c.Peers(t.Context(), true)
		require.ErrorIs(t, err, fault.ErrUnavailable, "an answer without a body is not of a coordinator")
	}
}
