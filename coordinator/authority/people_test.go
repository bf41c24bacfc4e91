package authority

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/identity"
)

// browser returns the configuration of a client that trusts the CA and verifies names.
func browser(a *Authority, c *clock, name string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.CertificatePEM())
	return &tls.Config{RootCAs: roots, ServerName: name, Time: c.now, NextProtos: []string{"h2", "http/1.1"}}
}

func TestPeopleSeeACertificateForTheNamesOfTheMachine(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(func() []string {
		return []string{"leasehold.example", "*", "10.1.2.3", "fe80::7%eth0", "not a name", "leasehold.example"}
	})
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "leasehold.example", "10.1.2.3", "fe80::7"} {
		m := connect(t, server, browser(a, c, name))
		require.NoError(t, m.clientErr, name)
		require.NoError(t, m.serverErr, name)
		require.Equal(t, "h2", m.client.NegotiatedProtocol)
		for _, cert := range m.client.PeerCertificates {
			require.IsType(t, &ecdsa.PublicKey{}, cert.PublicKey, "browsers refuse Ed25519")
		}
		require.Empty(t, identity.RoleOf(m.client.PeerCertificates[0]))
	}
	m := connect(t, server, browser(a, c, "elsewhere.example"))
	require.ErrorContains(t, m.clientErr, "not elsewhere.example")
}

func TestPeopleAreNotAskedForACertificate(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	config := browser(a, c, "localhost")
	asked := 0
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked++
		return certified(t, a, identity.Worker), nil
	}
	requireMet(t, connect(t, server, config))
	require.Zero(t, asked)
	config.ServerName = identity.ServerName
	requirePeer(t, a, connect(t, server, config), identity.Worker, false)
	require.Equal(t, 1, asked)

	config.ServerName, config.MaxVersion = "localhost", tls.VersionTLS12
	require.ErrorContains(t, connect(t, server, config).clientErr, "protocol version")
}

func TestTheCertificateForPeopleIsIssuedAgain(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	names := []string{"a.example"}
	server := a.ServerConfig(func() []string { return names })
	leaf := func(name string) string {
		config := browser(a, c, name)
		m := connect(t, server, config)
		requireMet(t, m)
		return string(m.client.PeerCertificates[0].Raw)
	}
	first := leaf("a.example")
	c.after(11 * time.Hour)
	require.Equal(t, first, leaf("a.example"))
	c.after(2 * time.Hour)
	second := leaf("a.example")
	require.NotEqual(t, first, second, "after half of its life")
	names = []string{"b.example", "a.example"}
	third := leaf("b.example")
	require.NotEqual(t, second, third, "after a change of the names")
	names = []string{"a.example", "b.example"}
	require.Equal(t, third, leaf("a.example"), "in any order")
	c.at = start
	require.NotEqual(t, third, leaf("a.example"), "after the clock was set back")
}

func TestTheNamesOfThisMachineAreValid(t *testing.T) {
	t.Parallel()
	names := MachineNames()
	for _, name := range names {
		if ip := net.ParseIP(name); ip == nil {
			require.Regexp(t, nameForm, name)
		}
	}
	require.Subset(t, withLocalhost(names), []string{"localhost", "127.0.0.1", "::1"})
}

func TestAServerOfHTTPUsesTheConfiguration(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, &clock{time.Now()})
	config := a.ServerConfig(noNames)
	server := &http.Server{TLSConfig: config, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		role, peer, _, err := a.Peer(*r.TLS, a.now())
		if err == nil {
			_, err = w.Write([]byte(r.Proto + role + peer))
		}
		if err != nil {
			t.Error(err)
		}
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(tls.NewListener(listener, config)) }()
	defer func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	}()
	for want, config := range map[string]*tls.Config{
		"HTTP/2.0":           browser(a, &clock{time.Now()}, "localhost"),
		"HTTP/1.1managerone": client(a, &clock{time.Now()}, certified(t, a, identity.Manager)),
	} {
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		response, err := (&http.Client{Transport: transport}).Get("https://" + listener.Addr().String())
		require.NoError(t, err)
		body := make([]byte, 100)
		n, _ := response.Body.Read(body)
		require.Equal(t, want, string(body[:n]))
		require.NoError(t, response.Body.Close())
		transport.CloseIdleConnections()
	}
}
