package identity_test

import (
	"crypto/tls"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/identity"
)

func TestAServerWithoutTLSIsRecognised(t *testing.T) {
	t.Parallel()
	for answer, without := range map[string]bool{
		"HTTP/1.1 400 Bad Request\r\n\r\n": true,
		"\x15\x03\x01\x00\x02\x02\x28":     true,  // alert: handshake failure
		"\x15\x03\x01\x00\x02\x02\x46":     false, // alert: protocol version
		"":                                 false,
	} {
		here, there := net.Pipe()
		go func() {
			_, _ = there.Read(make([]byte, 4<<10))
			_, _ = io.WriteString(there, answer)
			_ = there.Close()
		}()
		err := tls.Client(here, &tls.Config{ServerName: "x"}).HandshakeContext(t.Context())
		require.Error(t, err)
		require.Equal(t, without, identity.IsWithoutTLS(err), "%q: %v", answer, err)
		require.NoError(t, here.Close())
	}
}
