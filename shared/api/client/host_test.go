package client

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
)

// The API refuses names with a dot (api.TestFault47ARequestOfATrickedBrowserIsRefused), and a
// coordinator on another machine usually has such a name.
func TestACoordinatorMayHaveANameWithADot(t *testing.T) {
	t.Parallel()
	var hosts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.Host)
		_, _ = w.Write([]byte("{\"done\":{}}\n"))
	}))
	t.Cleanup(server.Close)
	c, err := New("http://coordinator.lan:7412")
	require.NoError(t, err)
	c.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		require.Equal(t, "coordinator.lan:7412", address)
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	_, err = c.Do(t.Context(), Call{Method: http.MethodGet, Path: "status"})
	require.NoError(t, err)
	_, err = c.Search(t.Context(), types.SearchQuery{Query: "x", Limit: 1}, func(types.CodeMatch) bool { return true })
	require.NoError(t, err)
	require.Equal(t, []string{"localhost", "localhost"}, hosts)
	require.NoError(t, c.Close())
	for base, want := range map[string]string{
		"http://127.0.0.1:7412":   "", // that of the URL
		"http://[::1]:7412":       "",
		"http://coordinator:7412": "",
		"https://tasks.example":   "", // a proxy may choose by it
		"http://c.example.:7412":  "localhost",
	} {
		u, err := url.Parse(base)
		require.NoError(t, err)
		require.Equal(t, want, hostOf(u), base)
	}
}
