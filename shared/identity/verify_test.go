package identity_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// testCA is a CA without a folder.
type testCA struct {
	key  ed25519.PrivateKey
	cert *x509.Certificate
}

func newTestCA(t *testing.T) testCA {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	c := testCA{key: key}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "CA"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	c.cert = c.sign(t, template, template, key)
	return c
}

func (c testCA) sign(t *testing.T, template, parent *x509.Certificate, key ed25519.PrivateKey) *x509.Certificate {
	template.SerialNumber = big.NewInt(1)
	template.NotBefore, template.NotAfter = start.Add(-time.Hour), start.Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), c.key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return cert
}

// issue returns a certificate for a role, and its key.
func (c testCA) issue(t *testing.T, role string, usage ...x509.ExtKeyUsage) (*x509.Certificate, ed25519.PrivateKey) {
	key, err := identity.LoadOrCreateKey("")
	require.NoError(t, err)
	template := &x509.Certificate{Subject: pkix.Name{OrganizationalUnit: []string{role}, CommonName: "one"}, ExtKeyUsage: usage}
	return c.sign(t, template, c.cert, key), key
}

func TestAServerIsVerified(t *testing.T) {
	t.Parallel()
	ours, other := newTestCA(t), newTestCA(t)
	good, _ := ours.issue(t, identity.Coordinator, x509.ExtKeyUsageServerAuth)
	foreign, _ := other.issue(t, identity.Coordinator, x509.ExtKeyUsageServerAuth)
	worker, _ := ours.issue(t, identity.Worker, x509.ExtKeyUsageClientAuth)
	manager, _ := ours.issue(t, identity.Manager, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth)
	client, _ := ours.issue(t, identity.Coordinator, x509.ExtKeyUsageClientAuth)
	people, _ := ours.issue(t, "", x509.ExtKeyUsageServerAuth)
	anotherCA := &x509.Certificate{Subject: pkix.Name{OrganizationalUnit: []string{identity.Coordinator}}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IsCA: true, BasicConstraintsValid: true}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	leafCA := ours.sign(t, anotherCA, ours.cert, key)

	for name, c := range map[string]struct {
		chain []*x509.Certificate
		want  string // of the error; empty: none
	}{
		"ours":                               {chain: []*x509.Certificate{good, ours.cert}},
		"ours, after another CA":             {chain: []*x509.Certificate{good, other.cert, ours.cert}},
		"no certificate":                     {nil, "presents no CA"},
		"no CA":                              {[]*x509.Certificate{good}, "presents no CA"},
		"the CA alone":                       {[]*x509.Certificate{ours.cert}, "presents no CA"},
		"another CA":                         {[]*x509.Certificate{foreign, other.cert}, "the coordinator at this address has another identity (fingerprint " + identity.FingerprintOf(other.cert).String() + ") than the one that was given (" + identity.FingerprintOf(ours.cert).String() + ")"},
		"another CA that shows our CA":       {[]*x509.Certificate{foreign, ours.cert}, "has not certified the coordinator at this address"},
		"a certificate in place of the CA":   {[]*x509.Certificate{good, good}, "another identity"},
		"the CA in place of a certificate":   {[]*x509.Certificate{ours.cert, ours.cert}, `for the role "", want coordinator`},
		"a worker":                           {[]*x509.Certificate{worker, ours.cert}, `for the role "worker", want coordinator`},
		"a manager":                          {[]*x509.Certificate{manager, ours.cert}, `for the role "manager", want coordinator`},
		"the certificate for people":         {[]*x509.Certificate{people, ours.cert}, `for the role "", want coordinator`},
		"a client":                           {[]*x509.Certificate{client, ours.cert}, "is not one for its side of a connection"},
		"another CA that ours has certified": {[]*x509.Certificate{leafCA, ours.cert}, "want coordinator"},
	} {
		err := identity.VerifyServer(c.chain, identity.CAs{identity.FingerprintOf(ours.cert)}, identity.Coordinator, start)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, fault.ErrUnauthenticated, name)
		require.ErrorContains(t, err, c.want, name)
	}
	require.NoError(t, identity.VerifyServer([]*x509.Certificate{manager, ours.cert}, identity.CAs{identity.FingerprintOf(ours.cert)}, identity.Manager, start))
}

func TestWhileACAChangesACertificateOfEitherProvesTheSameKey(t *testing.T) {
	t.Parallel()
	former, current, other := newTestCA(t), newTestCA(t), newTestCA(t)
	leaf, key := current.issue(t, identity.Coordinator, x509.ExtKeyUsageServerAuth)
	template := func() *x509.Certificate {
		return &x509.Certificate{Subject: pkix.Name{OrganizationalUnit: []string{identity.Coordinator}}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	}
	twin := former.sign(t, template(), former.cert, key)
	foreign, _ := former.issue(t, identity.Coordinator, x509.ExtKeyUsageServerAuth) // for another key
	chain := []*x509.Certificate{leaf, current.cert, twin, former.cert}
	of := func(c testCA) identity.Fingerprint { return identity.FingerprintOf(c.cert) }
	for _, trusted := range []identity.CAs{{of(former)}, {of(current)}, {of(other), of(former)}} {
		require.NoError(t, identity.VerifyServer(chain, trusted, identity.Coordinator, start), trusted)
	}
	require.ErrorContains(t, identity.VerifyServer(chain, identity.CAs{of(other)}, identity.Coordinator, start), "has another identity (fingerprint "+of(current).String()+")")
	require.ErrorContains(t, identity.VerifyServer([]*x509.Certificate{leaf, current.cert, foreign, former.cert}, identity.CAs{of(former)}, identity.Coordinator, start), "has not certified the coordinator")
	padded := append([]*x509.Certificate{leaf, current.cert, other.cert, other.cert, other.cert, other.cert, other.cert, other.cert}, twin, former.cert)
	require.ErrorIs(t, identity.VerifyServer(padded, identity.CAs{of(former)}, identity.Coordinator, start), fault.ErrUnauthenticated, "only the beginning of a long chain counts")
}

func TestAProcessTrustsTheFormerCAUntilItsCertificateEnds(t *testing.T) {
	t.Parallel()
	former, current := newTestCA(t), newTestCA(t)
	leaf, key := current.issue(t, identity.Worker, x509.ExtKeyUsageClientAuth)
	twin := former.sign(t, &x509.Certificate{Subject: pkix.Name{OrganizationalUnit: []string{identity.Worker}}}, former.cert, key)
	both := identity.CAs{identity.FingerprintOf(current.cert), identity.FingerprintOf(former.cert)}
	c, err := identity.NewCertificate([][]byte{leaf.Raw, current.cert.Raw, twin.Raw, former.cert.Raw}, key)
	require.NoError(t, err)
	require.Equal(t, both, identity.IssuersOf(c, start))
	require.Equal(t, both[:1], identity.IssuersOf(c, twin.NotAfter), "the CA of today counts longer, because a certificate is renewed after its end")
	require.Empty(t, identity.IssuersOf(nil, start))
	require.True(t, both[:1].Meet(both))
	require.False(t, both[:1].Meet(both[1:]))
	require.False(t, both.Meet(nil))
}

func TestAClockThatIsOffIsNamed(t *testing.T) {
	t.Parallel()
	ours := newTestCA(t)
	good, _ := ours.issue(t, identity.Coordinator, x509.ExtKeyUsageServerAuth)
	verify := func(now time.Time) error {
		return identity.VerifyServer([]*x509.Certificate{good, ours.cert}, identity.CAs{identity.FingerprintOf(ours.cert)}, identity.Coordinator, now)
	}
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour, 24 * time.Hour} {
		require.NoError(t, verify(start.Add(off)), off)
	}
	for off, here := range map[time.Duration]string{
		-26 * time.Hour:            "2026-11-28 10:00:00 UTC",
		-time.Hour - time.Second:   "2026-11-29 10:59:59 UTC",
		24*time.Hour + time.Second: "2026-11-30 12:00:01 UTC",
		26 * time.Hour:             "2026-11-30 14:00:00 UTC",
		3 * 365 * 24 * time.Hour:   "2029-11-28 12:00:00 UTC",
	} {
		err := verify(start.Add(off))
		var clock *identity.ClockError
		require.ErrorAs(t, err, &clock, off)
		require.ErrorIs(t, err, fault.ErrUnauthenticated)
		require.ErrorContains(t, err, "the clock of this machine shows "+here)
		require.ErrorContains(t, err, "applies from 2026-11-29 11:00:00 UTC until 2026-11-30 12:00:00 UTC")
	}
}

func TestARenewalComesBeforeTwoThirds(t *testing.T) {
	t.Parallel()
	cert := &x509.Certificate{NotBefore: start, NotAfter: start.Add(30 * time.Hour)}
	for random, want := range map[float64]time.Duration{0: 20 * time.Hour, 0.5: 19 * time.Hour, 0.999999999999: 18 * time.Hour} {
		at := identity.Renewal(cert, func() float64 { return random })
		require.WithinDuration(t, start.Add(want), at, time.Second)
	}
}

func TestAFingerprintIsReadAsItWasPrinted(t *testing.T) {
	t.Parallel()
	f := identity.FingerprintOf(newTestCA(t).cert)
	again, err := identity.ParseFingerprint(f.String())
	require.NoError(t, err)
	require.Equal(t, f, again)
	_, err = identity.ParseFingerprint(f.String()[1:])
	require.ErrorContains(t, err, "the fingerprint of the CA has 31 characters, want 32")
}
