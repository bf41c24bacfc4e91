package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"testing/fstest"

	"leasehold/shared/fault"
)

// steps makes migrations of some texts, numbered from 1.
func steps(texts ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i, text := range texts {
		files[fmt.Sprintf("migrations/%04d_step.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func newSession(t *testing.T, path string) *session {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c := &session{conn: conn, stmts: map[string]*sql.Stmt{}}
	t.Cleanup(func() { c.close(); db.Close() })
	return c
}

// number reads one number and fails the test on an error.
func number(t testing.TB, c *session, query string) int64 {
	t.Helper()
	n, err := c.number(query)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func schemaOf(t *testing.T, s *Store) (lines []string) {
	t.Helper()
	err := s.session.all("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name", nil, func(row scanner) error {
		var l string
		err := row.Scan(&l)
		lines = append(lines, l)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestEachOlderVersionIsBroughtToTheNewest(t *testing.T) {
	t.Parallel()
	all, err := migrationFiles(migrations)
	if err != nil {
		t.Fatal(err)
	}
	want := schemaOf(t, openStore(t, newPath(t)))
	for version := range len(all) {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			old := fstest.MapFS{}
			for _, f := range all[:version] {
				text, err := migrations.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				old[f] = &fstest.MapFile{Data: text}
			}
			c := newSession(t, path)
			if err := migrate(c, old); err != nil {
				t.Fatal(err)
			}
			c.close()
			if got := schemaOf(t, openStore(t, path)); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("got %q\nwant %q", got, want)
			}
		})
	}
}

func TestMigrationGoesOnFromTheVersionItFinds(t *testing.T) {
	t.Parallel()
	c := newSession(t, newPath(t))
	one, two := "CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO b VALUES (7)"
	for _, files := range []fstest.MapFS{steps(one), steps(one, two), steps(one, two)} {
		if err := migrate(c, files); err != nil {
			t.Fatal(err)
		}
	}
	if v, n := number(t, c, "PRAGMA user_version"), number(t, c, "SELECT count(*) FROM b"); v != 2 || n != 1 {
		t.Fatalf("version %d with %d rows", v, n)
	}
}

func TestAStepThatFailsIsUndoneAndTheStepsBeforeItStay(t *testing.T) {
	t.Parallel()
	c := newSession(t, newPath(t))
	if err := migrate(c, steps("CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)")); err == nil {
		t.Fatal("no error")
	}
	if v, n := number(t, c, "PRAGMA user_version"), number(t, c, "SELECT count(*) FROM sqlite_schema"); v != 1 || n != 1 {
		t.Fatalf("version %d with %d tables", v, n)
	}
	if err := migrate(c, steps("CREATE TABLE a (x)", "CREATE TABLE b (x)")); err != nil {
		t.Fatalf("once the step is mended: %v", err)
	}
}

func TestMigrationsAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	files := steps("SELECT 1", "SELECT 1", "SELECT 1")
	delete(files, "migrations/0002_step.sql")
	if _, err := migrationFiles(files); err == nil {
		t.Fatal("no error")
	}
}

func TestANewerVersionIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if err := openStore(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, path, "PRAGMA user_version=99")
	refused(t, path, fault.ErrInvalid, "version 99", "up to 1")
}
