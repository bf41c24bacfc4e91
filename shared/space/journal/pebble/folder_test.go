package pebble_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/tuple"
)

const dir = "journal"

// folder is the content of a journal's files, by name.
type folder map[string][]byte

// folderOf reads the files of a journal, as a crash would leave them: at a moment
// at which the store writes nothing.
func folderOf(t testing.TB, fs vfs.FS) folder {
	t.Helper()
	var last folder
	for {
		names, err := fs.List(dir)
		require.NoError(t, err)
		all, ok := readAll(t, fs, names)
		if ok && maps.EqualFunc(last, all, bytes.Equal) {
			return all
		}
		last = all
	}
}

// readAll reads files, unless one is gone.
func readAll(t testing.TB, fs vfs.FS, names []string) (folder, bool) {
	t.Helper()
	all := folder{}
	for _, name := range names {
		f, err := fs.Open(path.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			return nil, false
		}
		require.NoError(t, err)
		all[name], err = io.ReadAll(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return all, true
}

// with is a copy in which one file is another; without content it is gone.
func (f folder) with(name string, content []byte) folder {
	changed := folder{}
	for n, c := range f {
		changed[n] = c
	}
	changed[name] = content
	if content == nil {
		delete(changed, name)
	}
	return changed
}

// flipped is a copy in which one bit of a file is the other way.
func (f folder) flipped(name string, bit int) folder {
	content := append([]byte{}, f[name]...)
	content[bit/8] ^= 1 << (bit % 8)
	return f.with(name, content)
}

// disk puts the files onto a new file system.
func (f folder) disk(t testing.TB) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	require.NoError(t, fs.MkdirAll(dir, 0o700))
	for name, content := range f {
		w, err := fs.Create(path.Join(dir, name), vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		_, err = w.Write(append([]byte{}, content...))
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return fs
}

// named returns the files with that ending, in order.
func (f folder) named(ending string) (names []string) {
	for n := range f {
		if path.Ext(n) == ending {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// fill commits records from one position to another, each one tuple with
// the number of it is.
func fill(t testing.TB, j journal.Journal, from, to int, size int) {
	t.Helper()
	for n := from; n < to; n++ {
		facts := []journal.Fact{&journal.Entry{Ref: int64(n + 1), Space: "s", Tuple: tuple.New(fmt.Sprintf("%0*d", size, n))}}
		if n == 0 {
			facts = append(facts, &journal.Space{Name: "s"})
		}
		require.NoError(t, j.Commit(t.Context(), journal.Position(n), []journal.Record{{Facts: facts}}))
	}
}

// held returns where a journal stands and how many of the tuples that fill put
// are there without a gap; it fails if others are.
func held(t testing.TB, j journal.Journal) (journal.Position, int) {
	t.Helper()
	refs := map[int64]bool{}
	standing, err := j.Load(context.Background(), func(f journal.Fact) error {
		if e, ok := f.(*journal.Entry); ok {
			refs[e.Ref] = true
		}
		return nil
	})
	require.NoError(t, err)
	for n := range len(refs) {
		require.True(t, refs[int64(n+1)], "tuple %d is missing, of %d", n+1, len(refs))
	}
	return standing.Position, len(refs)
}

// try opens the journal on a disk, and loads it.
func try(fs vfs.FS) (journal.Position, map[int64]bool, error) {
	j, err := pebble.Open(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = j.Close() }()
	refs := map[int64]bool{}
	standing, err := j.Load(context.Background(), func(f journal.Fact) error {
		if e, ok := f.(*journal.Entry); ok {
			refs[e.Ref] = true
		}
		return nil
	})
	return standing.Position, refs, err
}
