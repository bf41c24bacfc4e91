package sqlfile_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/sqlfile"
)

func TestMigrationGoesOnFromTheVersionItFinds(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	one, two := "CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO b VALUES (7)"
	for _, format := range []sqlfile.Format{recipes(one), recipes(one, two), recipes(one, two)} {
		require.NoError(t, open(t, path, format).Close())
	}
	f := open(t, path, recipes(one, two))
	assert.EqualValues(t, 2, number(t, f, "PRAGMA user_version"))
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM b"))
}

func TestAStepThatFailsIsUndoneAndTheStepsBeforeItStay(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	_, err := sqlfile.Open(t.Context(), path, recipes("CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)"))
	require.ErrorContains(t, err, "0002_step.sql")
	f := open(t, path, recipes("CREATE TABLE a (x)"))
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM sqlite_schema"))
	require.NoError(t, f.Close())
	open(t, path, recipes("CREATE TABLE a (x)", "CREATE TABLE b (x)"))
}

func TestMigrationsAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	format := recipes("SELECT 1", "SELECT 1", "SELECT 1")
	delete(format.Migrations.(fstest.MapFS), "migrations/0002_step.sql")
	_, err := sqlfile.Open(t.Context(), sqlfile.Memory, format)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestANewerVersionIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	require.NoError(t, open(t, path, book).Close())
	raw(t, path, "PRAGMA user_version=99")
	refused(t, path, fault.ErrInvalid, "version 99", "up to 1")
}
