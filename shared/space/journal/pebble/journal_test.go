package pebble_test

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/journaltest"
	"leasehold/shared/space/journal/pebble"
)

func TestMain(m *testing.M) {
	if setting := os.Getenv(unwritable); setting != "" {
		os.Exit(openWithoutTables(setting))
	}
	goleak.VerifyTestMain(m)
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// open opens a journal that the test closes.
func open(t testing.TB, c pebble.Config) *pebble.Journal {
	t.Helper()
	if c.Log == nil {
		c.Log = quiet
	}
	j, err := pebble.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func TestItIsAJournal(t *testing.T) {
	t.Parallel()
	journaltest.Exercise(t, func(t testing.TB) func() journal.Journal {
		fs := vfs.NewMem()
		return func() journal.Journal { return open(t, pebble.Config{Dir: "journal", FS: fs}) }
	})
}
