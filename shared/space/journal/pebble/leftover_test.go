package pebble_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
)

// removals keeps the tables that are removed from a disk.
type removals struct {
	vfs.FS
	mu     sync.Mutex // guards tables
	tables folder
}

// Remove keeps the content of each table that it removes, so that the test can put it back.
func (k *removals) Remove(name string) error {
	if strings.HasSuffix(name, ".sst") {
		f, err := k.Open(name)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		k.mu.Lock()
		k.tables[k.PathBase(name)] = data
		k.mu.Unlock()
	}
	return k.FS.Remove(name)
}

// TestARepairWithoutAManifestBringsNothingBackFromLeftTables leaves tables that a compaction has replaced in the
// folder, as a process killed before it removes them would, and takes away what tells that they were replaced: the
// manifest, its beginning, or its newest records. A repair then has exactly the tuples that were there, or it is
// refused with the name of a table.
func TestARepairWithoutAManifestBringsNothingBackFromLeftTables(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(2, seed))
		kept := &removals{FS: vfs.NewMem(), tables: folder{}}
		moments, h := aged(t, r, kept, 2<<20)
		f, end := moments[len(moments)-1].folder, journal.Position(len(h))
		maps.DeleteFunc(kept.tables, func(name string, _ []byte) bool { return f[name] != nil }) // its number was used again
		require.NotEmpty(t, kept.tables)
		manifest := manifestOf(f)
		outcomes := map[string]int{}
		for _, left := range append(subsets(r, kept.tables, 20), nil) {
			with := f
			for name, content := range left {
				with = with.with(name, content)
			}
			for what, damaged := range map[string]folder{
				"no manifest":            with.with(manifest, nil),
				"its beginning is gone":  with.flipped(manifest, 8*20),
				"an empty manifest":      with.with(manifest, []byte{}),
				"a flip in its middle":   with.flipped(manifest, 8*len(f[manifest])/2),
				"an older copy":          with.with(manifest, moments[0].folder[manifestOf(moments[0].folder)]),
				"a cut behind its start": with.with(manifest, f[manifest][:len(f[manifest])/2]),
			} {
				msg := fmt.Sprintf("seed %d, left %v: %s", seed, left.named(".sst"), what)
				fs := damaged.disk(t)
				_, err := pebble.Repair(pebble.Config{Dir: dir, FS: fs, Log: quiet})
				if err != nil {
					require.ErrorIs(t, err, fault.ErrCorrupt, msg)
					require.NotEmpty(t, left, "%s: nothing is left over, so nothing is in doubt: %v", msg, err)
					outcomes["refused"]++
					continue
				}
				position, refs, err := try(fs)
				require.NoError(t, err, msg)
				require.Equal(t, end, position, msg)
				require.Equal(t, h.after(end, nil), refs, msg)
				outcomes["repaired"]++
			}
		}
		t.Log(outcomes)
	}
}

// subsets returns each of the tables alone, and n random sets of them.
func subsets(r *rand.Rand, tables folder, n int) (all []folder) {
	names := tables.named(".sst")
	for _, name := range names {
		all = append(all, folder{name: tables[name]})
	}
	for range n {
		some := folder{}
		for _, name := range names {
			if r.IntN(3) == 0 {
				some[name] = tables[name]
			}
		}
		all = append(all, some)
	}
	return all
}

// manifestOf returns the name of the newest manifest in a folder.
func manifestOf(f folder) (newest string) {
	for name := range f {
		if strings.HasPrefix(name, "MANIFEST-") && name > newest {
			newest = name
		}
	}
	return newest
}
