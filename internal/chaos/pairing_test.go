//go:build linux

package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/internal/binary"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/store"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/tuple"
)

// unmarkedFolder makes a data folder whose stores have no instance id yet. It
// has an origin, and a tuple in the space notes.
func unmarkedFolder(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	file, err := sqlfile.Open(t.Context(), filepath.Join(dir, "catalog.db"), store.Format(visits.Schema()))
	require.NoError(t, err)
	require.NoError(t, file.Write(t.Context(), "add an origin", func(c *sqldb.Conn) error {
		return c.Script(`INSERT INTO origin (id, kind, uri, priority, added_at, last_visit) VALUES ('o-1', 'api', 'curator', 0, 1, 0)`)
	}))
	require.NoError(t, file.Close())
	j, err := pebble.Open(pebble.Config{Dir: filepath.Join(dir, "journal")})
	require.NoError(t, err)
	require.NoError(t, j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{
		&journal.Space{Name: notes}, &journal.Entry{Ref: 1, Space: notes, Tuple: tuple.New("note", int64(1))},
	}}}))
	require.NoError(t, j.Close())
	stamp, err := os.ReadFile(filepath.Join(dir, "journal", "STAMP"))
	require.NoError(t, err)
	require.NotContains(t, string(stamp), "instance")
}

// TestAFolderGetsItsInstanceIDWhereverItIsKilled kills a coordinator at each
// step in which database and journal get their first mark, or a later one.
func TestAFolderGetsItsInstanceIDWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	kills := points(t, "shared/space/journal/pairing")
	require.Equal(t, []string{"pair.before", "pair.database", "pair.journal", "pair.after"}, kills)
	for _, first := range kills {
		h := newFixture(t, fastDetection...)
		unmarkedFolder(t, h.dir)
		for _, kill := range append([]string{first}, kills...) {
			h.start(kill + ":1")
			require.True(t, h.WaitEnd(binary.WaitLimit) && h.Killed(), "%s: %s", kill, h.Output())
		}
		h.mustStart()
		require.Equal(t, 1, h.notes(), first)
		origins, code := h.run("origin", "list", "--json")
		require.Zero(t, code, origins)
		require.Contains(t, origins, `"o-1"`)
		h.Kill()
		stamp, err := os.ReadFile(filepath.Join(h.dir, "journal", "STAMP"))
		require.NoError(t, err)
		require.Regexp(t, " instance [0-9a-f]{32} counter [0-9]+ ", string(stamp))
		require.NoError(t, os.RemoveAll(filepath.Join(h.dir, "journal")))
		h.start("")
		require.True(t, h.Ended(), "it has a mark now")
		require.Contains(t, h.Output(), "the journal (journal) is missing")
	}
}

// TestExchangedStoresAreRefusedOrRight kills a coordinator while notes and origins are
// added, keeps copies of its stores, and before some starts puts one back or deletes it. A
// start then has all that was added until the copies were made, or it is refused with the
// name of the store and an option, with which it starts.
func TestExchangedStoresAreRefusedOrRight(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	r := rand.New(rand.NewPCG(seed, 12))
	h := newFixture(t, fastDetection...)
	h.mustStart()
	c := h.mustDial("client", longTTL)
	require.NoError(t, c.Create(within(t), notes, space.Options{}))
	c.abandon()
	x := &exchange{fixture: h, r: r, copies: t.TempDir()}
	for end := time.Now().Add(*timeFlag); x.rounds < 6 || time.Now().Before(end); x.rounds++ {
		x.round()
	}
	t.Logf("%d rounds, %d refused", x.rounds, x.refused)
}

// exchange puts older copies of the stores back.
type exchange struct {
	*fixture
	r               *rand.Rand
	copies          string
	notes, origins  int // that must be there
	rounds, refused int
}

// folder is the copy of round n.
func (x *exchange) folder(n int) string { return filepath.Join(x.copies, fmt.Sprint(n)) }

func (x *exchange) round() {
	t := x.t
	x.notes++
	_, code := x.run("space", "put", notes, "note", fmt.Sprintf("%d", x.notes))
	require.Zero(t, code)
	x.origins++
	text, code := x.run("origin", "add", t.TempDir(), "--kind", "media")
	require.Zero(t, code, text)
	if x.r.IntN(3) == 0 {
		x.Signal(15)
		require.True(t, x.WaitEnd(binary.WaitLimit))
	} else {
		x.Kill()
	}
	require.NoError(t, os.CopyFS(x.folder(x.rounds), os.DirFS(x.dir)))
	what, undo := x.mistake()
	x.start("")
	if what != "" && !x.Ended() {
		require.FailNow(t, "it is accepted: "+what)
	}
	if what != "" {
		x.refused++
		require.Contains(t, x.Output(), what)
		require.Contains(t, x.Output(), "--accept-missing")
		require.Equal(t, 65, x.Code())
		undo()
		x.mustStart()
	}
	found, code := x.run("space", "count", notes, "note", "?int64")
	require.Zero(t, code)
	require.Equal(t, fmt.Sprint(x.notes), found)
	list, code := x.run("origin", "list", "--json")
	require.Zero(t, code)
	require.Equal(t, x.origins, strings.Count(list, `"uri"`), list)
}

// mistake does something to a store. It returns what must be reported, and a function that
// puts all back as it was.
func (x *exchange) mistake() (what string, undo func()) {
	t := x.t
	last := x.folder(x.rounds)
	undo = func() {
		for _, name := range []string{"catalog.db", "catalog.db-wal", "catalog.db-shm", "journal"} {
			require.NoError(t, os.RemoveAll(filepath.Join(x.dir, name)))
		}
		require.NoError(t, os.CopyFS(x.dir, existing(t, last, "catalog.db", "catalog.db-wal", "journal")))
	}
	remove := func(names ...string) {
		for _, name := range names {
			require.NoError(t, os.RemoveAll(filepath.Join(x.dir, name)))
		}
	}
	from := func(names ...string) {
		remove(names...)
		require.NoError(t, os.CopyFS(x.dir, existing(t, x.folder(x.r.IntN(x.rounds)), names...)))
	}
	n := x.r.IntN(6)
	if x.rounds == 0 && n >= 3 {
		n = 0
	}
	if _, err := os.Stat(filepath.Join(last, "catalog.db-wal")); n == 5 && err != nil {
		n = 4 // it was stopped, not killed
	}
	switch n {
	case 0:
		return "", undo
	case 1:
		remove("catalog.db")
		return "the database (catalog.db) is missing", undo
	case 2:
		remove("journal")
		return "the journal (journal) is missing", undo
	case 3:
		from("journal")
		return "the journal (journal) is older", undo
	case 5:
		present := readFile(t, filepath.Join(x.dir, "catalog.db"))
		from("catalog.db")
		if bytes.Equal(present, readFile(t, filepath.Join(x.dir, "catalog.db"))) {
			return "", undo // all that was written since is in the log, so the copy is as good
		}
		return "the database (catalog.db) and its log (catalog.db-wal) are of different times", undo
	}
	from("catalog.db", "catalog.db-wal", "catalog.db-shm")
	return "the database (catalog.db) is older", undo
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// existing copies what there is of names in a folder to a new one.
func existing(t *testing.T, dir string, names ...string) fs.FS {
	t.Helper()
	only := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case info.IsDir():
			require.NoError(t, os.CopyFS(filepath.Join(only, name), os.DirFS(path)))
		default:
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(only, name), data, 0o600))
		}
	}
	return os.DirFS(only)
}
