package mux_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/identity"
)

// recorded keeps a copy of each write of a client.
type recorded struct {
	net.Conn
	writes [][]byte
}

func (r *recorded) Write(b []byte) (int, error) {
	r.writes = append(r.writes, bytes.Clone(b))
	return r.Conn.Write(b)
}

func TestRecordedBytesOfAClientReachNoGate(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		c := &recorded{Conn: p.dial(there)}
		config := identity.ClientConfig(p.authority.Fingerprint(), func() *tls.Certificate { return nil }, time.Now)
		config.SessionTicketsDisabled = true
		require.Equal(p, `native "LSHD" true`, ask(p.T, tls.Client(c, config), "LSHD"))
		require.Equal(p, int64(1), p.reached.Load())
		require.Greater(p, len(c.writes), 2, "the first flight, the end of the handshake, and data")
		for n := 1; n <= len(c.writes); n++ {
			again := p.dial(there)
			go func() { _, _ = io.Copy(io.Discard, again) }()
			for _, b := range c.writes[:n] {
				if _, err := again.Write(b); err != nil {
					break // the port has closed it
				}
			}
			<-time.After(time.Minute)
			_, err := again.Write([]byte("LSHD"))
			require.Error(p, err, "it is closed")
		}
		require.Equal(p, int64(1), p.reached.Load())
	})
}
