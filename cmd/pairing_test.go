package cmd

import (
	"fmt"
	"leasehold/shared/process/datadir"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// pairFixture has data folders of one coordinator: c, in which a space has two tuples and
// the catalog one origin, and older, a copy from before the second tuple and the origin.
// Foreign is of another coordinator.
type pairFixture struct {
	testing.TB
	dir, program string
}

var coordinatorArgs = []string{"coordinator", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data"}

func newPairFixture(t *testing.T) *pairFixture {
	dir := t.TempDir()
	f := &pairFixture{t, dir, filepath.Join(realBinary(t), "leasehold")}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "feed.xml"), []byte(`<rss version="2.0"><channel><title>t</title></channel></rss>`), 0o600))
	f.whileRunning("c", func() { f.must("space", "put", "result", "note", "one", "--data", "c") })
	f.copy("c", "older")
	f.whileRunning("c", func() {
		f.must("space", "put", "result", "note", "two", "--data", "c")
		f.must("origin", "add", "feed.xml", "--data", "c")
	})
	f.whileRunning("foreign", func() {})
	return f
}

func (f *pairFixture) copy(from, to string) {
	f.Helper()
	require.NoError(f, os.RemoveAll(filepath.Join(f.dir, to)))
	info, err := os.Stat(filepath.Join(f.dir, from))
	require.NoError(f, err)
	if info.IsDir() {
		require.NoError(f, os.CopyFS(filepath.Join(f.dir, to), os.DirFS(filepath.Join(f.dir, from))))
		require.NoError(f, os.Chmod(filepath.Join(f.dir, to), 0o700))
		return
	}
	data, err := os.ReadFile(filepath.Join(f.dir, from))
	require.NoError(f, err)
	require.NoError(f, os.WriteFile(filepath.Join(f.dir, to), data, 0o600))
}

// run runs a command, and returns its exit code and all that it printed.
func (f *pairFixture) run(args ...string) (code int, printed string) {
	f.Helper()
	p := start(f, f.dir, f.program, args...)
	state := p.end()
	return state.ExitCode(), p.text()
}

func (f *pairFixture) must(args ...string) {
	f.Helper()
	code, printed := f.run(args...)
	require.Zero(f, code, printed)
}

// serve starts a coordinator on a data folder, and returns when it serves.
func (f *pairFixture) serve(data string, args ...string) *process {
	f.Helper()
	file := filepath.Join(f.dir, data, datadir.AddressFile)
	require.NoError(f, os.RemoveAll(file)) // a process that was killed has left it
	p := start(f, f.dir, f.program, append(append(coordinatorArgs, data), args...)...)
	p.await(func() (string, bool) { _, err := os.Stat(file); return p.text(), err == nil }, file)
	return p
}

// whileRunning calls do while a coordinator runs on a data folder, stops it, and returns
// its log.
func (f *pairFixture) whileRunning(data string, do func(), args ...string) (log string) {
	f.Helper()
	p := f.serve(data, args...)
	do()
	p.signal(syscall.SIGTERM)
	require.Zero(f, p.end().ExitCode(), p.text())
	return p.text()
}

// variable is what differs from run to run.
var variable = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|instance [0-9a-f]{8}|records: \d+|/\S*/d\b`)

func stable(text string) string {
	return variable.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case strings.HasPrefix(s, "instance"):
			return "instance ID"
		case strings.HasPrefix(s, "records"):
			return "records: N"
		case strings.HasPrefix(s, "/"):
			return "DATA"
		}
		return "TIME"
	})
}

// TestAStoreThatIsMissingOrExchangedIsNamedAtStart does to each store what an operator may
// do by mistake. The start is refused with the reason, and nothing is changed; the catalog can
// be read if it is there; with the option in the message the coordinator starts.
func TestAStoreThatIsMissingOrExchangedIsNamedAtStart(t *testing.T) {
	t.Parallel()
	f := newPairFixture(t)
	stores := map[string]string{"database": "catalog.db", "journal": "journal"}
	var messages strings.Builder
	for _, store := range []string{"database", "journal"} {
		path := filepath.Join("d", stores[store])
		for _, mistake := range []struct {
			name string
			make func()
		}{
			{"missing", func() { require.NoError(t, os.RemoveAll(filepath.Join(f.dir, path))) }},
			{"empty", func() {
				require.NoError(t, os.RemoveAll(filepath.Join(f.dir, path)))
				if store == "journal" {
					require.NoError(t, os.Mkdir(filepath.Join(f.dir, path), 0o700))
				} else {
					require.NoError(t, os.WriteFile(filepath.Join(f.dir, path), nil, 0o600))
				}
			}},
			{"older", func() { f.copy(filepath.Join("older", stores[store]), path) }},
			{"foreign", func() { f.copy(filepath.Join("foreign", stores[store]), path) }},
		} {
			name := store + " " + mistake.name
			f.copy("c", "d")
			mistake.make()
			code, printed := f.run(append(coordinatorArgs, "d")...)
			require.Equal(t, 65, code, "%s: %s", name, printed)
			fmt.Fprintf(&messages, "%s\n%s\n", name, stable(printed))

			code, printed = f.run("origin", "list", "--data", "d")
			if store == "database" && (mistake.name == "missing" || mistake.name == "empty") {
				require.Equal(t, 65, code, "%s: no command makes a new database: %s", name, printed)
			} else {
				require.Zero(t, code, "%s: the catalog can be read: %s", name, printed)
			}
			code, _ = f.run("backup", "copy", "--data", "d")
			require.Equal(t, 65, code, "%s: the stores do not belong together", name)

			log := f.whileRunning("d", func() {}, "--accept-missing", store)
			require.Contains(t, log, "going on without", name)
			log = f.whileRunning("d", func() {}, "--accept-missing", store)
			require.Contains(t, log, "remove the option --accept-missing", name)
			f.whileRunning("d", func() {})
			aside, err := filepath.Glob(filepath.Join(f.dir, path+".aside-1"))
			require.NoError(t, err)
			require.Equal(t, mistake.name == "foreign" || mistake.name == "empty", len(aside) == 1, "%s: %v", name, aside)
		}
	}
	golden(t, "mismatch.txt", messages.String())
}

func TestTheOptionForOneStoreDoesNotAcceptTheLossOfTheOther(t *testing.T) {
	t.Parallel()
	f := newPairFixture(t)
	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, "c/journal")))
	code, printed := f.run(append(coordinatorArgs, "c", "--accept-missing", "database")...)
	require.Equal(t, 65, code, printed)
	require.Contains(t, printed, "--accept-missing journal")
}

// TestARestoredFolderIsAPairOfItsOwn restores a backup that was made while the coordinator
// ran. It starts; its stores and those of the original are foreign to each other.
func TestARestoredFolderIsAPairOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newPairFixture(t)
	f.whileRunning("c", func() { f.must("backup", "kept", "--data", "c") })
	manifest, err := os.ReadFile(filepath.Join(f.dir, "kept/BACKUP"))
	require.NoError(t, err)
	require.Regexp(t, `"instance": "[0-9a-f]{32}",\s+"counter": \d+,`, string(manifest))
	f.must("restore", "kept", "--data", "d")
	f.whileRunning("d", func() {})
	f.copy("c/catalog.db", "d/catalog.db")
	code, printed := f.run(append(coordinatorArgs, "d")...)
	require.Equal(t, 65, code, printed)
	require.Contains(t, printed, "belong to different data folders")
}

// TestACommandThatChangesTheCatalogRaisesTheCounter changes the catalog while no coordinator runs, and puts
// the older one back.
func TestACommandThatChangesTheCatalogRaisesTheCounter(t *testing.T) {
	t.Parallel()
	f := newPairFixture(t)
	f.copy("c/catalog.db", "before.db")
	f.must("origin", "list", "--data", "c")
	f.copy("before.db", "c/catalog.db")
	f.whileRunning("c", func() {}) // reading raises nothing
	f.copy("c/catalog.db", "before.db")
	require.NoError(t, os.Mkdir(filepath.Join(f.dir, "more"), 0o700))
	f.must("origin", "add", "more", "--kind", "media", "--data", "c")
	f.copy("before.db", "c/catalog.db")
	code, printed := f.run(append(coordinatorArgs, "c")...)
	require.Equal(t, 65, code, printed)
	require.Contains(t, printed, "the database (catalog.db) is older than the journal")
}

// TestADatabaseThatIsExchangedBesideItsLogIsNamedAtStart exchanges only the database or only
// its log, of a coordinator that was killed, with an older copy. SQLite would take the two for
// one database. The refused start changes nothing, so the next one is refused too.
func TestADatabaseThatIsExchangedBesideItsLogIsNamedAtStart(t *testing.T) {
	t.Parallel()
	f := newPairFixture(t)
	kill := func() {
		p := f.serve("c")
		f.must("origin", "add", t.TempDir(), "--kind", "media", "--data", "c")
		p.signal(syscall.SIGKILL)
		p.end()
	}
	kill()
	f.copy("c", "killed")
	kill()
	f.copy("c", "ended")
	f.whileRunning("ended", func() {})
	for _, exchanged := range []struct{ name, of, from, file string }{
		{"database", "c", "older", "catalog.db"},
		{"database of a process that was killed", "c", "killed", "catalog.db"},
		{"log", "ended", "killed", "catalog.db-wal"},
	} {
		f.copy(exchanged.of, "d")
		f.copy(filepath.Join(exchanged.from, exchanged.file), filepath.Join("d", exchanged.file))
		for range 2 {
			code, printed := f.run(append(coordinatorArgs, "d")...)
			require.Equal(t, 65, code, "%s: %s", exchanged.name, printed)
			require.Contains(t, printed, "the database (catalog.db) and its log (catalog.db-wal) are of different times", exchanged.name)
			require.Contains(t, printed, "--accept-missing database", exchanged.name)
		}
		code, printed := f.run("origin", "list", "--data", "d")
		require.Equal(t, 65, code, "%s: reading would mix them: %s", exchanged.name, printed)
		log := f.whileRunning("d", func() {}, "--accept-missing", "database")
		require.Contains(t, log, "catalog.db.aside-1-wal", exchanged.name)
		f.whileRunning("d", func() {})
	}
}
