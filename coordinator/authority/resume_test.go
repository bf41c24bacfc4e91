package authority

import (
	"crypto/tls"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/identity"
)

func TestAResumedSessionKnowsItsPeer(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	config := client(a, c, certified(t, a, identity.Worker))
	for i := range 3 {
		m := connect(t, server, config)
		requirePeer(t, a, m, identity.Worker, false)
		require.Equal(t, i > 0, m.server.DidResume)
		require.Equal(t, i > 0, m.client.DidResume)
	}
	m := connect(t, server.Clone(), config)
	requirePeer(t, a, m, identity.Worker, false)
	require.True(t, m.server.DidResume, "also if the server copies its configuration")

	c.after(13 * time.Hour)
	m = connect(t, server, config)
	requirePeer(t, a, m, identity.Worker, false)
	require.True(t, m.server.DidResume, "after the coordinator has a new certificate")
	c.after(12 * time.Hour)
	m = connect(t, server, config)
	requirePeer(t, a, m, identity.Worker, true)
	require.False(t, m.server.DidResume, "after the end of the certificate")
}

func TestASessionIsResumedOnlyWithItsCertificate(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	var current *tls.Certificate
	config := identity.ClientConfig(a.Fingerprint(), func() *tls.Certificate { return current }, c.now)
	for range 2 {
		m := connect(t, server, config)
		requireMet(t, m)
		require.False(t, m.server.DidResume, "before it has joined")
		require.Empty(t, m.server.PeerCertificates)
	}
	for range 2 { // it joins, then it renews
		current = certified(t, a, identity.Worker)
		m := connect(t, server, config)
		requirePeer(t, a, m, identity.Worker, false)
		require.False(t, m.server.DidResume)
		require.Equal(t, current.Leaf.Raw, m.server.PeerCertificates[0].Raw)
	}
	m := connect(t, server, config)
	requirePeer(t, a, m, identity.Worker, false)
	require.True(t, m.server.DidResume)
}

func TestASessionOfAnotherCoordinatorIsNotResumed(t *testing.T) {
	t.Parallel()
	c := at(0)
	a, other := newAuthority(t, c), newAuthority(t, c)
	config := client(a, c, certified(t, a, identity.Worker))
	requireMet(t, connect(t, a.ServerConfig(noNames), config))
	m := connect(t, other.ServerConfig(noNames), config)
	require.ErrorContains(t, m.clientErr, "has another identity")
	m = connect(t, a.ServerConfig(noNames), config) // after a restart, which loses the keys of the tickets
	requirePeer(t, a, m, identity.Worker, false)
	require.False(t, m.server.DidResume)
}

// TestASessionWithAWrongClockIsForgotten begins a session while the clocks of both sides are a day ahead.
func TestASessionWithAWrongClockIsForgotten(t *testing.T) {
	t.Parallel()
	c := at(24 * time.Hour)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	config := client(a, c, certified(t, a, identity.Worker))
	requireMet(t, connect(t, server, config))
	c.at = start
	m := connect(t, server, config)
	require.ErrorContains(t, m.clientErr, "the clock of this machine shows", "the session has the certificate from a day ahead")
	requirePeer(t, a, connect(t, server, config), identity.Worker, true)
}

func TestAfterARestartOfTheCoordinatorAHandshakeIsWholeAndTheNextIsResumed(t *testing.T) {
	t.Parallel()
	c, dir := at(0), filepath.Join(t.TempDir(), "identity")
	a, err := Create(dir, c.now)
	require.NoError(t, err)
	config := client(a, c, certified(t, a, identity.Worker))
	server := a.ServerConfig(noNames)
	requireMet(t, connect(t, server, config))
	require.True(t, connect(t, server, config).server.DidResume)
	for range 3 {
		again, err := Open(dir, c.now)
		require.NoError(t, err)
		server := again.ServerConfig(noNames)
		for n := range 3 {
			m := connect(t, server, config)
			requirePeer(t, again, m, identity.Worker, false)
			require.Equal(t, n > 0, m.server.DidResume)
		}
	}
}
