package postgres_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal/postgres"
)

func TestAnotherFormatIsRefusedBeforeAnythingChanges(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	for format, advice := range map[int]string{
		postgres.NewestFormat + 1: "use a newer leasehold",
		postgres.OldestFormat - 1: "use an older leasehold, and upgrade one version after the other",
	} {
		c := config(url)
		j := open(t, c)
		require.NoError(t, j.Exec(t.Context(), "UPDATE realm SET format = $1", format))
		require.NoError(t, j.Exec(t.Context(), "DELETE FROM schema_version"))
		_, err := postgres.Open(t.Context(), c)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("the realm has format %d, this program reads format", format))
		require.ErrorContains(t, err, fmt.Sprint(postgres.NewestFormat))
		require.ErrorContains(t, err, advice)
		rows, err := j.Rows(t.Context(), "schema_version")
		require.NoError(t, err)
		require.Zero(t, rows, "it was not migrated")
	}
}

func TestNewerTablesAreUsedWhileTheFormatIsReadable(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	require.NoError(t, open(t, c).Exec(t.Context(), "UPDATE schema_version SET version = 99; ALTER TABLE fact ADD COLUMN later integer"))
	j := claimed(t, c)
	format, err := j.Format(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.NewestFormat, format, "a new realm has the newest format")
}

// A member that was frozen while the format was raised is not in the list of those that are asked.
func TestARealmWhoseFormatWasRaisedMeanwhileIsNotClaimed(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	late, owner := open(t, c), claimed(t, c)
	require.NoError(t, owner.Exec(t.Context(), "UPDATE realm SET format = $1", postgres.NewestFormat+1))
	_, err := late.Claim(t.Context())
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "use a newer leasehold")
	require.NoError(t, owner.Confirm(t.Context()), "the epoch is that of the owner")
}
