package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

func TestACertificateHasItsRoleAndItsDates(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, at(0))
	for role, name := range map[string]string{identity.Worker: "worker.leasehold.invalid", identity.Manager: "manager.leasehold.invalid"} {
		key := newKey(t)
		csr, err := identity.Request(key)
		require.NoError(t, err)
		chain, notAfter, err := a.Issue(csr, role, "peer-1", 24*time.Hour)
		require.NoError(t, err)
		require.Equal(t, start.Add(24*time.Hour), notAfter)
		c, err := identity.NewCertificate(chain, key)
		require.NoError(t, err)
		require.Equal(t, start.Add(-time.Hour), c.Leaf.NotBefore)
		require.Equal(t, notAfter, c.Leaf.NotAfter)
		require.Equal(t, role, identity.RoleOf(c.Leaf))
		require.Equal(t, "peer-1", identity.PeerOf(c.Leaf))
		require.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, c.Leaf.ExtKeyUsage)
		require.Equal(t, []string{name}, c.Leaf.DNSNames)
		require.False(t, c.Leaf.IsCA)
		require.Equal(t, a.cas[0].cert.Raw, chain[1])
	}
}

func TestARequestCannotChooseItsCertificate(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, at(0))
	key := newKey(t)
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject:  pkix.Name{OrganizationalUnit: []string{identity.Coordinator}, CommonName: "two"},
		DNSNames: []string{identity.ServerName},
	}, key)
	require.NoError(t, err)
	chain, _, err := a.Issue(csr, identity.Worker, "one", time.Hour)
	require.NoError(t, err)
	c, err := identity.NewCertificate(chain, key)
	require.NoError(t, err)
	require.Equal(t, identity.Worker, identity.RoleOf(c.Leaf))
	require.Equal(t, "one", identity.PeerOf(c.Leaf))
	require.Equal(t, []string{identity.NameOf(identity.Worker)}, c.Leaf.DNSNames)
}

func TestAWrongRequestIsRefused(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, at(0))
	csr, err := identity.Request(newKey(t))
	require.NoError(t, err)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	otherKind, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, p256)
	require.NoError(t, err)
	forged := append([]byte(nil), csr...)
	forged[len(forged)-1] ^= 1
	for name, c := range map[string]struct {
		csr        []byte
		role, peer string
		life       time.Duration
		want       string
	}{
		"nothing":         {nil, identity.Worker, "one", time.Hour, "a certificate signing request"},
		"wrong signature": {forged, identity.Worker, "one", time.Hour, "a certificate signing request"},
		"too long":        {make([]byte, 5000), identity.Worker, "one", time.Hour, "of 5000 bytes, want at most 4096"},
		"another kind":    {otherKind, identity.Worker, "one", time.Hour, "want an Ed25519 key, not *ecdsa.PublicKey"},
		"coordinator":     {csr, identity.Coordinator, "one", time.Hour, `for the role "coordinator", want worker or manager`},
		"no role":         {csr, "", "one", time.Hour, `for the role "", want worker or manager`},
		"no peer":         {csr, identity.Worker, "", time.Hour, `for the peer "", want 1 to 64 characters`},
		"long peer":       {csr, identity.Worker, strings.Repeat("x", 65), time.Hour, "want 1 to 64 characters"},
		"no life":         {csr, identity.Worker, "one", 0, "for 0s, want a positive duration"},
	} {
		_, _, err := a.Issue(c.csr, c.role, c.peer, c.life)
		require.ErrorIs(t, err, fault.ErrInvalid, name)
		require.ErrorContains(t, err, c.want, name)
	}
}

func FuzzIssue(f *testing.F) {
	key, err := identity.LoadOrCreateKey("")
	require.NoError(f, err)
	csr, err := identity.Request(key)
	require.NoError(f, err)
	f.Add(csr)
	f.Add([]byte{})
	f.Add(csr[:40])
	a, err := Create(f.TempDir(), at(0).now)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, csr []byte) {
		chain, _, err := a.Issue(csr, identity.Worker, "one", time.Hour)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrInvalid)
			return
		}
		leaf, err := x509.ParseCertificate(chain[0])
		require.NoError(t, err)
		require.NoError(t, a.verifyPeer(leaf))
	})
}
