package mux_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/mux"
)

// firstBytes are beginnings of connections.
var firstBytes = []string{"", "LSHD", "LSHX", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n", " \t{\"a\"}", "\x28\x7f\x03", "\xff\x80\xff", "\x16\x03\x01\x02\x00\x01", "\x16\x03", "\x15\x03\x03\x00\x02\x02\x28", "\x00\x00\x00\x00\x00\x00\x00\x00", "        ", "SSH-2.0-x\r\n"}

// However a connection's bytes are split into reads, its protocol is the same.
func FuzzRecognise(f *testing.F) {
	for _, head := range firstBytes {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		recognised := mux.Unknown
		for n := range len(head) + 1 {
			p := mux.Recognise(head[:n])
			if recognised != mux.Unknown {
				require.Equal(t, recognised, p, "%q", head[:n])
			}
			require.False(t, p == mux.Unknown && n >= 8, "%q is enough", head[:n])
			recognised = p
		}
	})
}

// Any first bytes of a client, outside of TLS or inside, end its connection, and the next client is served. Nothing that
// is not a request of an authenticated protocol reaches a gate without TLS.
func FuzzFirstBytes(f *testing.F) {
	for _, head := range firstBytes {
		f.Add([]byte(head), false, false)
		f.Add([]byte(head), true, false)
		f.Add([]byte(head), false, true)
	}
	f.Fuzz(func(t *testing.T, head []byte, local, secured bool) {
		withSecurePort(t, 0, func(p *securePort) {
			from := there
			if local {
				from = here
			}
			c := net.Conn(nil)
			if secured {
				c = p.dialTLS(from)
			} else {
				c = p.dial(from)
			}
			answer := make(chan []byte)
			go func() {
				text, _ := io.ReadAll(c) // the connection may be reset
				answer <- text
			}()
			_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
			_, _ = c.Write(head) // likewise
			_ = c.SetReadDeadline(time.Now().Add(3 * time.Hour))
			text := string(<-answer)
			if !local && !secured {
				for _, gate := range []string{"native ", "JSON ", "gob ", "HTTP/1 false", "HTTP/2 false"} {
					require.NotContains(p, text, gate)
				}
			}
			_ = c.Close() // TLS cannot tell the other side, which has closed it
			require.Equal(p, `JSON "{" true`, ask(p.T, p.dialTLS(there), "{"))
		})
	})
}
