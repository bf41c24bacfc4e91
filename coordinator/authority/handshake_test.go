package authority

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

func TestAProcessAndItsCoordinatorRecogniseEachOther(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)

	m := connect(t, server, client(a, c, nil))
	requireMet(t, m)
	require.Equal(t, uint16(tls.VersionTLS13), m.client.Version)
	require.Equal(t, a.cas[0].cert.Raw, m.client.PeerCertificates[1].Raw)
	role, peer, expired, err := a.Peer(m.server, c.now())
	require.NoError(t, err)
	require.Equal(t, "", role+peer)
	require.False(t, expired)

	for _, role := range identity.Roles() {
		requirePeer(t, a, connect(t, server, client(a, c, certified(t, a, role))), role, false)
	}
}

func TestAnotherCoordinatorIsRefusedBeforeTheSecretIsSent(t *testing.T) {
	t.Parallel()
	c := at(0)
	a, other := newAuthority(t, c), newAuthority(t, c)
	m := connect(t, other.ServerConfig(noNames), client(a, c, nil))
	require.ErrorIs(t, m.clientErr, fault.ErrUnauthenticated)
	require.ErrorContains(t, m.clientErr, "the coordinator at this address has another identity (fingerprint "+other.Fingerprint().String()+
		") than the one that was given ("+a.Fingerprint().String()+")")
	require.Error(t, m.serverErr)

	mistyped := a.Fingerprint()
	mistyped[0] ^= 1
	m = connect(t, a.ServerConfig(noNames), identity.ClientConfig(mistyped, noCertificate, c.now))
	require.ErrorContains(t, m.clientErr, "has another identity")
}

// serving returns the configuration of a server that presents a certificate.
func serving(c *tls.Certificate) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*c}}
}

func TestAServerThatIsNotTheCoordinatorIsRefused(t *testing.T) {
	t.Parallel()
	c := at(0)
	a, other := newAuthority(t, c), newAuthority(t, c)
	stolen := certified(t, a, identity.Manager)
	selfMade := certified(t, other, identity.Manager)
	selfMade.Certificate[1] = a.cas[0].cert.Raw
	for name, s := range map[string]struct {
		config *tls.Config
		want   string
	}{
		"a worker":                      {serving(certified(t, a, identity.Worker)), `for the role "worker", want coordinator`},
		"a manager":                     {serving(certified(t, a, identity.Manager)), `for the role "manager", want coordinator`},
		"a self-made CA":                {serving(selfMade), "has not certified the coordinator"},
		"a chain without a CA":          {serving(&tls.Certificate{Certificate: stolen.Certificate[:1], PrivateKey: stolen.PrivateKey}), "presents no CA"},
		"a certificate without its key": {serving(&tls.Certificate{Certificate: ofCoordinator(t, a).Certificate, PrivateKey: newKey(t)}), "invalid signature"},
		"the certificate for people":    {peopleAlways(a), `for the role "", want coordinator`},
		"a coordinator with TLS 1.2":    {&tls.Config{MaxVersion: tls.VersionTLS12, Certificates: serving(stolen).Certificates}, "protocol version"},
	} {
		m := connect(t, s.config, client(a, c, nil))
		require.ErrorContains(t, m.clientErr, s.want, name)
	}
}

// ofCoordinator returns a certificate as a presents it to processes.
func ofCoordinator(t *testing.T, a *Authority) *tls.Certificate {
	fleet := &presented{authority: a, newKey: newFleetKey, base: &tls.Config{}}
	fleet.subject.OrganizationalUnit = []string{identity.Coordinator}
	c, err := fleet.issue(a.accepted(), []string{identity.ServerName}, a.now())
	require.NoError(t, err)
	return c
}

// peopleAlways is the configuration of a port behind a proxy that changes the server name.
func peopleAlways(a *Authority) *tls.Config {
	config := a.ServerConfig(noNames)
	return &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		hello.ServerName = "localhost"
		return config.GetConfigForClient(hello)
	}}
}

// presenting returns the configuration of a client that presents a certificate to every server.
func presenting(a *Authority, c *clock, cert *tls.Certificate) *tls.Config {
	config := client(a, c, nil)
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	return config
}

func TestAClientWithAWrongCertificateIsRefused(t *testing.T) {
	t.Parallel()
	c := at(0)
	a, other := newAuthority(t, c), newAuthority(t, c)
	server := a.ServerConfig(noNames)
	stolen := certified(t, a, identity.Worker)
	coordinator := ofCoordinator(t, a)
	for name, s := range map[string]struct {
		cert *tls.Certificate
		want string
	}{
		"of another coordinator": {certified(t, other, identity.Worker), "is of another coordinator, want one of the CA " + a.Fingerprint().String()},
		"with our CA added":      {&tls.Certificate{Certificate: [][]byte{certified(t, other, identity.Worker).Certificate[0], a.cas[0].cert.Raw}, PrivateKey: newKey(t)}, "is of another coordinator"},
		"stolen without its key": {&tls.Certificate{Certificate: stolen.Certificate, PrivateKey: newKey(t)}, "invalid signature"},
		"of the coordinator":     {coordinator, "is not one for clients"},
	} {
		m := connect(t, server, presenting(a, c, s.cert))
		require.ErrorContains(t, m.serverErr, s.want, name)
		require.Error(t, m.clientErr, name)
	}
}

func TestPeerVerifiesAlsoTheStateOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	c := at(0)
	a, other := newAuthority(t, c), newAuthority(t, c)
	_, _, _, err := a.Peer(tls.ConnectionState{PeerCertificates: certifiedLeaf(t, other)}, c.now())
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
}

func TestACertificateOfAnotherCAIsNotPresented(t *testing.T) {
	t.Parallel()
	c := at(0)
	a, before := newAuthority(t, c), newAuthority(t, c)
	m := connect(t, a.ServerConfig(noNames), client(a, c, certified(t, before, identity.Worker)))
	requireMet(t, m)
	require.Empty(t, m.server.PeerCertificates, "the process joins with its line")
}

func TestClocksMayDifferByAnHour(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{0, 6 * time.Hour, 12*time.Hour - time.Second, 12 * time.Hour, 23 * time.Hour} {
		there := at(0)
		a := newAuthority(t, there)
		server := a.ServerConfig(noNames)
		requireMet(t, connect(t, server, client(a, at(0), nil)))
		there.after(age)
		for _, off := range []time.Duration{-time.Hour, time.Hour} {
			requireMet(t, connect(t, server, client(a, at(age+off), nil)))
		}
		for _, off := range []time.Duration{-26 * time.Hour, 26 * time.Hour} {
			m := connect(t, server, client(a, at(age+off), nil))
			var wrong *identity.ClockError
			require.ErrorAs(t, m.clientErr, &wrong)
			require.Equal(t, start.Add(age+off), wrong.Here)
			require.ErrorContains(t, m.clientErr, "the clock of this machine shows "+start.Add(age+off).Format(time.DateTime))
			require.ErrorContains(t, m.clientErr, "applies from "+wrong.From.Format(time.DateTime))
		}
	}
}

func TestAnExpiredCertificateStillNamesItsPeer(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	cert := certified(t, a, identity.Worker)
	config := client(a, c, cert)
	requirePeer(t, a, connect(t, server, config), identity.Worker, false)
	for _, d := range []time.Duration{25 * time.Hour, 31 * 24 * time.Hour, 3 * 365 * 24 * time.Hour} {
		c.after(d)
		requirePeer(t, a, connect(t, server, config), identity.Worker, true)
	}
	c.at = start.Add(-2 * time.Hour) // the certificate does not apply yet
	config = client(a, c, cert)
	requirePeer(t, a, connect(t, server, config), identity.Worker, true)
	c.at = start
	requirePeer(t, a, connect(t, server, config), identity.Worker, false)
}

func certifiedLeaf(t *testing.T, a *Authority) []*x509.Certificate {
	return []*x509.Certificate{certified(t, a, identity.Worker).Leaf}
}

// firstFlight returns the ClientHello of a process.
func firstFlight(t *testing.T, config *tls.Config) []byte {
	ours, theirs := net.Pipe()
	sent := make(chan []byte, 1)
	go func() {
		b := make([]byte, 1<<14)
		n, _ := theirs.Read(b)
		_ = theirs.Close()
		sent <- b[:n]
	}()
	require.Error(t, tls.Client(ours, config).Handshake())
	return <-sent
}

// serveBytes passes bytes to a server and closes the connection. It returns the error of the handshake.
func serveBytes(server *tls.Config, data []byte) error {
	ours, theirs := net.Pipe()
	go func() {
		_, _ = ours.Write(data)
		_ = ours.Close()
	}()
	defer theirs.Close()
	return tls.Server(theirs, server).Handshake()
}

func TestATruncatedHandshakeIsAnError(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	hello := firstFlight(t, client(a, c, nil))
	for n := range hello {
		err := serveBytes(server, hello[:n])
		require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "after %d bytes: %v", n, err)
	}
	require.Error(t, serveBytes(server, hello))
	requireMet(t, connect(t, server, client(a, c, nil)))
}

func FuzzHandshake(f *testing.F) {
	f.Add([]byte{0x16, 0x03, 0x01})
	f.Add(bytes.Repeat([]byte{0x16}, 600))
	c := at(0)
	a, err := Create(f.TempDir(), c.now)
	require.NoError(f, err)
	server := a.ServerConfig(noNames)
	f.Fuzz(func(t *testing.T, data []byte) { require.Error(t, serveBytes(server, data)) })
}

func TestHandshakesAtOnce(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	var mu sync.Mutex
	calls := 0
	server := a.ServerConfig(func() []string { // other names for each second call
		mu.Lock()
		defer mu.Unlock()
		calls++
		return []string{[]string{"a.example", "b.example"}[calls%2]}
	})
	config := client(a, c, certified(t, a, identity.Worker))
	var group sync.WaitGroup
	results := make([]met, 24)
	for i := range results {
		group.Go(func() {
			if i%2 == 0 {
				results[i] = connect(t, server, config)
			} else {
				results[i] = connect(t, server, browser(a, c, "localhost"))
			}
		})
	}
	group.Wait()
	for _, m := range results {
		requireMet(t, m)
	}
}
