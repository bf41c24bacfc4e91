package join_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
	"leasehold/shared/api/join"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

const week = 7 * day

// renewed returns a process with a folder after it has renewed its certificate, as it does in each day.
func (h *coordinator) renewed(line identity.Line, dir string) *join.Member {
	h.Helper()
	h.advance(aPeriod)
	return h.mustOpen(line, dir)
}

func TestAProcessLearnsTheNextCAAtARenewal(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line, dir := h.invite(admission.Invite{Service: true}), t.TempDir()
	require.True(t, strings.HasPrefix(line.Reveal(), "lh1-"))
	running := h.mustOpen(line, "") // without a disk
	h.mustOpen(line, dir)
	require.NoError(t, h.authority.Rotate(h.now().Add(week), nil))
	h.requireKnown(running)
	h.requireKnown(h.mustOpen(line, dir))
	h.requireKnown(h.mustOpen(line, "")) // joins with a line that names only the former CA

	h.renewed(line, dir)
	h.requireKnown(running) // renews too
	h.advance(week)
	h.requireKnown(running)
	h.requireKnown(h.mustOpen(line, dir))
	h.advance(40 * day) // its certificate cannot be renewed any more, and its line is of the former CA
	h.requests()
	h.requireKnown(h.mustOpen(line, dir))
	require.Equal(t, []string{"renew", "join"}, h.requests()[:2])
}

// requireKnown fails unless the coordinator knows the process at the other end of a new connection.
func (h *coordinator) requireKnown(m *join.Member) {
	h.Helper()
	api, err := m.Client()
	require.NoError(h, err)
	defer api.Close()
	_, err = api.Peers(h.Context(), true)
	require.ErrorContains(h, err, "it needs the role admin, and peer-") // so it has an identity
}

func TestAfterTheEndOfTheFormerCAAProcessThatKnowsOnlyThatIsRefused(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	line, dir := h.invite(admission.Invite{Service: true}), t.TempDir()
	h.mustOpen(line, dir) // and is off during the whole change
	require.NoError(t, h.authority.Rotate(h.now().Add(week), nil))
	h.advance(week)
	for _, dir := range []string{dir, ""} {
		_, err := h.open(line, dir)
		require.ErrorIs(t, err, fault.ErrUnauthenticated)
		require.ErrorContains(t, err, "has another identity (fingerprint "+h.authority.Fingerprint().String()+")")
	}
	h.requireKnown(h.mustOpen(h.invite(admission.Invite{}), dir)) // another line repairs it
}

func TestALineOfAChangeJoinsDuringItAndAfter(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	former := h.authority.Fingerprint()
	require.NoError(t, h.authority.Rotate(h.now().Add(week), nil))
	line, err := identity.ParseLine(h.invite(admission.Invite{Service: true}).Reveal())
	require.NoError(t, err)
	require.Equal(t, identity.CAs{h.authority.Fingerprint(), former}, line.CAs(h.now()))
	h.requireKnown(h.mustOpen(line, ""))
	h.advance(week)
	h.requireKnown(h.mustOpen(line, ""))
	require.Equal(t, identity.CAs{h.authority.Fingerprint()}, line.CAs(h.now()))
	require.True(t, strings.HasPrefix(h.invite(admission.Invite{}).Reveal(), "lh1-"))
}

func TestALineThatTheProcessHasNotUsedCountsMoreThanItsCertificate(t *testing.T) {
	t.Parallel()
	h, restored, dir := newCoordinator(t), newCoordinator(t), t.TempDir()
	h.mustOpen(h.invite(admission.Invite{}), dir)
	restored.requireKnown(restored.mustOpen(restored.invite(admission.Invite{}), dir))
	h.requireKnown(h.mustOpen(h.invite(admission.Invite{}), dir))
}

func TestWhileTheCAChangesWorkersAndManagersRecogniseEachOther(t *testing.T) {
	t.Parallel()
	h := newCoordinator(t)
	workers, managers := h.invite(admission.Invite{Service: true}), h.inviteManager()
	before := [2]*join.Member{h.mustOpen(workers, ""), h.mustOpen(managers, "")}
	require.NoError(t, h.authority.Rotate(h.now().Add(week), nil))
	after := [2]*join.Member{h.mustOpen(workers, ""), h.mustOpen(managers, "")}
	for _, worker := range []*join.Member{before[0], after[0]} {
		for _, manager := range []*join.Member{before[1], after[1]} {
			requireRead(t, manager, worker)
		}
	}
	h.advance(week)
	h.requireKnown(after[0])
	h.requireKnown(after[1])
	requireRead(t, after[1], after[0])
}

func TestAManagerServesWorkersOfItsCoordinatorOnly(t *testing.T) {
	t.Parallel()
	h, other := newCoordinator(t), newCoordinator(t)
	worker, manager := h.mustOpen(h.invite(admission.Invite{}), ""), h.mustOpen(h.inviteManager(), "")
	requireRead(t, manager, worker)
	foreign := other.mustOpen(other.invite(admission.Invite{}), "")
	presenting := worker.ContentClient()
	presenting.GetClientCertificate = foreign.ContentClient().GetClientCertificate
	for what, client := range map[string]*tls.Config{
		"another identity": foreign.ContentClient(),
		`want worker`:      manager.ContentClient(),
		"is not trusted":   presenting,
	} {
		server, client := handshake(t, manager.ContentServer(), client)
		require.Error(t, errors.Join(server, client), what)
	}
	_, err := handshake(t, worker.ContentServer(), worker.ContentClient())
	require.ErrorContains(t, err, `for the role "worker", want manager`)
}

// inviteManager returns the join line of a new invite for managers.
func (h *coordinator) inviteManager() identity.Line {
	h.Helper()
	_, line, err := h.Invite(h.Context(), admission.Invite{Role: access.Manager, Service: true}, []string{h.address})
	require.NoError(h, err)
	return line
}

// requireRead fails unless a worker can read from a manager.
func requireRead(t *testing.T, manager, worker *join.Member) {
	t.Helper()
	server, client := handshake(t, manager.ContentServer(), worker.ContentClient())
	require.NoError(t, server)
	require.NoError(t, client)
}

// handshake makes a handshake in memory, and returns the errors of both sides.
func handshake(t *testing.T, server, client *tls.Config) (serverErr, clientErr error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	a, b := net.Pipe()
	defer b.Close()
	served := make(chan error, 1)
	go func() {
		defer a.Close()
		c := tls.Server(a, server)
		err := c.HandshakeContext(ctx)
		if err == nil {
			_, err = c.Write([]byte("x")) // after it, because a client sends its certificate last
		}
		served <- err
	}()
	c := tls.Client(b, client)
	clientErr = c.HandshakeContext(ctx)
	if clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1))
	}
	_ = b.Close()
	return <-served, clientErr
}
