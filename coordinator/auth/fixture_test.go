package auth_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/auth"
	"leasehold/coordinator/authority"
	"leasehold/shared/access"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/store"
	"leasehold/shared/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture authenticates clients, with a clock that the test sets.
type fixture struct {
	*testing.T
	*auth.Auth
	clock time.Time
	log   *bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{T: t, clock: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC), log: &bytes.Buffer{}}
	file, err := sqlfile.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), store.Format(admission.Schema()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	store, err := admission.New(t.Context(), file, h.now)
	require.NoError(t, err)
	h.Auth = auth.New(auth.Config{Authority: h.newAuthority(), Store: store, Now: h.now, Log: slog.New(slog.NewTextHandler(h.log, nil))})
	return h
}

func (h *fixture) now() time.Time { return h.clock }

func (h *fixture) newAuthority() *authority.Authority {
	h.Helper()
	a, err := authority.Create(filepath.Join(h.TempDir(), "identity"), h.now)
	require.NoError(h, err)
	return a
}

// process is a process that joins.
type process struct {
	key ed25519.PrivateKey
	csr []byte
	id  string // of its peer
}

func newProcess(t *testing.T) process {
	t.Helper()
	key, err := identity.LoadOrCreateKey("")
	require.NoError(t, err)
	csr, err := identity.Request(key)
	require.NoError(t, err)
	return process{key, csr, admission.PeerID(key.Public().(ed25519.PublicKey))}
}

// certificate returns the certificate that a process got.
func (p process) certificate(t *testing.T, chain [][]byte) *tls.Certificate {
	t.Helper()
	c, err := identity.NewCertificate(chain, p.key)
	require.NoError(t, err)
	return c
}

// invite makes an invite for workers.
func (h *fixture) invite(i admission.Invite) identity.Line {
	h.Helper()
	i.Role = access.Worker
	_, line, err := h.Invite(h.Context(), i, nil)
	require.NoError(h, err)
	return line
}

func (h *fixture) join(line identity.Line, p process) (auth.Certified, error) {
	return h.Join(h.Context(), "10.1.2.3:4000", line.ID, line.Secret.Reveal(), p.csr, "box")
}

// worker returns a worker that has joined, with its certificate.
func (h *fixture) worker() (process, *tls.Certificate) {
	h.Helper()
	p := newProcess(h.T)
	joined, err := h.join(h.invite(admission.Invite{}), p)
	require.NoError(h, err)
	return p, p.certificate(h.T, joined.Chain)
}

// connect makes a handshake in which the client presents a certificate (nil: none), and returns the server's side. The
// server does not verify the certificate itself.
func (h *fixture) connect(certificate *tls.Certificate) net.Conn {
	h.Helper()
	server := h.Authority.ServerConfig(func() []string { return nil })
	inner, err := server.GetConfigForClient(&tls.ClientHelloInfo{ServerName: identity.ServerName})
	require.NoError(h, err)
	inner = inner.Clone()
	inner.VerifyConnection = nil
	client := &tls.Config{InsecureSkipVerify: true, ServerName: identity.ServerName, Time: h.now, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if certificate == nil {
			return &tls.Certificate{}, nil
		}
		return certificate, nil
	}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(h, err)
	defer listener.Close()
	dialled := make(chan error, 1)
	go func() {
		c, err := tls.Dial("tcp", listener.Addr().String(), client)
		if err == nil {
			h.Cleanup(func() { _ = c.Close() })
		}
		dialled <- err
	}()
	c, err := listener.Accept()
	require.NoError(h, err)
	h.Cleanup(func() { _ = c.Close() })
	secured := tls.Server(c, inner)
	require.NoError(h, secured.Handshake())
	require.NoError(h, <-dialled)
	return secured
}

// request returns a request on a connection; nil: one of this machine without TLS.
func (h *fixture) request(c net.Conn, target string) *http.Request {
	r := httptest.NewRequest("GET", target, nil)
	r.RemoteAddr = "127.0.0.1:4000"
	if c == nil {
		return r
	}
	return r.WithContext(h.ConnContext(r.Context(), c))
}

// token makes a token.
func (h *fixture) token(t admission.Token) (admission.Token, string) {
	h.Helper()
	made, secret, err := h.Store.CreateToken(h.Context(), t)
	require.NoError(h, err)
	return made, secret
}
