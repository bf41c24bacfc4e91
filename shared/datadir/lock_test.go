package datadir_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/datadir"
	"leasehold/shared/fault"
)

func TestADataFolderHasOneHolderAtATime(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "on", "demand")
	release, err := datadir.Lock(dir)
	require.NoError(t, err)

	_, err = datadir.Lock(dir)
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, dir)
	require.ErrorContains(t, err, "process "+strconv.Itoa(os.Getpid())+" (", "the holder is named")

	require.NoError(t, release())
	release, err = datadir.Lock(dir)
	require.NoError(t, err)
	require.NoError(t, release())
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := datadir.Lock(filepath.Join(file, "data"))
	require.ErrorContains(t, err, file)
	require.ErrorIs(t, err, fault.ErrFolder)
}
