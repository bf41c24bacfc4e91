package sqlfile_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// other is a connection of another program to a file, which does not wait for locks.
func other(t *testing.T, path string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(c.Close(), db.Close())) })
	return c
}

func TestAFileThatAnotherProgramLocksIsUnwellUntilItIsUnlocked(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	f := open(t, path, book)
	require.NoError(t, f.Health())
	c := other(t, path)
	_, err := c.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	first := f.Health()
	require.ErrorIs(t, first, fault.ErrUnavailable)
	require.NotErrorIs(t, first, fault.ErrConflict)
	require.ErrorContains(t, first, "cannot be written since 20")
	require.Equal(t, first.Error(), f.Health().Error(), "since the first failure")
	_, err = c.ExecContext(context.Background(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, f.Health(), "it needs no write to notice that")
	require.NoError(t, f.Write(t.Context(), "add", add("soup")))
	require.EqualValues(t, 1, number(t, f, count), "the check has written nothing")
}

// A write of ours locks the file for the other connection, whose error serves as the one of a call.
func TestACallThatFailsBecauseOfALockCanBeRepeated(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	f := open(t, path, book)
	c := other(t, path)
	err := f.Write(t.Context(), "add", func(*sqldb.Conn) error {
		require.NoError(t, f.Health(), "a write is under way")
		_, err := c.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		return err
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.NoError(t, f.Write(t.Context(), "add", add("soup")))
	require.NoError(t, f.Health())
}

func TestAnErrorOfTheCallerIsNoFaultOfTheFile(t *testing.T) {
	t.Parallel()
	f := open(t, newPath(t), book)
	require.ErrorIs(t, f.Write(t.Context(), "add", func(*sqldb.Conn) error { return fault.ErrInvalid }), fault.ErrInvalid)
	require.NoError(t, f.Health())
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Health(), fault.ErrClosed)
}
