package sqlite

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"leasehold/shared/sqlfile"
)

func schemaOf(t *testing.T, s *Store) (lines []string) {
	t.Helper()
	err := s.use(t.Context(), "schema", func(c *session) error {
		return c.All("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name", nil, func(row scanner) error {
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
	err := s.use(t.Context(), query, func(c *session) (err error) {
		n, err = c.Number(query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

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
			path, older, files := newPath(t), format, fstest.MapFS{}
			for _, f := range all[:version] {
				text, err := migrations.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				files[f] = &fstest.MapFile{Data: text}
			}
			older.Migrations = files
			file, err := sqlfile.Open(t.Context(), path, older)
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			if got := schemaOf(t, openStore(t, path)); !slices.Equal(got, want) {
				t.Fatalf("got %q\nwant %q", got, want)
			}
		})
	}
}
