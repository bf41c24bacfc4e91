package postgres_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal/postgres"
)

func TestTheDatabaseIsExamined(t *testing.T) {
	t.Parallel()
	c := config(pgserver.Database(t))
	f, err := postgres.Examine(t.Context(), c, false)
	require.NoError(t, err)
	require.GreaterOrEqual(t, f.Version, 140000)
	f.Version = 0
	require.Equal(t, postgres.Findings{
		Encoding: "UTF8", Fsync: "off", SynchronousCommit: "on", MaxConnections: 500, Isolation: "read committed",
		Warnings: []string{
			"fsync is off: a crash of the database's machine can destroy everything",
			"the database has no standby: if its disk is lost, everything is",
		},
	}, f)
	open(t, c)
	_, err = postgres.Examine(t.Context(), c, false)
	require.NoError(t, err, "with the schema")
}

func TestADatabaseWithAnotherEncodingIsRefused(t *testing.T) {
	t.Parallel()
	s := pgserver.Shared(t)
	s.Exec(t, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
	t.Cleanup(func() { s.Exec(t, "DROP DATABASE latin WITH (FORCE)") })
	_, err := postgres.Examine(t.Context(), config(s.URL("latin")), false)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "createdb -E UTF8")
}

func TestARoleWithoutRightsIsTold(t *testing.T) {
	t.Parallel()
	s := pgserver.Shared(t)
	url := pgserver.Database(t)
	s.Exec(t, "CREATE ROLE weak LOGIN")
	weak := config(url + "&user=weak")
	_, err := postgres.Examine(t.Context(), weak, false)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, `TO "weak"`)
	_, err = postgres.Open(t.Context(), weak)
	require.ErrorIs(t, err, fault.ErrPermission)
	require.NotContains(t, fmt.Sprint(err), pgserver.Password)
}

func TestAReadOnlyDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	s := pgserver.Shared(t)
	s.Exec(t, "CREATE DATABASE readonly")
	t.Cleanup(func() { s.Exec(t, "DROP DATABASE readonly WITH (FORCE)") })
	s.Exec(t, "ALTER DATABASE readonly SET default_transaction_read_only = on")
	c := config(s.URL("readonly"))
	_, err := postgres.Examine(t.Context(), c, false)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	_, err = postgres.Open(t.Context(), c)
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestAPoolerIsRefusedInTransactionMode(t *testing.T) {
	t.Parallel()
	s := pgserver.Shared(t)
	url := pgserver.Database(t)
	for _, mode := range []string{"transaction", "session"} {
		t.Run(mode, func(t *testing.T) {
			c := config(s.Pooler(t, mode, url))
			_, err := postgres.Examine(t.Context(), c, false)
			if mode == "session" {
				require.NoError(t, err)
				j := claimed(t, c)
				commit(t, j, 0, entry(1))
				return
			}
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, "pool_mode = session")
		})
	}
}
