package auth_test

import (
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/auth"
	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

const day = 24 * time.Hour

func TestAProcessJoinsByItsInvite(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	line := h.invite(admission.Invite{Uses: 1})
	require.Equal(t, h.Authority.Fingerprint(), line.CA)
	p := newProcess(t)
	joined, err := h.join(line, p)
	require.NoError(t, err)
	require.Equal(t, p.id, joined.Peer.ID)
	require.Equal(t, access.Worker, joined.Peer.Role)
	require.Equal(t, h.clock.Add(auth.Life), joined.Peer.Ends)
	leaf, err := x509.ParseCertificate(joined.Chain[0])
	require.NoError(t, err)
	require.Equal(t, p.id, identity.PeerOf(leaf))
	require.Equal(t, "worker", identity.RoleOf(leaf))
	_, err = h.join(line, p)
	require.NoError(t, err, "the answer was lost")
	_, err = h.join(line, newProcess(t))
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "was used by 1 processes, the maximum")
}

func TestAJoinThatIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	line := h.invite(admission.Invite{})
	ended := h.invite(admission.Invite{Expires: h.clock.Add(time.Minute)})
	revoked := h.invite(admission.Invite{})
	require.NoError(t, h.Store.RevokeInvite(t.Context(), revoked.ID))
	h.clock = h.clock.Add(time.Minute)
	other := line
	other.Secret = identity.NewSecret()
	unknown := line
	unknown.ID = identity.NewID()
	for what, x := range map[string]struct {
		line identity.Line
		text string
	}{
		"wrong secret": {other, "is not known"}, "wrong id": {unknown, "is not known"}, "revoked": {revoked, "is not known"}, "ended": {ended, "has ended"},
	} {
		_, err := h.join(x.line, newProcess(t))
		require.ErrorIs(t, err, fault.ErrUnauthenticated, what)
		require.ErrorContains(t, err, x.text, what)
		require.NotContains(t, err.Error(), x.line.Secret.Reveal(), what)
	}
	require.Empty(t, h.Store.Peers(true))
	require.NotContains(t, h.log.String(), line.Secret.Reveal())
	for what, csr := range map[string][]byte{"none": nil, "damaged": newProcess(t).csr[:40]} {
		_, err := h.Join(t.Context(), "10.1.2.3:4000", line.ID, line.Secret.Reveal(), csr, "")
		require.ErrorIs(t, err, fault.ErrInvalid, what)
	}
}

func TestARevokedProcessNeitherJoinsNorRenews(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	line := h.invite(admission.Invite{})
	p := newProcess(t)
	joined, err := h.join(line, p)
	require.NoError(t, err)
	conn := h.connect(p.certificate(t, joined.Chain))
	_, err = h.RevokePeer(t.Context(), p.id, false)
	require.NoError(t, err)
	_, err = h.join(line, p)
	require.ErrorIs(t, err, fault.ErrForbidden)
	require.ErrorContains(t, err, "revoked")
	_, err = h.Renew(h.request(conn, "/"), p.csr)
	require.ErrorIs(t, err, fault.ErrForbidden)
	_, err = h.join(line, newProcess(t))
	require.NoError(t, err, "another key")
}

func TestARevokedProcessIsToldSoAlsoIfItsInviteWasRevoked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	line := h.invite(admission.Invite{})
	p := newProcess(t)
	_, err := h.join(line, p)
	require.NoError(t, err)
	_, err = h.RevokePeer(t.Context(), p.id, true)
	require.NoError(t, err)
	_, err = h.join(line, p)
	require.ErrorIs(t, err, fault.ErrForbidden)
	_, err = h.join(line, newProcess(t))
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
}

func TestAProcessRenewsItsCertificateForThirtyDaysAfterItsEnd(t *testing.T) {
	t.Parallel()
	for what, x := range map[string]struct {
		after time.Duration // the end
		kind  error
	}{
		"before the end": {-8 * time.Hour, nil}, "an hour": {time.Hour, nil}, "29 days": {29 * day, nil},
		"31 days": {31 * day, fault.ErrUnauthenticated}, "3 years": {3 * 365 * day, fault.ErrUnauthenticated},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			p, certificate := h.worker()
			h.clock = h.clock.Add(auth.Life + x.after)
			renewed, err := h.Renew(h.request(h.connect(certificate), "/"), p.csr)
			if x.kind != nil {
				require.ErrorIs(t, err, x.kind)
				require.ErrorContains(t, err, "join again")
				return
			}
			require.NoError(t, err)
			require.Equal(t, h.clock.Add(auth.Life), renewed.Peer.Ends)
			i, err := h.OfConn(h.connect(p.certificate(t, renewed.Chain)))
			require.NoError(t, err)
			require.Equal(t, p.id, i.ID)
		})
	}
}

func TestARenewalIsForTheKeyOfTheConnection(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	p, certificate := h.worker()
	conn := h.connect(certificate)
	_, err := h.Renew(h.request(conn, "/"), newProcess(t).csr)
	require.ErrorIs(t, err, fault.ErrForbidden)
	other, foreign := newFixture(t).worker()
	for what, x := range map[string]struct {
		conn net.Conn
		csr  []byte
	}{
		"no certificate": {h.connect(nil), p.csr}, "no TLS": {nil, p.csr}, "of another coordinator": {h.connect(foreign), other.csr},
	} {
		_, err := h.Renew(h.request(x.conn, "/"), x.csr)
		require.ErrorIs(t, err, fault.ErrUnauthenticated, what)
	}
	_, err = h.Renew(h.request(conn, "/"), []byte("no request"))
	require.ErrorIs(t, err, fault.ErrInvalid)
}

// TestAJoinOrARenewalThatIsRepeatedByAnotherIsOfNoUse repeats the requests of a process as a program would that has
// recorded them. The answers are for the key of the process.
func TestAJoinOrARenewalThatIsRepeatedByAnotherIsOfNoUse(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	line := h.invite(admission.Invite{Uses: 2})
	p := newProcess(t)
	joined, err := h.join(line, p)
	require.NoError(t, err)
	for range 3 {
		again, err := h.join(line, p)
		require.NoError(t, err)
		require.Equal(t, joined.Peer.ID, again.Peer.ID)
		leaf, err := x509.ParseCertificate(again.Chain[0])
		require.NoError(t, err)
		require.Equal(t, p.key.Public(), leaf.PublicKey)
	}
	require.Len(t, h.Store.Peers(true), 1)
	invites, err := h.Store.Invites(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, invites[0].Used)

	_, thief := h.worker()
	_, err = h.Renew(h.request(h.connect(thief), "/"), p.csr)
	require.ErrorIs(t, err, fault.ErrForbidden)
	_, err = h.RevokePeer(t.Context(), p.id, false)
	require.NoError(t, err)
	_, err = h.join(line, p)
	require.ErrorIs(t, err, fault.ErrForbidden, "the key was revoked meanwhile")
	require.NotContains(t, h.log.String(), line.Secret.Reveal())
}
