package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/internal/pgserver"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/journaltest"
	"leasehold/shared/space/journal/postgres"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait")) // of the server that the tests share
}

var (
	quiet  = slog.New(slog.NewTextHandler(io.Discard, nil))
	realms atomic.Int64
)

// config returns the configuration of a realm of its own in a database, whose log only the test folds.
func config(url string) postgres.Config {
	return postgres.Config{URL: url, Realm: fmt.Sprintf("r%d", realms.Add(1)), Owner: "test", FoldEvery: time.Hour, Log: quiet}
}

// open opens a journal that the test closes.
func open(t testing.TB, c postgres.Config) *postgres.Journal {
	t.Helper()
	j, err := postgres.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// claimed opens a journal and makes it the owner.
func claimed(t testing.TB, c postgres.Config) *postgres.Journal {
	t.Helper()
	j := open(t, c)
	_, err := j.Claim(t.Context())
	require.NoError(t, err)
	return j
}

func TestItIsAnOwnedJournal(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	journaltest.ExerciseOwned(t, func(t testing.TB) func() journal.Owned {
		c := config(url)
		return func() journal.Owned { return open(t, c) }
	})
}

func isDeposed(err error) bool { return errors.Is(err, journal.ErrDeposed) }
