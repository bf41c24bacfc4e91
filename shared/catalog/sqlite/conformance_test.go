package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"leasehold/shared/catalog"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/catalog/sqlite"
)

func TestStoreIsACatalog(t *testing.T) {
	t.Parallel()
	catalogtest.Exercise(t, func(t *testing.T) catalog.Catalog {
		s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "catalog.db"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
