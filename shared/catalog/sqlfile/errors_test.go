package sqlfile

import (
	"testing"

	"github.com/stretchr/testify/require"
	lib "modernc.org/sqlite/lib"
)

// On a full disk the first error when a database is opened is SHMSIZE (4874).
func TestAFullDiskIsToldFromOtherErrors(t *testing.T) {
	t.Parallel()
	require.True(t, isDiskFull(lib.SQLITE_FULL))
	require.True(t, isDiskFull(lib.SQLITE_IOERR_SHMSIZE))
	for _, code := range []int{lib.SQLITE_IOERR_SHMMAP, lib.SQLITE_IOERR_READ, lib.SQLITE_BUSY, lib.SQLITE_CORRUPT} {
		require.False(t, isDiskFull(code), code)
	}
}
