package pebble_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/tuple"
)

// history is what each record of a journal did: it put the tuple with the ref, or took it
// if the ref is negative.
type history []int64

// after returns the tuples that are there if the records in the gaps, and those behind
// end, did not happen.
func (h history) after(end journal.Position, gaps []pebble.Gap) map[int64]bool {
	tuples := map[int64]bool{}
	for n, ref := range h[:end] {
		lost := slices.ContainsFunc(gaps, func(g pebble.Gap) bool { return journal.Position(n) >= g.From && journal.Position(n) < g.To })
		switch {
		case lost:
		case ref > 0:
			tuples[ref] = true
		default:
			delete(tuples, -ref)
		}
	}
	return tuples
}

// moment is the folder of a journal, and the number of records that were committed then.
type moment struct {
	folder
	end journal.Position
}

// aged returns one journal that puts and takes, from early to late: as a kill leaves it
// while it writes, or after a start, and at last closed. On a small disk it compacts its
// tables all the time; on a large one the records stay in its logs until the next start.
func aged(t *testing.T, r *rand.Rand, disk vfs.FS, size uint64) (moments []moment, h history) {
	t.Helper()
	fs := &smallDisk{FS: disk}
	fs.total.Store(size)
	fs.free.Store(size)
	open := func() *pebble.Journal {
		j, err := pebble.Open(pebble.Config{Dir: dir, FS: fs, Log: quiet})
		require.NoError(t, err)
		return j
	}
	j := open()
	keep := func() {
		moments = append(moments, moment{folderOf(t, fs).with("RESERVE", nil), journal.Position(len(h))})
	}
	const records = 3000
	var present []int64
	for n := range records {
		var facts []journal.Fact
		if ref := int64(n + 1); n < 100 || r.IntN(100) < 55 {
			facts = append(facts, &journal.Entry{Ref: ref, Space: "s", Tuple: tuple.New(fmt.Sprintf("%0*d", 50+r.IntN(200), n))})
			present, h = append(present, ref), append(h, ref)
		} else {
			at := r.IntN(len(present))
			facts = append(facts, journal.Gone(present[at]))
			h = append(h, -present[at])
			present = slices.Delete(present, at, at+1)
		}
		if n == 0 {
			facts = append(facts, &journal.Space{Name: "s"})
		}
		record := journal.Record{Clock: time.Duration(n) * time.Millisecond, Facts: facts}
		require.NoError(t, j.Commit(t.Context(), journal.Position(n), []journal.Record{record}))
		switch n % 1000 {
		case 499:
			keep()
		case 999:
			require.NoError(t, j.Close()) // it writes a stamp
			j = open()
			keep()
		}
	}
	require.NoError(t, j.Close())
	keep()
	return moments, h
}

// corrupt returns a folder with one corruption, and the names of the files in it.
func corrupt(r *rand.Rand, f folder, older []moment) (damaged folder, what string, files []string) {
	names := slices.Sorted(maps.Keys(f))
	names = slices.DeleteFunc(names, func(n string) bool { return n == "LOCK" })
	name := names[r.IntN(len(names))]
	content := f[name]
	switch r.IntN(6) {
	case 0, 1:
		if len(content) > 0 {
			bit := r.IntN(8 * len(content))
			return f.flipped(name, bit), fmt.Sprintf("flip bit %d of %s", bit, name), []string{name}
		}
	case 2:
		if len(content) > 0 {
			size := r.IntN(len(content))
			return f.with(name, content[:size:size]), fmt.Sprintf("truncate %s to %d", name, size), []string{name}
		}
	case 3:
		other := names[r.IntN(len(names))]
		if other != name {
			return f.with(name, f[other]).with(other, content), fmt.Sprintf("swap %s and %s", name, other), []string{name, other}
		}
	case 4:
		past := older[r.IntN(len(older))]
		if old, ok := past.folder[name]; ok && !bytes.Equal(old, content) {
			return f.with(name, old), "old copy of " + name, []string{name}
		}
	}
	return f.with(name, nil), "delete " + name, []string{name}
}

var corruptions = flag.Int("corruptions", 40, "folders that are corrupted")

// TestRandomCorruptionIsRefusedRepairedOrNamed corrupts one file of a folder, or swaps
// two. Then the journal opens with everything, or with all records but the last ones, which
// is logged with the last position; or it is refused, and a repair keeps all records
// outside of the gaps that it names; or the repair is refused too, with the file's name.
func TestRandomCorruptionIsRefusedRepairedOrNamed(t *testing.T) {
	t.Parallel()
	table := map[string]map[string]int{}
	for seed := range *corruptions {
		r := rand.New(rand.NewPCG(13, uint64(seed/50)))
		moments, h := sharedAged(t, seed/50, r)
		r = rand.New(rand.NewPCG(11, uint64(seed)))
		at := r.IntN(len(moments)-1) + 1
		damaged, what, files := corrupt(r, moments[at].folder, moments[:at])
		msg := fmt.Sprintf("seed %d, moment %d: %s", seed, at, what)
		outcome := checkCorrupted(t, damaged, h, moments[at].end, files, msg)
		kind := kindOfFile(files)
		if table[kind] == nil {
			table[kind] = map[string]int{}
		}
		table[kind][outcome]++
	}
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		t.Logf("%-10s %v", kind, table[kind])
	}
}

// agedByRound keeps the folders, which the corruptions of one round share.
var agedByRound = map[int]struct {
	moments []moment
	history history
}{}

// sharedAged returns the folder of a round, which it makes once, because making one takes long.
// Odd rounds have a large disk.
func sharedAged(t *testing.T, round int, r *rand.Rand) ([]moment, history) {
	kept, ok := agedByRound[round]
	if !ok {
		kept.moments, kept.history = aged(t, r, vfs.NewMem(), []uint64{2 << 20, 1 << 30}[round%2])
		agedByRound[round] = kept
	}
	return kept.moments, kept.history
}

// kindOfFile returns the kind of the damaged files, for the statistics of the test.
func kindOfFile(files []string) string {
	kinds := map[string]bool{}
	for _, name := range files {
		kind, _, _ := strings.Cut(name, "-")
		if _, ending, ok := strings.Cut(name, "."); ok && (ending == "log" || ending == "sst") {
			kind = ending
		}
		kind, _, _ = strings.Cut(kind, ".")
		kinds[kind] = true
	}
	if len(kinds) > 1 {
		return "two kinds"
	}
	return strings.Join(slices.Sorted(maps.Keys(kinds)), " ")
}

// checkCorrupted opens a damaged journal, which must refuse it or have lost only its last
// records, and repairs it. It returns what happened, in words.
func checkCorrupted(t *testing.T, f folder, h history, end journal.Position, files []string, msg string) string {
	t.Helper()
	var logged bytes.Buffer
	loads := func(fs vfs.FS) (journal.Position, map[int64]bool, error) {
		j, err := pebble.Open(pebble.Config{Dir: dir, FS: fs, Log: slog.New(slog.NewTextHandler(&logged, nil))})
		if err != nil {
			return 0, nil, err
		}
		defer func() { _ = j.Close() }()
		refs := map[int64]bool{}
		s, err := j.Load(context.Background(), func(f journal.Fact) error {
			if e, ok := f.(*journal.Entry); ok {
				refs[e.Ref] = true
			}
			return nil
		})
		return s.Position, refs, err
	}
	position, refs, err := loads(f.disk(t))
	if err == nil {
		require.Equal(t, h.after(position, nil), refs, msg)
		if position == end {
			return "nothing lost"
		}
		require.Contains(t, logged.String(), fmt.Sprintf("position=%d time=20", position), msg)
		return "last records lost, position and time logged"
	}
	require.True(t, isAnyOf(err, fault.ErrCorrupt, fault.ErrInvalid), "%s: %v", msg, err)

	fs := f.disk(t)
	found, err := pebble.Diagnose(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	require.Equal(t, f, folderOf(t, fs), "%s: a diagnosis changes nothing", msg)
	done, repairErr := pebble.Repair(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	require.Equal(t, err == nil, repairErr == nil, msg)
	if err != nil {
		require.True(t, isAnyOf(err, fault.ErrCorrupt, fault.ErrInvalid), "%s: %v", msg, err)
		named := slices.ContainsFunc(files, func(name string) bool { return strings.Contains(err.Error(), name) })
		require.True(t, named, "%s: %v", msg, err)
		return "refused, file named"
	}
	found.Copy = done.Copy
	require.Equal(t, found, done, msg)
	position, refs, err = loads(fs)
	require.NoError(t, err, msg)
	require.Equal(t, h.after(position, done.Gaps), refs, "%s: %+v", msg, done)
	require.Len(t, refs, done.Tuples, msg)
	ofLog := slices.ContainsFunc(files, func(n string) bool { return strings.HasSuffix(n, ".log") })
	if len(done.Gaps) == 0 && position == end {
		return "repaired, nothing lost"
	}
	require.True(t, ofLog, "%s: %+v", msg, done)
	return "repaired, damaged records lost and named"
}
