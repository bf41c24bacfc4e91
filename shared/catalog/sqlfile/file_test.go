package sqlfile_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
)

// recipes is a format with the given steps of its schema.
func recipes(steps ...string) sqlfile.Format {
	files := fstest.MapFS{}
	for i, text := range steps {
		files[fmt.Sprintf("migrations/%04d_step.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return sqlfile.Format{Name: "cook book", ID: 77, Schemas: []sqldb.Schema{{Name: "recipes", Migrations: files}}}
}

var book = recipes("CREATE TABLE recipe (name TEXT)")

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "book.db") }

func open(t *testing.T, path string, format sqlfile.Format) *sqlfile.File {
	t.Helper()
	f, err := sqlfile.Open(t.Context(), path, format)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func add(name string) func(*sqldb.Conn) error {
	return func(c *sqldb.Conn) error { return c.Exec("INSERT INTO recipe VALUES (?)", name) }
}

func number(t *testing.T, f *sqlfile.File, query string) (n int64) {
	t.Helper()
	require.NoError(t, f.Write(t.Context(), query, func(c *sqldb.Conn) (err error) {
		n, err = c.Number(query)
		return err
	}))
	return n
}

const count = "SELECT count(*) FROM recipe"

// raw changes a closed file behind its back.
func raw(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(query)
	require.NoError(t, err)
}

// refused checks that Open fails with kind and a message that has the words.
func refused(t *testing.T, path string, kind error, words ...string) {
	t.Helper()
	f, err := sqlfile.Open(t.Context(), path, book)
	if err == nil {
		f.Close()
	}
	require.ErrorIs(t, err, kind)
	for _, w := range words {
		assert.ErrorContains(t, err, w)
	}
}

func TestAChangeIsThereAfterReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder? with 100% of #signs; é", "book.db")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	f := open(t, path, book)
	require.NoError(t, f.Write(t.Context(), "add", add("soup")))
	require.NoError(t, f.Close())
	require.NoError(t, f.Close(), "closing twice")
	assert.EqualValues(t, 1, number(t, open(t, path, book), count))
}

func TestAChangeThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	f := open(t, sqlfile.Memory, book)
	burnt := errors.New("burnt")
	err := f.Write(t.Context(), "cook", func(c *sqldb.Conn) error { return errors.Join(add("soup")(c), burnt) })
	require.ErrorIs(t, err, burnt)
	assert.ErrorContains(t, err, "cook")
	assert.Panics(t, func() {
		_ = f.Write(t.Context(), "cook", func(c *sqldb.Conn) error { panic(errors.Join(add("soup")(c), burnt)) })
	})
	assert.Zero(t, number(t, f, count))
	require.NoError(t, f.Write(t.Context(), "add", add("bread")), "after a panic")
}

func TestRowsAndNumbersOfRows(t *testing.T) {
	t.Parallel()
	f := open(t, sqlfile.Memory, book)
	require.NoError(t, f.Write(t.Context(), "all of them", func(c *sqldb.Conn) error {
		for want, name := range []string{"soup", "bread", "salt"} {
			n, err := c.Insert("INSERT INTO recipe VALUES (?) RETURNING rowid", name)
			require.NoError(t, err)
			assert.EqualValues(t, want+1, n)
		}
		n, err := c.Affect("DELETE FROM recipe WHERE name LIKE 's%'")
		require.NoError(t, err)
		assert.EqualValues(t, 2, n)
		var name string
		found, err := c.One("SELECT name FROM recipe WHERE name = ?", []any{"bread"}, sqldb.Into(&name))
		require.NoError(t, err)
		assert.True(t, found)
		assert.Equal(t, "bread", name)
		found, err = c.One("SELECT name FROM recipe WHERE name = ?", []any{"soup"}, sqldb.Into(&name))
		require.NoError(t, err)
		assert.False(t, found)
		var all []string
		require.NoError(t, c.All("SELECT name FROM recipe", nil, func(r sqldb.Row) error {
			all = append(all, "")
			return r.Scan(&all[len(all)-1])
		}))
		assert.Equal(t, []string{"bread"}, all)
		return nil
	}))
}

func TestAStatementThatFailsMakesItsTransactionFail(t *testing.T) {
	t.Parallel()
	f := open(t, sqlfile.Memory, book)
	assert.ErrorContains(t, f.Write(t.Context(), "add", func(c *sqldb.Conn) error {
		require.NoError(t, add("soup")(c))
		assert.Error(t, c.Exec("DELETE FROM nowhere"))
		return nil
	}), "nowhere")
	assert.Zero(t, number(t, f, count))
	require.NoError(t, f.Write(t.Context(), "add", add("bread")))
}

func TestANoteDoesNotChangeHowTheNextOneIsKept(t *testing.T) {
	t.Parallel()
	f := open(t, newPath(t), book)
	for _, fails := range []error{nil, errors.New("a note that fails")} {
		err := f.Note(t.Context(), "note", func(*sqldb.Conn) error { return fails })
		require.ErrorIs(t, err, fails)
		const full = 2
		assert.EqualValues(t, full, number(t, f, "PRAGMA synchronous"))
	}
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"))
}

func TestTheWaitForTheFileEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := open(t, sqlfile.Memory, book)
	require.NoError(t, f.Write(t.Context(), "first", func(*sqldb.Conn) error {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("no more time"))
		err := f.Write(ctx, "second", func(*sqldb.Conn) error { panic("it has not its turn") })
		assert.ErrorContains(t, err, "second: no more time")
		return nil
	}))
	require.NoError(t, f.Close())
	assert.ErrorIs(t, f.Write(t.Context(), "late", nil), fault.ErrClosed)
	assert.ErrorIs(t, f.Read(t.Context(), "late", nil), fault.ErrClosed)
}

func TestACopyIsWhole(t *testing.T) {
	t.Parallel()
	f, path := open(t, newPath(t), book), newPath(t)
	require.NoError(t, f.Write(t.Context(), "add", add("soup")))
	require.NoError(t, f.Copy(t.Context(), path))
	assert.EqualValues(t, 1, number(t, open(t, path, book), count))
	assert.ErrorContains(t, f.Copy(t.Context(), path), path, "a copy overwrites nothing")
}

func TestAFullDiskIsOverload(t *testing.T) {
	t.Parallel()
	f := open(t, newPath(t), book)
	number(t, f, fmt.Sprintf("PRAGMA max_page_count=%d", number(t, f, "PRAGMA page_count")))
	big := func(c *sqldb.Conn) error { return c.Exec("INSERT INTO recipe VALUES (zeroblob(1000000))") }
	require.ErrorIs(t, f.Write(t.Context(), "add", big), fault.ErrOverloaded)
	number(t, f, "PRAGMA max_page_count=1000000")
	require.NoError(t, f.Write(t.Context(), "add", big), "with space again")
}

// A reader sees the last commit, and neither waits for the writer nor keeps it.
func TestAReaderSeesTheLastCommitBesideTheWriter(t *testing.T) {
	t.Parallel()
	f := open(t, newPath(t), book)
	seen := func(c *sqldb.Conn) (n int64) {
		n, err := c.Number(count)
		require.NoError(t, err)
		return n
	}
	require.NoError(t, f.Write(t.Context(), "outer", func(c *sqldb.Conn) error {
		require.NoError(t, add("soup")(c))
		return f.Read(t.Context(), "beside", func(r *sqldb.Conn) error {
			assert.Zero(t, seen(r), "it is not committed")
			return nil
		})
	}))
	require.NoError(t, f.Read(t.Context(), "outer", func(r *sqldb.Conn) error {
		assert.EqualValues(t, 1, seen(r))
		require.NoError(t, f.Write(t.Context(), "beside", add("bread")))
		assert.EqualValues(t, 1, seen(r), "a snapshot stays")
		return nil
	}))
	assert.Error(t, f.Read(t.Context(), "add", add("salt")), "a reader cannot write")
	assert.EqualValues(t, 2, number(t, f, count))
}

func TestStepsCommitInBetweenAndOthersWriteMeanwhile(t *testing.T) {
	t.Parallel()
	f := open(t, newPath(t), book)
	n, transactions := 0, 0
	require.NoError(t, f.Steps(t.Context(), "many", func(c *sqldb.Conn) (bool, error) {
		if n%1000 == 0 { // the first of a transaction, which has at most a thousand
			c.OnEnd(func(committed bool) {
				assert.True(t, committed)
				transactions++
			})
		}
		n++
		return n == 5000, c.Exec("INSERT INTO recipe VALUES (?)", n)
	}))
	assert.Equal(t, 5, transactions)
	assert.EqualValues(t, 5000, number(t, f, count))
	require.Positive(t, f.LongestWrite())
	burnt := errors.New("burnt")
	require.ErrorIs(t, f.Steps(t.Context(), "fail", func(c *sqldb.Conn) (bool, error) {
		c.OnEnd(func(committed bool) { assert.False(t, committed) })
		return false, errors.Join(add("soup")(c), burnt)
	}), burnt)
	assert.EqualValues(t, 5000, number(t, f, count))
}

// The log is written back while a reader needs an older part of it, and begins again
// once none does.
func TestTheLogStaysShort(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	f := open(t, path, book)
	big := func(c *sqldb.Conn) error { return c.Exec("INSERT INTO recipe VALUES (zeroblob(1000000))") }
	for range 80 {
		require.NoError(t, f.Write(t.Context(), "add", big))
	}
	log, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	assert.Less(t, log.Size(), int64(64<<20))
	require.NoError(t, f.Read(t.Context(), "long", func(c *sqldb.Conn) error {
		number(t, f, count)
		for range 40 {
			require.NoError(t, f.Write(t.Context(), "add", big))
		}
		return nil
	}))
	assert.EqualValues(t, 120, number(t, f, count))
}

func TestASecondHandleIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	f := open(t, path, book)
	refused(t, path, fault.ErrConflict, "another process or handle")
	assert.Zero(t, number(t, f, count), "the first handle goes on")
	require.NoError(t, f.Close())
	open(t, path, book)
}

// TestASecondProcessIsRefused runs this test again in another process, which
// tells what became of it.
func TestASecondProcessIsRefused(t *testing.T) {
	const key = "FILE_TO_OPEN"
	if path := os.Getenv(key); path != "" {
		refused(t, path, fault.ErrConflict)
		return
	}
	path := newPath(t)
	for _, state := range []string{"new", "reopened, only read"} {
		f := open(t, path, book)
		number(t, f, count)
		cmd := exec.Command(os.Args[0], "-test.run=^TestASecondProcessIsRefused$")
		cmd.Env = append(os.Environ(), key+"="+path)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", state, out)
		require.NoError(t, f.Close())
	}
}

func TestWhatIsNotOfTheFormatIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"a word": []byte("hello"),
		"text":   bytes.Repeat([]byte("these are not the bytes you are looking for\n"), 500),
		"zeros":  make([]byte, 8192),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			require.NoError(t, os.WriteFile(path, content, 0o600))
			refused(t, path, fault.ErrCorrupt)
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, content, got)
		})
	}
}

func TestAnotherProgramsDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	raw(t, path, "CREATE TABLE recipe (name TEXT)")
	refused(t, path, fault.ErrCorrupt, "not a cook book")
}

func TestADamagedFileIsCorrupt(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	f := open(t, path, book)
	big := func(c *sqldb.Conn) error { return c.Exec("INSERT INTO recipe VALUES (hex(zeroblob(3000)))") }
	for range 100 {
		require.NoError(t, f.Write(t.Context(), "add", big))
	}
	require.NoError(t, f.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := len(content) / 2; i < len(content); i++ {
		content[i] = 0xa5
	}
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f = open(t, path, book)
	err = f.Read(t.Context(), "count", func(c *sqldb.Conn) error { _, err := c.Number(count); return err })
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func TestAFolderOrAMissingFolderIsAnError(t *testing.T) {
	t.Parallel()
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no", "such", "book.db")} {
		_, err := sqlfile.Open(t.Context(), path, book)
		require.Error(t, err, path)
	}
}
