package sqlfile_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
)

func TestMigrationGoesOnFromTheVersionItFinds(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	one, two := "CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO b VALUES (7)"
	for _, format := range []sqlfile.Format{recipes(one), recipes(one, two), recipes(one, two)} {
		require.NoError(t, open(t, path, format).Close())
	}
	f := open(t, path, recipes(one, two))
	assert.EqualValues(t, 2, number(t, f, "SELECT version FROM schema_version"))
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM b"))
}

func TestAFileWithOneSchemaGetsAnotherAndKeepsItsOwn(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	f := open(t, path, book)
	require.NoError(t, f.Write(t.Context(), "add", add("soup")))
	require.NoError(t, f.Close())
	raw(t, path, "DROP TABLE schema_version; PRAGMA user_version=1") // as an older program left it
	two := book
	two.Schemas = append(slices.Clone(book.Schemas), sqlfile.Schema{Name: "menus", Migrations: recipes("CREATE TABLE menu (name TEXT)").Schemas[0].Migrations})
	f = open(t, path, two)
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM recipe, (SELECT count(*) FROM menu)"))
	require.NoError(t, f.Close())
	refused(t, path, fault.ErrInvalid, "menus has version 1")
}

func TestAStepThatFailsIsUndoneAndTheStepsBeforeItStay(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	_, err := sqlfile.Open(t.Context(), path, recipes("CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)"))
	require.ErrorContains(t, err, "0002_step.sql")
	f := open(t, path, recipes("CREATE TABLE a (x)"))
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM sqlite_schema WHERE name IN ('a', 'b')"))
	require.NoError(t, f.Close())
	open(t, path, recipes("CREATE TABLE a (x)", "CREATE TABLE b (x)"))
}

func TestMigrationsAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	format := recipes("SELECT 1", "SELECT 1", "SELECT 1")
	delete(format.Schemas[0].Migrations.(fstest.MapFS), "migrations/0002_step.sql")
	_, err := sqlfile.Open(t.Context(), sqlfile.Memory, format)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestANewerVersionIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	require.NoError(t, open(t, path, book).Close())
	raw(t, path, "UPDATE schema_version SET version=99")
	refused(t, path, fault.ErrInvalid, "recipes has version 99", "up to 1")
	raw(t, path, "UPDATE schema_version SET version=1, name='menus'")
	refused(t, path, fault.ErrInvalid, "menus has version 1", "up to 0")
	raw(t, path, "PRAGMA user_version=101")
	refused(t, path, fault.ErrInvalid, "version 101", "up to 1")
}
