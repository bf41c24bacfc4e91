package authority

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/identity"
)

// BenchmarkHandshake measures a connection of a process with its certificate, both sides on one core: the first, and those
// that resume its session.
//
//	go test ./coordinator/authority -run '^$' -bench Handshake -cpu 1
func BenchmarkHandshake(b *testing.B) {
	c := at(0)
	a, err := Create(filepath.Join(b.TempDir(), "identity"), c.now)
	require.NoError(b, err)
	key, err := identity.LoadOrCreateKey("")
	require.NoError(b, err)
	csr, err := identity.Request(key)
	require.NoError(b, err)
	chain, _, err := a.Issue(csr, identity.Worker, "one", 24*time.Hour)
	require.NoError(b, err)
	certificate, err := identity.NewCertificate(chain, key)
	require.NoError(b, err)
	server := a.ServerConfig(noNames)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, err = exchange(tls.Server(conn, server), 's')
			if err != nil {
				b.Error(err)
			}
		}
	})
	defer serving.Wait()
	defer l.Close()
	for name, resumes := range map[string]bool{"full": false, "resumed": true} {
		b.Run(name, func(b *testing.B) {
			config := client(a, c, certificate)
			if !resumes {
				config.ClientSessionCache = nil
			}
			for i := 0; b.Loop(); i++ {
				conn, err := net.Dial("tcp", l.Addr().String())
				require.NoError(b, err)
				state, err := exchange(tls.Client(conn, config), 'c')
				require.NoError(b, err)
				require.Equal(b, resumes && i > 0, state.DidResume)
			}
		})
	}
}
