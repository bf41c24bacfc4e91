package admission_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
	"leasehold/shared/catalog/sqldb"
)

func TestTheCAIsKept(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	requireCAs := func(want ...string) {
		t.Helper()
		for range 2 {
			all, err := h.CAs(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, all)
			h.reopen()
		}
	}
	requireCAs()
	require.NoError(t, h.SetCAs(t.Context(), "one", "two"))
	requireCAs("one", "two")
	require.NoError(t, h.SetCAs(t.Context(), "two"))
	requireCAs("two")
}

func TestAPeerThatIsForgottenTakesItsUsesWithIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	uses := func() (n int64) {
		require.NoError(t, h.file.Read(t.Context(), "count uses", func(c *sqldb.Conn) (err error) {
			n, err = c.Number("SELECT count(*) FROM use")
			return err
		}))
		return n
	}
	h.invite(admission.Invite{ID: "service", Role: access.Worker, Service: true})
	var peers []admission.Peer
	for n := range byte(3) {
		p, err := h.join("service", n)
		require.NoError(t, err)
		peers = append(peers, p)
	}
	require.EqualValues(t, 3, uses())
	_, err := h.RevokePeer(t.Context(), peers[0].ID, false)
	require.NoError(t, err)
	_, err = h.Renew(t.Context(), peers[1].ID, h.clock.Add(48*time.Hour))
	require.NoError(t, err)
	require.EqualValues(t, 3, uses(), "a change of a peer keeps its uses")
	h.clock = h.clock.Add(month + 36*time.Hour)
	_, err = h.join("service", 3)
	require.NoError(t, err)
	require.EqualValues(t, 2, uses(), "of the renewed one and the new one")
	require.Len(t, h.Peers(true), 2)
}
