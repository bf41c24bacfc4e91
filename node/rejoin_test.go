package node

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	apicatalog "leasehold/shared/api/catalog"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/identity"
)

// A coordinator that was restored from a backup does not know a process that has joined since. The process may find
// that out by its session, or, if it is just starting, by its first request.
func TestAProcessThatTheAPIDoesNotKnowJoinsAgain(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	invite, err := s.admin.CreateInvite(t.Context(), types.NewInvite{Role: "worker", Addresses: []string{s.at.Gate}})
	require.NoError(t, err)
	line, err := identity.ParseLine(invite.Join)
	require.NoError(t, err)

	dir := t.TempDir()
	key, err := identity.LoadOrCreateKey(dir)
	require.NoError(t, err)
	csr, err := identity.Request(key)
	require.NoError(t, err)
	chain, _, err := s.ca.Issue(csr, "worker", admission.PeerID(key.Public().(ed25519.PublicKey)), 24*time.Hour)
	require.NoError(t, err)
	require.NoError(t, identity.SaveCertificate(dir, chain, invite.ID))

	cfg, err := config.Load(nil)
	require.NoError(t, err)
	r := &remoteNode{cfg: cfg, mode: config.Worker, log: discard, line: &line, dir: dir}
	t.Cleanup(func() { require.NoError(t, r.close()) })
	require.NoError(t, r.join(t.Context()))
	api, err := r.newClient()
	require.NoError(t, err)
	remote := apicatalog.Over(api)
	r.catalog = remote
	r.opened.Push(remote.Close)
	peers, err := s.admin.Peers(t.Context(), true)
	require.NoError(t, err)
	require.Empty(t, peers)
	require.NoError(t, r.trustOrigins(t.Context()))
	peers, err = s.admin.Peers(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, peers, 1)
}
