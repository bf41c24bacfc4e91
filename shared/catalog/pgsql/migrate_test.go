package pgsql

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

func TestMigrationGoesOnFromTheVersionItFinds(t *testing.T) {
	t.Parallel()
	address := pgserver.Database(t)
	one, two := "CREATE TABLE a (x bigint)", "CREATE TABLE b (x bigint); INSERT INTO b VALUES (7)"
	for _, o := range []Options{recipes(address, one), recipes(address, one, two), recipes(address, one, two)} {
		opened(t, o)
	}
	d := opened(t, recipes(address, one, two))
	require.EqualValues(t, 2, number(t, d, "SELECT version FROM schema_version"))
	require.EqualValues(t, 1, number(t, d, "SELECT count(*) FROM b"))
}

func TestAStepThatFailsIsUndoneAndTheStepsBeforeItStay(t *testing.T) {
	t.Parallel()
	address := pgserver.Database(t)
	one, two := "CREATE TABLE a (x bigint)", "CREATE TABLE b (x bigint)"
	_, err := Open(t.Context(), recipes(address, one, two+"; INSERT INTO nowhere VALUES (1)"))
	require.ErrorContains(t, err, "0002_step.sql")
	burnt := errors.New("burnt")
	for _, at := range []string{"before recipes 2", "within recipes 2"} {
		o := recipes(address, one, two)
		o.OnStep = func(step string) error {
			if step == at {
				return burnt
			}
			return nil
		}
		_, err := Open(t.Context(), o)
		require.ErrorIs(t, err, burnt)
	}
	d := opened(t, recipes(address, one, two))
	require.EqualValues(t, 2, number(t, d, "SELECT version FROM schema_version"))
}

func TestAnotherVersionIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	starting := func(address string) Options {
		o := recipes(address, "", "", makeRecipes, "CREATE TABLE spice (name text)")
		for _, early := range []string{"0001", "0002"} {
			delete(o.Schemas[0].Migrations.(fstest.MapFS), "migrations/postgres/"+early+"_step.sql")
		}
		return o
	}
	book := func(address string) Options { return recipes(address, makeRecipes) }
	for name, c := range map[string]struct {
		options      func(string) Options
		change, want string
	}{
		"a newer schema":    {book, "UPDATE schema_version SET version = 99", "the recipes has version 99, this program reads version 1: use"},
		"an older schema":   {starting, "UPDATE schema_version SET version = 2", "the recipes has version 2, this program reads version 3 to 4: use"},
		"an unknown schema": {book, "INSERT INTO schema_version VALUES ('menus', 1)", "it has a schema menus, which this program does not know: use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := pgserver.Database(t)
			d := opened(t, book(address))
			require.NoError(t, d.Write(t.Context(), "change", func(w *sqldb.Conn) error { return w.Exec(c.change) }))
			_, err := Open(t.Context(), c.options(address))
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestTablesThatTheNextVersionMigratedAreUsedIfTheRealmIsShared(t *testing.T) {
	t.Parallel()
	address := pgserver.Database(t)
	next := recipes(address, makeRecipes, "ALTER TABLE recipe ADD COLUMN spice text")
	opened(t, next)
	o := recipes(address, makeRecipes)
	_, err := Open(t.Context(), o)
	require.ErrorIs(t, err, fault.ErrInvalid)
	o.Shared = true
	d := opened(t, o)
	require.NoError(t, d.Write(t.Context(), "change", func(w *sqldb.Conn) error { return w.Exec("INSERT INTO schema_version VALUES ('menus', 1)") }))
	opened(t, o)
	next.Shared = true
	opened(t, next)
	require.EqualValues(t, 2, number(t, d, "SELECT version FROM schema_version WHERE name <> 'menus'"))
}
