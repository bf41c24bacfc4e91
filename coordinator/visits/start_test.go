package visits

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// A start under other rules places all origins again. If it fails anywhere it returns the error, and
// the next one does all of it.
func TestAStartThatFailsAnywhereIsAnErrorAndTheNextOnePlacesAllOrigins(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	s := openFile(t, path)
	require.NoError(t, s.List(t.Context(), now.Add(-time.Hour), Listing{Origins: hosted(5, 2)}))
	require.NoError(t, s.file.Close())
	plan := uniform(t, "roundrobin", policy.DefaultRules())
	for n := 1; ; n++ {
		file := openTables(t, path)
		ctx, failed := sqldb.FailAt(t.Context(), n)
		again, err := New(ctx, file, plan)
		if failed() {
			require.ErrorIs(t, err, sqldb.ErrFailed, "statement %d", n)
			require.NoError(t, file.Close())
			continue
		}
		require.NoError(t, err)
		require.Greater(t, n, 10)
		defer file.Close()
		visits, err := again.Claim(t.Context(), now, 10)
		require.NoError(t, err)
		require.Len(t, visits, 2, "one of each host")
		placed, _, err := again.isPlaced(t.Context(), "look")
		require.NoError(t, err)
		require.True(t, placed)
		break
	}
}
