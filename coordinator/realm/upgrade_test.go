package realm

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal/postgres"
)

func TestAnUpgradeIsFinishedOnceAllMembersReadTheNewerFormat(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	r, j := open(t, url, "default"), openJournal(t, url, "default")
	claimed, err := j.Claim(t.Context())
	require.NoError(t, err)
	epoch := uint64(claimed)
	old, newer := box, box
	newer.Name, newer.Version, newer.Format = "crate", "1.3", box.Format+1
	_, err = r.Join(t.Context(), old)
	require.NoError(t, err)
	finish := func(want int) {
		t.Helper()
		format, err := r.FinishUpgrade(t.Context(), epoch)
		require.NoError(t, err)
		require.Equal(t, want, format)
		format, err = j.Format(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, format)
	}
	finish(postgres.NewestFormat) // nothing to do
	_, err = r.Join(t.Context(), newer)
	require.NoError(t, err)

	_, err = r.FinishUpgrade(t.Context(), epoch)
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, fmt.Sprintf("do not read format %d: box (version 1.2): ", newer.Format))
	_, err = r.FinishUpgrade(t.Context(), epoch-1)
	require.ErrorIs(t, err, fault.ErrUnavailable, "another member owns the realm")
	format, err := j.Format(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.NewestFormat, format)

	old.Format++ // it was replaced
	_, err = r.Join(t.Context(), old)
	require.NoError(t, err)
	finish(postgres.NewestFormat + 1)
	_, err = r.Join(t.Context(), box)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "use a newer leasehold")
	all, err := r.Members(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{newer.Format, newer.Format}, []int{all[0].Format, all[1].Format}, "the one that was refused is not listed")
}
