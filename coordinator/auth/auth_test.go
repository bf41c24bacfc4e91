package auth_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/auth"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

func TestAProcessIsKnownByTheCertificateOfItsConnection(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	worker, certificate := h.worker()
	revoked, revokedCertificate := h.worker()
	_, err := h.RevokePeer(t.Context(), revoked.id, false)
	require.NoError(t, err)
	foreign := newFixture(t)
	_, foreignCertificate := foreign.worker()
	forgotten := newProcess(t)
	chain, _, err := h.Authority.Issue(forgotten.csr, "worker", forgotten.id, time.Hour) // as before a backup was restored
	require.NoError(t, err)
	for what, x := range map[string]struct {
		certificate *tls.Certificate
		kind        error
		text        string
	}{
		"of a worker": {certificate, nil, ""}, "revoked": {revokedCertificate, fault.ErrForbidden, "revoked"},
		"of another coordinator": {foreignCertificate, fault.ErrUnauthenticated, "another coordinator"},
		"not known":              {forgotten.certificate(t, chain), fault.ErrUnauthenticated, "join again"},
	} {
		conn := h.connect(x.certificate)
		ofConn, err := h.OfConn(conn)
		ofRequest, requestErr := h.OfRequest(h.request(conn, "/"))
		if x.kind == nil {
			require.NoError(t, err, what)
			require.NoError(t, requestErr, what)
			require.Equal(t, access.Identity{ID: worker.id, Name: "box", Roles: access.Worker}, ofConn, what)
			require.Equal(t, ofConn, ofRequest, what)
			continue
		}
		for _, err := range []error{err, requestErr} {
			require.ErrorIs(t, err, x.kind, what)
			require.ErrorContains(t, err, x.text, what)
		}
		require.Empty(t, ofConn.ID, what)
		require.Empty(t, ofRequest.ID, what)
	}
}

func TestAClientWithoutACertificateHasNoIdentity(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	conn := h.connect(nil)
	_, err := h.OfConn(conn)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "--join")
	i, err := h.OfRequest(h.request(conn, "/"))
	require.NoError(t, err)
	require.Equal(t, access.Identity{}, i)
}

func TestACertificateThatHasEndedProvesNothingAlsoOnAConnectionFromBefore(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, certificate := h.worker()
	before := h.connect(certificate)
	r := h.request(before, "/")
	h.clock = h.clock.Add(auth.Life + time.Second)
	for _, r := range []*http.Request{r, h.request(h.connect(certificate), "/")} {
		_, err := h.OfRequest(r)
		require.ErrorIs(t, err, fault.ErrUnauthenticated)
		require.ErrorContains(t, err, "from 2030-01-01T11:00:00Z until 2030-01-02T12:00:00Z, and the coordinator's clock shows 2030-01-02T12:00:01Z")
	}
	_, err := h.OfConn(h.connect(certificate))
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
}

func TestAConnectionIsForReplacementBeforeItsCertificateEnds(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, certificate := h.worker()
	r := h.request(h.connect(certificate), "/")
	h.clock = h.clock.Add(auth.Life * 2 / 3) // the latest time at which the process renews it
	require.False(t, h.EndsSoon(r))
	h.clock = h.clock.Add(auth.Life / 6)
	require.True(t, h.EndsSoon(r))
	_, err := h.OfRequest(r)
	require.NoError(t, err)
	require.False(t, h.EndsSoon(h.request(h.connect(nil), "/")))
}

func TestAProcessThatCallsIsSeen(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, certificate := h.worker()
	conn := h.connect(certificate)
	h.clock = h.clock.Add(2 * time.Hour)
	require.Empty(t, h.Store.Peers(false))
	_, err := h.OfRequest(h.request(conn, "/"))
	require.NoError(t, err)
	require.Len(t, h.Store.Peers(false), 1)
}

// bearing returns a request with a header Authorization.
func (h *fixture) bearing(header string) *http.Request {
	r := h.request(nil, "/")
	r.Header.Set("Authorization", header)
	return r
}

func TestARequestHasTheIdentityOfItsToken(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	good, secret := h.token(admission.Token{Name: "ci", Roles: access.Producer, Spaces: []string{"chess"}, Expires: h.clock.Add(time.Hour)})
	_, revoked := h.token(admission.Token{Name: "old", Roles: access.Reader})
	_, err := h.RevokeToken(t.Context(), "old")
	require.NoError(t, err)
	want := access.Identity{ID: good.ID, Name: "ci", Roles: access.Producer, Spaces: []string{"chess"}}
	for _, header := range []string{"Bearer " + secret, "bearer " + secret, "BEARER  " + secret + " "} {
		i, err := h.OfRequest(h.bearing(header))
		require.NoError(t, err, strings.Fields(header)[0])
		require.Equal(t, want, i)
	}
	for what, header := range map[string]string{
		"wrong": "Bearer " + secret[:len(secret)-1] + "x", "revoked": "Bearer " + revoked, "empty": "Bearer ", "only the scheme": "Bearer",
		"another scheme": "Basic " + secret, "no scheme": secret, "twice": "Bearer " + secret + " " + secret,
	} {
		i, err := h.OfRequest(h.bearing(header))
		require.ErrorIs(t, err, fault.ErrUnauthenticated, what)
		require.NotContains(t, err.Error(), secret, what)
		require.NotContains(t, err.Error(), revoked, what)
		require.Empty(t, i.ID, what)
	}
	h.clock = h.clock.Add(time.Hour)
	_, err = h.OfRequest(h.bearing("Bearer " + secret))
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "token ci has ended at 2030-01-01T13:00:00Z")
}

func TestAWrongTokenIsRefusedAlsoWithACertificate(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, certificate := h.worker()
	r := h.request(h.connect(certificate), "/")
	r.Header.Set("Authorization", "Bearer lht-wrong")
	_, err := h.OfRequest(r)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
}

func TestATokenInAURLIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, secret := h.token(admission.Token{Name: "ci", Roles: access.Producer})
	for _, name := range []string{"token", "access_token"} {
		r := h.request(nil, "/?a=b&"+name+"="+secret)
		r.Header.Set("Authorization", "Bearer "+secret)
		_, err := h.OfRequest(r)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, "send the header Authorization: Bearer TOKEN")
		require.NotContains(t, err.Error(), secret)
	}
}

func TestAHundredThousandWrongTokensAreQuickAndLeaveNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, secret := h.token(admission.Token{Name: "ci", Roles: access.Producer})
	began := time.Now()
	r := h.bearing("")
	for n := range 100_000 {
		r.Header.Set("Authorization", fmt.Sprintf("Bearer lht-%d", n))
		_, err := h.OfRequest(r)
		require.ErrorIs(t, err, fault.ErrUnauthenticated)
	}
	require.Less(t, time.Since(began), 20*time.Second, "200 µs each")
	require.Equal(t, 1, strings.Count(h.log.String(), "\n"), h.log)
	require.Len(t, h.Store.Tokens(), 1)
	records, err := h.Store.Audit(t.Context(), time.Time{}, 10)
	require.NoError(t, err)
	require.Empty(t, records)
	_, err = h.OfRequest(h.bearing("Bearer " + secret))
	require.NoError(t, err)
}

func TestRevokingEndsWhatAnIdentityHas(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var ended []string
	h.OnRevoke(func(id string) { ended = append(ended, id) })
	worker, _ := h.worker()
	made, _ := h.token(admission.Token{Name: "ci", Roles: access.Producer})
	_, err := h.RevokePeer(t.Context(), worker.id, false)
	require.NoError(t, err)
	_, err = h.RevokeToken(t.Context(), "ci")
	require.NoError(t, err)
	require.Equal(t, []string{worker.id, made.ID}, ended)
	_, err = h.RevokeToken(t.Context(), "ci")
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = h.RevokePeer(t.Context(), "peer-none", true)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.Len(t, ended, 2)
}

func TestATokenThatEndsLosesWhatItHas(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var ended []string
	h.OnRevoke(func(id string) { ended = append(ended, id) })
	made, _ := h.token(admission.Token{Name: "ci", Roles: access.Producer, Expires: h.clock.Add(time.Hour)})
	_, _ = h.token(admission.Token{Name: "ann", Roles: access.Producer, Expires: h.clock.Add(2 * time.Hour)})
	_, _ = h.token(admission.Token{Name: "bob", Roles: access.Producer})
	h.EndExpired()
	require.Empty(t, ended)
	h.clock = h.clock.Add(time.Hour)
	h.EndExpired()
	h.EndExpired()
	require.Equal(t, []string{made.ID}, ended, "once")
}
