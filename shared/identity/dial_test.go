package identity_test

import (
	"crypto/tls"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

func TestAnAddressWithoutTLSIsNamed(t *testing.T) {
	t.Parallel()
	for answer, without := range map[string]bool{
		"HTTP/1.1 400 Bad Request\r\n\r\n": true,
		"\x15\x03\x01\x00\x02\x02\x28":     true,  // alert: handshake failure
		"\x15\x03\x01\x00\x02\x02\x46":     false, // alert: protocol version
		"":                                 false,
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4<<10))
			_, _ = io.WriteString(c, answer)
			_ = c.Close()
		}()
		_, err = identity.Dial(t.Context(), l.Addr().String(), &tls.Config{ServerName: "x"})
		require.Error(t, err)
		if without {
			require.ErrorIs(t, err, fault.ErrInvalid, answer)
			require.ErrorContains(t, err, "no TLS is spoken there", answer)
		} else {
			require.NotErrorIs(t, err, fault.ErrInvalid, answer)
		}
		<-answered
		require.NoError(t, l.Close())
	}
}
