package embedded_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
	"leasehold/shared/fault"
)

// depot is a Depot in memory.
type depot struct {
	kept    map[string]embedded.Kept
	content map[string][]byte
	fails   func(name string) bool // which names it does not keep or drop
}

var errAway = errors.New("the database is away")

func newDepot() *depot {
	return &depot{kept: map[string]embedded.Kept{}, content: map[string][]byte{}}
}

func (d *depot) Keep(_ context.Context, f embedded.File, path string) error {
	if d.fails != nil && d.fails(f.Name) {
		return errAway
	}
	data, err := os.ReadFile(path)
	d.kept[f.Name] = embedded.Kept{File: f, Hash: sha256.Sum256(data), Bytes: int64(len(data))}
	d.content[f.Name] = data
	return err
}

func (d *depot) Drop(_ context.Context, names ...string) error {
	for _, name := range names {
		if d.fails != nil && d.fails(name) {
			return errAway
		}
		delete(d.kept, name)
		delete(d.content, name)
	}
	return nil
}

func (d *depot) all() (all []embedded.Kept) {
	for _, k := range d.kept {
		all = append(all, k)
	}
	return all
}

// takeOver aligns a folder with the depot and opens the index in it. It returns the files to be fetched.
func (d *depot) takeOver(t *testing.T, dir string) (*embedded.Index, []embedded.Kept) {
	t.Helper()
	lacking, err := embedded.Align(dir, d.all())
	require.NoError(t, err)
	x, err := embedded.Open(dir, embedded.Options{Depot: d})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x, lacking
}

// fetch has the index take in a file.
func (d *depot) fetch(t *testing.T, x *embedded.Index, k embedded.Kept) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), k.Name)
	require.NoError(t, os.WriteFile(path, d.content[k.Name], 0o600))
	return x.Adopt(t.Context(), k.File, path)
}

// count returns how many lines match a query.
func count(t *testing.T, x *embedded.Index, query string) (n int) {
	t.Helper()
	q, err := code.Parse(query)
	require.NoError(t, err)
	_, err = x.Search(t.Context(), q, code.Options{Timeout: time.Hour}, func(code.Match) bool { n++; return true })
	require.NoError(t, err)
	return n
}

func TestAnotherProcessFindsInTheDepotAllThatWasPublished(t *testing.T) {
	t.Parallel()
	d := newDepot()
	a, lacking := d.takeOver(t, t.TempDir())
	require.Empty(t, lacking)
	for n := range 5 {
		require.NoError(t, put(a, fmt.Sprint("r", n), fmt.Sprint("needle ", n)))
	}
	require.NoError(t, a.DropRepo(t.Context(), "r4"))

	b, lacking := d.takeOver(t, t.TempDir())
	require.Len(t, lacking, 4+5, "the segment of a dropped repository stays until it is merged")
	for i, k := range lacking {
		require.Equal(t, i < 4, k.IsGeneration(), "generations first")
		require.NotZero(t, missing(t, b, "needle"), "searches tell that they are not over everything")
		require.NoError(t, d.fetch(t, b, k))
	}
	require.Zero(t, missing(t, b, "needle"))
	require.Equal(t, 4, count(t, b, "needle"))
	require.NoError(t, put(b, "r5", "needle 5"), "it goes on")
	require.Contains(t, d.kept, lacking[0].Name)

	c, lacking := d.takeOver(t, t.TempDir())
	for _, k := range lacking {
		require.NoError(t, d.fetch(t, c, k))
	}
	require.Equal(t, 5, count(t, c, "needle"))
}

func TestAFolderFromBeforeIsAlignedWithTheDepot(t *testing.T) {
	t.Parallel()
	d, dir := newDepot(), t.TempDir()
	a, _ := d.takeOver(t, dir)
	require.NoError(t, put(a, "old", "needle 1"))
	require.NoError(t, put(a, "changed", "needle 2"))
	require.NoError(t, a.Close())

	b, lacking := d.takeOver(t, t.TempDir()) // another member serves meanwhile
	for _, k := range lacking {
		require.NoError(t, d.fetch(t, b, k))
	}
	require.NoError(t, put(b, "changed", "needle 3"))
	require.NoError(t, b.DropRepo(t.Context(), "old"))
	merged, err := b.MergeAll(t.Context())
	require.NoError(t, err)
	require.True(t, merged)
	require.NoError(t, b.Close())

	c, lacking := d.takeOver(t, dir)
	require.Len(t, lacking, 2, "the generation that changed, and the merged segment")
	for _, k := range lacking {
		require.NoError(t, d.fetch(t, c, k))
	}
	require.Zero(t, missing(t, c, "needle"))
	require.Equal(t, 1, count(t, c, "needle"))
}

func TestAChangeThatTheDepotDoesNotKeepFails(t *testing.T) {
	t.Parallel()
	d, dir := newDepot(), t.TempDir()
	x, _ := d.takeOver(t, dir)
	require.NoError(t, put(x, "a", "needle 1"))
	d.fails = func(string) bool { return true }
	require.ErrorIs(t, put(x, "b", "needle 2"), errAway)
	require.ErrorIs(t, x.DropRepo(t.Context(), "a"), errAway)
	_, err := x.MergeAll(t.Context())
	require.ErrorIs(t, err, errAway)
	d.fails = func(name string) bool { return filepath.Ext(name) == ".generation" }
	require.ErrorIs(t, put(x, "a", "needle 1 and needle 3"), errAway)
	require.Equal(t, 1, count(t, x, "needle"))
	require.NoError(t, x.Close())
	d.fails = nil
	x, lacking := d.takeOver(t, dir)
	require.Len(t, lacking, 1, "the generation that the folder got and the depot did not")
	require.NoError(t, d.fetch(t, x, lacking[0]))
	require.Zero(t, missing(t, x, "needle"))
	require.Equal(t, 1, count(t, x, "needle"))
}

func TestFilesOfADepotThatAreDamagedAreRefused(t *testing.T) {
	t.Parallel()
	d := newDepot()
	a, _ := d.takeOver(t, t.TempDir())
	require.NoError(t, put(a, "a", "needle 1"))
	b, lacking := d.takeOver(t, t.TempDir())
	for _, k := range lacking {
		whole := d.content[k.Name]
		damaged := append([]byte{}, whole...)
		damaged[len(damaged)/2] ^= 1
		d.content[k.Name] = damaged
		require.ErrorIs(t, d.fetch(t, b, k), fault.ErrCorrupt, k.Name)
		d.content[k.Name] = whole
		require.NoError(t, d.fetch(t, b, k))
	}
	require.Equal(t, 1, count(t, b, "needle"))
	_, err := embedded.Align(t.TempDir(), []embedded.Kept{{File: embedded.File{Name: "../journal/x.segment"}}})
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// A crash between the keeping of a merged segment and the removal of those that it replaces leaves both.
func TestASegmentThatWasMergedIsNotTakenIn(t *testing.T) {
	t.Parallel()
	d := newDepot()
	a, _ := d.takeOver(t, t.TempDir())
	require.NoError(t, put(a, "a", "needle 1"))
	require.NoError(t, put(a, "b", "needle 2"))
	before, content := d.all(), map[string][]byte{}
	for name, data := range d.content {
		content[name] = data
	}
	_, err := a.MergeAll(t.Context())
	require.NoError(t, err)
	for _, k := range before {
		d.kept[k.Name], d.content[k.Name] = k, content[k.Name]
	}
	b, lacking := d.takeOver(t, t.TempDir())
	for _, k := range lacking {
		require.NoError(t, d.fetch(t, b, k))
	}
	require.Equal(t, 2, count(t, b, "needle"))
	require.Len(t, d.kept, 3, "two generations and the merged segment")
}
