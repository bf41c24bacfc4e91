package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"leasehold/shared/catalog"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/fault"
)

func TestStoreIsACatalog(t *testing.T) {
	t.Parallel()
	catalogtest.Exercise(t, func(t *testing.T) catalog.Catalog {
		s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "catalog.db"))
		if err != nil {
			t.Fatal(err)
		}
		return examined{s, t}
	})
}

// examined is a store that is examined before it is closed, because whatever the suite does must not look like
// damage.
type examined struct {
	*sqlite.Store
	t *testing.T
}

func (e examined) Close() error {
	damage, err := e.Examine(context.Background())
	if err != nil && !errors.Is(err, fault.ErrClosed) || len(damage) > 0 {
		e.t.Errorf("examined with error %v: %q", err, damage)
	}
	return e.Store.Close()
}
