package client_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/client"
	"leasehold/shared/fault"
)

// A command with --ca is sent to a port without TLS: one of ours, which answers with an alert, and one of another server.
func TestAPortWithoutTLSIsNamed(t *testing.T) {
	t.Parallel()
	ours, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ours.Close()) })
	go func() {
		for {
			c, err := ours.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write([]byte{21, 3, 1, 0, 2, 2, 40})
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	for _, address := range []string{ours.Addr().String(), strings.TrimPrefix(other.URL, "http://")} {
		c, err := client.NewWith("https://"+address, client.Options{Token: "lht-a", TLS: &tls.Config{MinVersion: tls.VersionTLS13}})
		require.NoError(t, err)
		err = c.Alive(t.Context())
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, "no TLS is spoken there")
		require.NoError(t, c.Close())
	}
}
