package sqlfile_test

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqldb"
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
	two := book
	two.Schemas = append(slices.Clone(book.Schemas), sqldb.Schema{Name: "menus", Migrations: recipes("CREATE TABLE menu (name TEXT)").Schemas[0].Migrations})
	f = open(t, path, two)
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM recipe, (SELECT count(*) FROM menu)"))
	require.NoError(t, f.Close())
	refused(t, path, fault.ErrInvalid, "it has a schema menus, which this program does not know")
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

func TestAFileOfAnotherVersionIsRefusedWithBothVersionsAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	starting := recipes("", "", "CREATE TABLE recipe (name TEXT)", "CREATE TABLE spice (name TEXT)")
	for _, early := range []string{"0001", "0002"} {
		delete(starting.Schemas[0].Migrations.(fstest.MapFS), "migrations/"+early+"_step.sql")
	}
	for name, c := range map[string]struct {
		format sqlfile.Format
		change string
		want   string
	}{
		"a newer schema":                       {book, "UPDATE schema_version SET version=99", "the recipes has version 99, this program reads version 1: use"},
		"an older schema":                      {starting, "UPDATE schema_version SET version=2", "the recipes has version 2, this program reads version 3 to 4: use"},
		"a newer format":                       {book, "PRAGMA user_version=102", "it has format 102, this program reads format 101: use"},
		"an older format":                      {book, "PRAGMA user_version=100", "it has format 100, this program reads format 101: use"},
		"a format without a table of versions": {book, "PRAGMA user_version=4; DROP TABLE schema_version", "it has format 4, this program reads format 101: use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			require.NoError(t, open(t, path, book).Close())
			raw(t, path, c.change)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = sqlfile.Open(t.Context(), path, c.format)
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, c.want)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

// Until v0.1.0 a schema that changes has one migration, of the next number.
func TestTheFirstMigrationMayHaveAnyNumber(t *testing.T) {
	t.Parallel()
	format := recipes("", "CREATE TABLE recipe (name TEXT)")
	delete(format.Schemas[0].Migrations.(fstest.MapFS), "migrations/0001_step.sql")
	path := newPath(t)
	require.NoError(t, open(t, path, format).Close())
	f := open(t, path, format)
	assert.EqualValues(t, 2, number(t, f, "SELECT version FROM schema_version"))
	require.NoError(t, f.Close())
	refused(t, path, fault.ErrInvalid, "the recipes has version 2, this program reads version 1")
}
