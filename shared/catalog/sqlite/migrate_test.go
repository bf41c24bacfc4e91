package sqlite

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"leasehold/shared/catalog/sqlfile"
)

func schemaOf(t *testing.T, s *Store) (lines []string) {
	t.Helper()
	err := s.file.Write(t.Context(), "schema", func(c *sqlfile.Conn) error {
		return c.All("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name", nil, func(row sqlfile.Row) error {
			var l string
			err := row.Scan(&l)
			lines = append(lines, l)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// number reads one number and fails the test on an error.
func number(t testing.TB, s *Store, query string) (n int64) {
	t.Helper()
	err := s.file.Write(t.Context(), query, func(c *sqlfile.Conn) (err error) {
		n, err = c.Number(query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An older program had no table of versions, and no other schema in the file.
func TestEachOlderVersionIsBroughtToTheNewest(t *testing.T) {
	t.Parallel()
	all, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	want := schemaOf(t, openStore(t, newPath(t)))
	for version := range len(all) {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			for i, f := range all[:version] {
				text, err := migrations.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				raw(t, path, fmt.Sprintf("%s; PRAGMA application_id=%d; PRAGMA user_version=%d", text, Format().ID, i+1))
			}
			if got := schemaOf(t, openStore(t, path)); !slices.Equal(got, want) {
				t.Fatalf("got %q\nwant %q", got, want)
			}
		})
	}
}
