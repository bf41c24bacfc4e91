package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/catalog/pgsql"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
)

func TestMain(m *testing.M) {
	if err := catalogtest.FewHistories(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
}

func TestStoreIsACatalog(t *testing.T) {
	t.Parallel()
	catalogtest.Exercise(t, func(t *testing.T) catalog.Catalog {
		s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "catalog.db"))
		if err != nil {
			t.Fatal(err)
		}
		return examined{s, t}
	})
}

func TestStoreInPostgreSQLIsACatalog(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	catalogtest.Exercise(t, func(t *testing.T) catalog.Catalog { return examined{openRealm(t, url), t} })
}

// realms counts the realms of tests, because a new realm takes less time than a new database.
var realms atomic.Int64

// openRealm opens a catalog in a new realm of a PostgreSQL database.
func openRealm(t testing.TB, url string) *store.Store {
	t.Helper()
	realm := fmt.Sprintf("r%d", realms.Add(1))
	db, err := pgsql.Open(context.Background(), pgsql.Options{URL: url, Realm: realm, Name: "catalog", Schemas: []sqldb.Schema{store.Schema()}})
	require.NoError(t, err)
	s := store.New(db, nil)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// examined is a store that is examined before it is closed, because whatever the suite does must not look like
// damage.
type examined struct {
	*store.Store
	t *testing.T
}

func (e examined) Close() error {
	damage, err := e.Examine(context.Background())
	if err != nil && !errors.Is(err, fault.ErrClosed) || len(damage) > 0 {
		e.t.Errorf("examined with error %v: %q", err, damage)
	}
	return e.Store.Close()
}
