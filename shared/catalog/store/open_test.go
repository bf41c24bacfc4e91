package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// openStore opens a catalog, which closes with the test.
func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "catalog.db") }

// raw changes a closed catalog behind its back.
// number reads one number and fails the test on an error.
func number(t testing.TB, s *Store, query string) (n int64) {
	t.Helper()
	err := s.db.Write(t.Context(), query, func(c *sqldb.Conn) (err error) {
		n, err = c.Number(query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func raw(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func TestACatalogIsThereAfterReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder? with 100% of #signs; é", "catalog.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	origin := models.Origin{ID: "a", Kind: models.Feed, URI: "u"}
	if _, err := s.AddOrigin(context.Background(), origin); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := openStore(t, path).Origin(context.Background(), "a")
	if err != nil || got.URI != "u" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestADamagedBitmapIsCorrupt(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openStore(t, path)
	fill(t, s, 1, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, path, "INSERT OR REPLACE INTO researched VALUES (1, x'0badbadbadbad0')")
	s = openStore(t, path)
	if _, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 1}); !errors.Is(err, fault.ErrCorrupt) {
		t.Fatalf("got %v", err)
	}
}
