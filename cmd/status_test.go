package cmd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
)

func TestStatusTellsTheResultOfTheCheckOfTheDatabase(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 5, 3, 0, 9, 0, time.UTC)
	require.Empty(t, databaseLines(types.DatabaseCheck{}))
	require.Equal(t, []string{"the database was checked at 2026-03-05T03:00:09Z: no damage"}, databaseLines(types.DatabaseCheck{At: at}))
	require.Equal(t, []string{"the database is damaged: findings: x; restore a backup"}, databaseLines(types.DatabaseCheck{At: at, Damage: []string{"findings: x"}}))
	require.Equal(t, []string{"the check of the database at 2026-03-05T03:00:09Z could not be finished: late"}, databaseLines(types.DatabaseCheck{At: at, Error: "late"}))
}
