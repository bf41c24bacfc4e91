package pebble_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pebble"
)

// unwritable is an environment variable: with it this binary opens a journal on a disk on
// which no table can be made. Its value is the errno and the folder.
const unwritable = "UNWRITABLE"

// tableless is such a disk.
type tableless struct {
	vfs.FS
	why error
}

// Create fails for tables.
func (d tableless) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".sst") {
		return nil, d.why
	}
	return d.FS.Create(name, c)
}

func (d tableless) Unwrap() vfs.FS { return d.FS }

// openWithoutTables returns the exit code that a program ends with which cannot open its journal.
func openWithoutTables(setting string) int {
	var why syscall.Errno
	_, path, _ := strings.Cut(setting, " ")
	if _, err := fmt.Sscan(setting, &why); err != nil {
		panic(err)
	}
	_, err := pebble.Open(pebble.Config{Dir: path, FS: tableless{vfs.Default, why}, Log: quiet})
	fmt.Println(err)
	return fault.Of(err).ExitCode
}

// An opening store retries for ever what it cannot write; what that leaves behind ends with the process, so the test
// has one of its own.
func TestFault12And13AStartThatCannotWriteItsTablesEnds(t *testing.T) {
	t.Parallel()
	for why, code := range map[syscall.Errno]int{syscall.ENOSPC: fault.Of(fault.ErrFolder).ExitCode, syscall.EIO: 1} {
		t.Run(why.Error(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal")
			j := open(t, pebble.Config{Dir: path})
			fill(t, j, 0, 10, 100)
			require.NoError(t, j.Close())
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			start := exec.CommandContext(ctx, os.Args[0])
			start.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", unwritable, why, path))
			said, err := start.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, code, exit.ExitCode(), string(said))
			require.Contains(t, string(said), why.Error())
			position, n := held(t, open(t, pebble.Config{Dir: path}))
			require.Equal(t, 10, int(position))
			require.Equal(t, 10, n, "nothing is lost")
		})
	}
}

// Each start writes a table of the last log. They are merged when the store is open, not before.
func TestTheTablesOfManyStartsAreMerged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	for n := range 20 {
		j, err := pebble.Open(pebble.Config{Dir: path, Log: quiet})
		require.NoError(t, err)
		fill(t, j, n, n+1, 100)
		require.NoError(t, j.Close())
	}
	tables, err := filepath.Glob(filepath.Join(path, "*.sst"))
	require.NoError(t, err)
	require.Less(t, len(tables), 10)
	_, n := held(t, open(t, pebble.Config{Dir: path}))
	require.Equal(t, 20, n)
}
