package authority

import (
	"crypto/ed25519"
	"crypto/tls"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/identity"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// clock is a time that a test sets between handshakes.
type clock struct{ at time.Time }

func (c *clock) now() time.Time        { return c.at }
func (c *clock) after(d time.Duration) { c.at = c.at.Add(d) }
func at(offset time.Duration) *clock   { return &clock{start.Add(offset)} }
func noNames() []string                { return nil }
func noCertificate() *tls.Certificate  { return nil }

func newAuthority(t *testing.T, c *clock) *Authority {
	t.Helper()
	a, err := Create(filepath.Join(t.TempDir(), "identity"), c.now)
	require.NoError(t, err)
	return a
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	key, err := identity.LoadOrCreateKey("")
	require.NoError(t, err)
	return key
}

// issue returns the chain of a certificate for the peer "one".
func issue(t *testing.T, a *Authority, key ed25519.PrivateKey, role string, life time.Duration) [][]byte {
	t.Helper()
	csr, err := identity.Request(key)
	require.NoError(t, err)
	chain, _, err := a.Issue(csr, role, "one", life)
	require.NoError(t, err)
	return chain
}

// certified returns the certificate of a new process.
func certified(t *testing.T, a *Authority, role string) *tls.Certificate {
	t.Helper()
	key := newKey(t)
	c, err := identity.NewCertificate(issue(t, a, key, role, 24*time.Hour), key)
	require.NoError(t, err)
	return c
}

// client returns the configuration of a process with a certificate, or nil.
func client(a *Authority, c *clock, certificate *tls.Certificate) *tls.Config {
	return identity.ClientConfig(a.Fingerprint(), func() *tls.Certificate { return certificate }, c.now)
}

// met is what both sides know after a connection.
type met struct {
	server, client       tls.ConnectionState
	serverErr, clientErr error
}

// connect makes a handshake over loopback, sends a byte in each direction, and returns the result of both sides.
func connect(t *testing.T, server, client *tls.Config) (m met) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := listener.Accept()
		if err != nil {
			m.serverErr = err
			return
		}
		m.server, m.serverErr = exchange(tls.Server(conn, server), 's')
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	m.client, m.clientErr = exchange(tls.Client(conn, client), 'c')
	<-served
	return m
}

// exchange makes the handshake of one side, writes a byte and reads one. The read takes up session tickets.
func exchange(conn *tls.Conn, b byte) (tls.ConnectionState, error) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if err := conn.Handshake(); err != nil {
		return conn.ConnectionState(), err
	}
	if _, err := conn.Write([]byte{b}); err != nil {
		return conn.ConnectionState(), err
	}
	_, err := conn.Read(make([]byte, 1))
	return conn.ConnectionState(), err
}

// requireMet fails unless both sides agreed.
func requireMet(t *testing.T, m met) {
	t.Helper()
	require.NoError(t, m.clientErr)
	require.NoError(t, m.serverErr)
}

// requirePeer fails unless the server has recognised the peer "one" with a role.
func requirePeer(t *testing.T, a *Authority, m met, role string, expired bool) {
	t.Helper()
	requireMet(t, m)
	gotRole, peer, gotExpired, err := a.Peer(m.server, a.now())
	require.NoError(t, err)
	require.Equal(t, role, gotRole)
	require.Equal(t, "one", peer)
	require.Equal(t, expired, gotExpired)
}
