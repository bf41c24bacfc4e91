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

	"leasehold/shared/fault"
	"leasehold/shared/sqlfile"
)

// recipes is a format with the given steps of its schema.
func recipes(steps ...string) sqlfile.Format {
	files := fstest.MapFS{}
	for i, text := range steps {
		files[fmt.Sprintf("migrations/%04d_step.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return sqlfile.Format{Name: "cook book", ID: 77, Migrations: files}
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

func add(f *sqlfile.File, name string) func() error {
	return func() error { return f.Exec("INSERT INTO recipe VALUES (?)", name) }
}

func number(t *testing.T, f *sqlfile.File, query string) (n int64) {
	t.Helper()
	require.NoError(t, f.Use(t.Context(), query, func() (err error) {
		n, err = f.Number(query)
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

// refused sees that Open fails with kind and says the words.
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
	require.NoError(t, f.Change(t.Context(), "add", add(f, "soup")))
	require.NoError(t, f.Close())
	require.NoError(t, f.Close(), "closing twice")
	assert.EqualValues(t, 1, number(t, open(t, path, book), count))
}

func TestAChangeThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	f := open(t, sqlfile.Memory, book)
	burnt := errors.New("burnt")
	err := f.Change(t.Context(), "cook", func() error { return errors.Join(add(f, "soup")(), burnt) })
	require.ErrorIs(t, err, burnt)
	assert.ErrorContains(t, err, "cook")
	assert.Panics(t, func() {
		_ = f.Change(t.Context(), "cook", func() error { panic(errors.Join(add(f, "soup")(), burnt)) })
	})
	assert.Zero(t, number(t, f, count))
	require.NoError(t, f.Change(t.Context(), "add", add(f, "bread")), "after a panic")
}

func TestRowsAndNumbersOfRows(t *testing.T) {
	t.Parallel()
	f := open(t, sqlfile.Memory, book)
	require.NoError(t, f.Change(t.Context(), "all of them", func() error {
		for want, name := range []string{"soup", "bread", "salt"} {
			n, err := f.Insert("INSERT INTO recipe VALUES (?)", name)
			require.NoError(t, err)
			assert.EqualValues(t, want+1, n)
		}
		n, err := f.Affect("DELETE FROM recipe WHERE name LIKE 's%'")
		require.NoError(t, err)
		assert.EqualValues(t, 2, n)
		var name string
		found, err := f.One("SELECT name FROM recipe WHERE name = ?", []any{"bread"}, sqlfile.Into(&name))
		require.NoError(t, err)
		assert.True(t, found)
		assert.Equal(t, "bread", name)
		found, err = f.One("SELECT name FROM recipe WHERE name = ?", []any{"soup"}, sqlfile.Into(&name))
		require.NoError(t, err)
		assert.False(t, found)
		var all []string
		require.NoError(t, f.All("SELECT name FROM recipe", nil, func(r sqlfile.Row) error {
			all = append(all, "")
			return r.Scan(&all[len(all)-1])
		}))
		assert.Equal(t, []string{"bread"}, all)
		assert.ErrorContains(t, f.Exec("DELETE FROM nowhere"), "nowhere")
		return nil
	}))
}

func TestANoteDoesNotChangeHowTheNextOneIsKept(t *testing.T) {
	t.Parallel()
	f := open(t, newPath(t), book)
	for _, fails := range []error{nil, errors.New("a note that fails")} {
		err := f.Use(t.Context(), "note", func() error { return f.Note(func() error { return fails }) })
		require.ErrorIs(t, err, fails)
		const full = 2
		assert.EqualValues(t, full, number(t, f, "PRAGMA synchronous"))
	}
	assert.EqualValues(t, 1, number(t, f, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"))
}

func TestTheWaitForTheFileEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := open(t, sqlfile.Memory, book)
	require.NoError(t, f.Use(t.Context(), "first", func() error {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("no more time"))
		err := f.Use(ctx, "second", func() error { panic("it has not its turn") })
		assert.ErrorContains(t, err, "second: no more time")
		return nil
	}))
	require.NoError(t, f.Close())
	assert.ErrorIs(t, f.Use(t.Context(), "late", nil), fault.ErrClosed)
}

func TestACopyIsWhole(t *testing.T) {
	t.Parallel()
	f, path := open(t, newPath(t), book), newPath(t)
	require.NoError(t, f.Change(t.Context(), "add", add(f, "soup")))
	require.NoError(t, f.Copy(t.Context(), path))
	assert.EqualValues(t, 1, number(t, open(t, path, book), count))
	assert.ErrorContains(t, f.Copy(t.Context(), path), path, "a copy overwrites nothing")
}

func TestAFullDiskIsOverload(t *testing.T) {
	t.Parallel()
	f := open(t, newPath(t), book)
	number(t, f, fmt.Sprintf("PRAGMA max_page_count=%d", number(t, f, "PRAGMA page_count")))
	big := func() error { return f.Exec("INSERT INTO recipe VALUES (zeroblob(1000000))") }
	require.ErrorIs(t, f.Change(t.Context(), "add", big), fault.ErrOverloaded)
	number(t, f, "PRAGMA max_page_count=1000000")
	require.NoError(t, f.Change(t.Context(), "add", big), "with room again")
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
	require.NoError(t, open(t, path, book).Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 4096; i < len(content); i++ {
		content[i] = 0xa5
	}
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f := open(t, path, book)
	err = f.Use(t.Context(), "count", func() error { _, err := f.Number(count); return err })
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func TestAFolderOrAMissingFolderIsAnError(t *testing.T) {
	t.Parallel()
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no", "such", "book.db")} {
		_, err := sqlfile.Open(t.Context(), path, book)
		require.Error(t, err, path)
	}
}
