package realm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
)

func TestARealmThatWasRestoredElsewhereIsRefusedUntilThatIsAccepted(t *testing.T) {
	t.Parallel()
	r := open(t, pgserver.Database(t), "default")
	require.NoError(t, r.CheckPlace(t.Context(), false), "the first time")
	require.NoError(t, r.CheckPlace(t.Context(), false))
	for _, column := range []string{"system", "database"} { // as a dump of another cluster, or of another database, has them
		_, err := r.pool.Exec(t.Context(), `UPDATE place SET `+column+` = `+column+` + 1`)
		require.NoError(t, err)
		err = r.CheckPlace(t.Context(), false)
		require.ErrorIs(t, err, fault.ErrConflict)
		require.ErrorContains(t, err, "--accept-missing database")
		require.NoError(t, r.CheckPlace(t.Context(), true))
		require.NoError(t, r.CheckPlace(t.Context(), false))
	}
}
