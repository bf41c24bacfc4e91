package admission_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

func TestTextsThatADatabaseRefusesAreRefusedOrReplaced(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const bad = "a\x00b\xff"
	_, err := h.CreateInvite(t.Context(), admission.Invite{ID: "i", Role: access.Worker, Name: bad}, "secret")
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, _, err = h.CreateToken(t.Context(), admission.Token{Name: "a", Roles: access.Reader, Spaces: []string{bad}})
	require.ErrorIs(t, err, fault.ErrInvalid)
	h.invite(admission.Invite{ID: "i", Role: access.Worker, Name: "i"})
	_, err = h.Join(t.Context(), "i", "secret of i", key(1), bad, h.clock.Add(time.Hour))
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = h.Join(t.Context(), bad, "secret of i", key(1), "", h.clock.Add(time.Hour))
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	_, err = h.RevokePeer(t.Context(), bad, false)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorIs(t, h.RevokeInvite(t.Context(), bad), fault.ErrNotFound)

	who := access.Identity{ID: bad, Name: bad, Roles: access.Reader}
	require.NoError(t, h.Note(t.Context(), admission.Record{At: h.clock, Identity: who, Address: bad, Action: bad, Object: bad, Outcome: bad}))
	records, err := h.Audit(t.Context(), time.Time{}, 10)
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, "a\uFFFDb", records[0].Object)
	require.Equal(t, "a\uFFFDb", records[0].Identity.ID)
}
