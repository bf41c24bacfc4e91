package join_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
	"leasehold/shared/api/join"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

const (
	day     = 24 * time.Hour
	aPeriod = 25 * time.Hour // after which a certificate has ended
)

func TestAProcessJoinsAndIsKnownToTheCoordinator(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line := h.invite(admission.Invite{Uses: 1})
	m := h.mustOpen(line, "")
	require.Equal(t, []string{"join"}, h.requests())
	h.requireAdmitted(m)
	c, err := m.Dial(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NotContains(t, h.log.String(), line.Secret.Reveal())
}

func TestAProcessThatKeepsItsFolderJoinsOnce(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line, dir := h.invite(admission.Invite{Uses: 1}), t.TempDir()
	id := h.requireAdmitted(h.mustOpen(line, dir))
	h.requests()
	again := h.mustOpen(line, dir)
	require.Empty(t, h.requests(), "its certificate still applies")
	require.Equal(t, id, h.requireAdmitted(again))
	require.Equal(t, 1, h.used())

	require.NoError(t, os.Remove(filepath.Join(dir, identity.CertificateFile)))
	h.requests()
	require.Equal(t, id, h.requireAdmitted(h.mustOpen(line, dir)))
	require.Equal(t, "join", h.requests()[0])
	require.Equal(t, 1, h.used(), "the same key")
}

func TestAProcessWithTheCertificateOfAnotherCoordinatorJoinsByItsLine(t *testing.T) {
	t.Parallel()
	before, h, dir := newCoordinator(t), newCoordinator(t), t.TempDir()
	before.mustOpen(before.invite(admission.Invite{}), dir)
	before.requests()
	h.requireAdmitted(h.mustOpen(h.invite(admission.Invite{}), dir))
	require.Equal(t, "join", h.requests()[0])
	require.Empty(t, before.requests())
}

func TestACertificateThatHasEndedIsRenewedForThirtyDays(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line, dir := h.invite(admission.Invite{}), t.TempDir()
	id := h.requireAdmitted(h.mustOpen(line, dir))
	require.NoError(t, h.Store.RevokeInvite(t.Context(), line.ID))
	h.requests()
	for _, pause := range []time.Duration{aPeriod, day + 29*day} {
		h.advance(pause)
		m := h.mustOpen(line, dir)
		require.Equal(t, []string{"renew"}, h.requests())
		require.Equal(t, id, h.requireAdmitted(m))
		h.requests()
	}
	h.advance(day + 31*day)
	_, err := h.open(line, dir)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.Equal(t, []string{"renew", "join"}, h.requests())
}

// The line was removed from the settings after the process had joined, and its folder stayed.
func TestAProcessWithoutItsLineRenewsForThirtyDays(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line, dir := h.invite(admission.Invite{}), t.TempDir()
	id := h.requireAdmitted(h.mustOpen(line, dir))
	line.Secret = identity.Secret{}
	for _, pause := range []time.Duration{0, aPeriod, day + 29*day} {
		h.advance(pause)
		require.Equal(t, id, h.requireAdmitted(h.mustOpen(line, dir)))
	}
	h.advance(day + 31*day)
	h.requests()
	_, err := h.open(line, dir)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "start it with --join")
	require.Equal(t, []string{"renew"}, h.requests())
}

func TestAfterALongTimeAProcessJoinsByItsLineAgain(t *testing.T) {
	t.Parallel()
	for what, pause := range map[string]time.Duration{"an hour": aPeriod, "31 days": 32 * day, "3 years": 3 * 365 * day} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newCoordinator(t)
			line, dir := h.invite(admission.Invite{Service: true}), t.TempDir()
			h.requireAdmitted(h.mustOpen(line, dir))
			h.advance(pause)
			h.requireAdmitted(h.mustOpen(line, dir))
			h.requireAdmitted(h.mustOpen(line, dir))
		})
	}
}

func TestARunningProcessRenewsACertificateThatHasEnded(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	m := h.mustOpen(h.invite(admission.Invite{}), "") // without a disk
	h.advance(aPeriod)
	h.requests()
	h.requireAdmitted(m)
	require.Equal(t, "renew", h.requests()[0])
}

// The clocks of both jump while the connections of a client are open, so that those show the certificate that has ended.
func TestACallOverAnOpenConnectionRenewsACertificateThatHasEnded(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	m := h.mustOpen(h.invite(admission.Invite{}), "")
	api, err := m.Client()
	require.NoError(t, err)
	defer api.Close()
	call := func() {
		_, err := api.Peers(t.Context(), true)
		assert.ErrorContains(t, err, "it needs the role admin, and peer-") // so it has an identity
	}
	for range 3 {
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(call)
		}
		calls.Wait()
		h.advance(aPeriod)
		h.requests()
		call()
		require.Contains(t, h.requests(), "renew")
	}
}

func TestACertificateIsRenewedBeforeItEnds(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	m := h.mustOpen(h.invite(admission.Invite{}), "")
	h.requests()
	h.advance(16 * time.Hour) // two thirds of its life
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx)
	}()
	require.Eventually(t, func() bool { return h.Store.Peers(true)[0].Ends.After(h.now().Add(day - time.Hour)) }, 20*time.Second, 10*time.Millisecond)
	require.Equal(t, []string{"renew"}, h.requests())
	stop()
	<-ended
}

func TestAProcessThatTheCoordinatorForgotJoinsAgain(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line, dir := h.invite(admission.Invite{Service: true}), t.TempDir()
	m := h.mustOpen(line, dir)
	h.stop()
	h.forget()
	_, err := h.Store.CreateInvite(t.Context(), admission.Invite{ID: line.ID, Role: access.Worker, Service: true}, line.Secret.Reveal())
	require.NoError(t, err)
	h.start()
	api, err := m.Client()
	require.NoError(t, err)
	_, err = api.Peers(t.Context(), true)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.NoError(t, api.Close())
	h.requests()
	require.NoError(t, m.Rejoin(t.Context()))
	h.requireAdmitted(m)

	h.stop()
	h.forget()
	_, err = h.Store.CreateInvite(t.Context(), admission.Invite{ID: line.ID, Role: access.Worker, Service: true}, line.Secret.Reveal())
	require.NoError(t, err)
	h.start()
	h.advance(aPeriod)
	h.requests()
	h.requireAdmitted(h.mustOpen(line, dir))
	require.Equal(t, []string{"renew", "join"}, h.requests()[:2])
}

func TestARevokedProcessDoesNotTryItsJoinLine(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line, dir := h.invite(admission.Invite{Service: true}), t.TempDir()
	m := h.mustOpen(line, dir)
	_, err := h.RevokePeer(t.Context(), h.requireAdmitted(m), false)
	require.NoError(t, err)
	h.requests()
	h.advance(aPeriod)
	_, err = h.open(line, dir)
	require.ErrorIs(t, err, fault.ErrForbidden)
	require.ErrorContains(t, err, "revoked")
	_, err = m.Dial(t.Context())
	require.ErrorIs(t, err, fault.ErrForbidden)
	api, err := m.Client()
	require.NoError(t, err)
	_, err = api.Peers(t.Context(), true)
	require.ErrorIs(t, err, fault.ErrForbidden)
	require.NotErrorIs(t, err, fault.ErrUnavailable, "it would be repeated")
	require.NoError(t, api.Close())
	require.NotContains(t, h.requests(), "join")
}

func TestALineThatTheCoordinatorDoesNotKnowEndsTheProcess(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line := h.invite(admission.Invite{})
	line.Secret = identity.NewSecret()
	_, err := h.open(line, "")
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "this join line is not known")
	require.NotContains(t, err.Error(), line.Secret.Reveal())
}

func TestASecretIsSentToTheCoordinatorOfTheLineOnly(t *testing.T) {
	t.Parallel()
	h, other := newCoordinator(t), newCoordinator(t)
	line := h.invite(admission.Invite{})
	line.Addresses = []string{other.address}
	_, err := h.open(line, "")
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "has another identity (fingerprint "+other.authority.Fingerprint().String()+") than the one that was given ("+line.CA.String()+")")
	require.Empty(t, other.requests())
	require.NotContains(t, err.Error(), line.Secret.Reveal())
}

func TestAProcessWaitsForACoordinatorThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	h := newStopped(t)
	line := h.invite(admission.Invite{})
	opened := make(chan error)
	go func() {
		_, err := h.open(line, "")
		opened <- err
	}()
	<-h.log.written // a warning
	h.start()
	require.NoError(t, <-opened)
	require.Contains(t, h.log.String(), "the coordinator does not answer; trying again")
	require.NotContains(t, h.log.String(), line.Secret.Reveal())
}

func TestAProcessThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := newStopped(t)
	line := h.invite(admission.Invite{})
	ctx, stop := context.WithCancel(t.Context())
	opened := make(chan error)
	go func() {
		_, err := join.Open(ctx, h.config(line, ""))
		opened <- err
	}()
	<-h.log.written
	stop()
	require.ErrorIs(t, <-opened, fault.ErrUnavailable)
}

func TestTheFirstAddressThatAnswersIsTaken(t *testing.T) {
	t.Parallel()
	h, other := newCoordinator(t), newCoordinator(t)
	plain := newPlainServer(t)
	line := h.invite(admission.Invite{})
	line.Addresses = []string{"127.0.0.1:1", other.address, plain, h.address, "127.0.0.1:1"}
	h.requireAdmitted(h.mustOpen(line, ""))
	require.Empty(t, other.requests())
}

func TestAProcessJoinsPastCoordinatorsThatStandBy(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	first, second := h.newStandby(), h.newStandby()
	line := h.invite(admission.Invite{})
	line.Addresses = []string{first.address, second.address, h.address}
	h.requireAdmitted(h.mustOpen(line, ""))
	require.NotEmpty(t, first.requests())
	require.NotEmpty(t, second.requests())
	require.Empty(t, h.log.String(), "it joins without a warning")
}

func TestWhileAnAddressDoesNotAnswerAnotherCoordinatorAtASecondOneEndsNothing(t *testing.T) {
	t.Parallel()
	h, other := newStopped(t), newCoordinator(t)
	line := h.invite(admission.Invite{})
	line.Addresses = []string{other.address, h.address}
	opened := make(chan error)
	go func() {
		_, err := h.open(line, "")
		opened <- err
	}()
	<-h.log.written
	require.Contains(t, h.log.String(), "has another identity")
	h.start()
	require.NoError(t, <-opened)
	require.Empty(t, other.requests())
}

// newPlainServer returns the address of a server that speaks HTTP without TLS.
func newPlainServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestAServerWithoutTLSIsNamed(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line := h.invite(admission.Invite{})
	line.Addresses = []string{newPlainServer(t)}
	_, err := h.open(line, "")
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, line.Addresses[0])
	require.ErrorContains(t, err, "no TLS is spoken there: the coordinator does not authenticate its clients, or it is another program")
}

func TestALineWithoutAnAddressNeedsAHost(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line := h.invite(admission.Invite{})
	line.Addresses = nil
	_, err := h.open(line, "")
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "--host")
}

func TestAProcessWhoseClockIsOffIsToldBothTimes(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line := h.invite(admission.Invite{})
	for what, x := range map[string]struct {
		off time.Duration
		bad bool
	}{"an hour ahead": {time.Hour, false}, "59 minutes behind": {-59 * time.Minute, false}, "two days ahead": {2 * day, true}, "a day behind": {-day, true}} {
		config := h.config(line, "")
		config.Now = func() time.Time { return h.now().Add(x.off) }
		_, err := join.Open(t.Context(), config)
		if !x.bad {
			require.NoError(t, err, what)
			continue
		}
		require.ErrorIs(t, err, fault.ErrUnauthenticated, what)
		require.ErrorContains(t, err, "the clock of this machine shows ", what)
		require.ErrorContains(t, err, "set the clock that is wrong", what)
	}
}
