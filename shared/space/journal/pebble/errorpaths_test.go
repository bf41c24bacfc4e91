package pebble

import (
	"context"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
	"leasehold/shared/tuple"
)

// A load that goes on would give an engine a part of the facts, or the facts of a broken journal.
func TestALoadEndsWithItsContextItsCallerOrTheJournal(t *testing.T) {
	t.Parallel()
	j, _ := on(t, vfs.NewMem())
	entries(t, j, 3)
	over, cancel := context.WithCancel(t.Context())
	facts := 0
	_, err := j.Load(over, func(journal.Fact) error { facts++; cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, facts)
	_, err = j.Load(t.Context(), func(journal.Fact) error { return fault.ErrConflict })
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, "journal journal: ")
	standing, err := j.Load(t.Context(), func(journal.Fact) error { return nil })
	require.NoError(t, err)
	require.EqualValues(t, 3, standing.Position)
	standing, err = j.Load(t.Context(), func(journal.Fact) error { j.broken.mark(syscall.EIO); return nil })
	require.ErrorIs(t, err, journal.ErrBroken)
	require.Zero(t, standing)
}

func TestADamagedHistoryRecordIsReported(t *testing.T) {
	t.Parallel()
	j, c := on(t, vfs.NewMem())
	record := func(seq int64) *journal.Historic {
		return &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: seq, Key: "k", Value: "v"}}
	}
	require.NoError(t, j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{record(1), record(2)}}}))
	b := j.db.NewBatch()
	_, err := j.fill(b, nil)
	require.NoError(t, err)
	require.NoError(t, b.Set(codec.AppendHistoryKey(nil, 2), []byte{0xff}, nil))
	require.NoError(t, j.db.Apply(b, lsm.Sync))
	all := func(space.HistoryRecord) bool { return true }
	require.ErrorIs(t, j.HistoryBefore(t.Context(), 0, all), fault.ErrCorrupt)
	require.NoError(t, j.HistoryBefore(t.Context(), 2, all), "those before it are whole")
	_, ok, err := j.LatestHistory(t.Context(), "k")
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.False(t, ok)
	removed, err := j.TrimHistory(t.Context(), 1, space.HistoryLimits{})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.Zero(t, removed)
	require.NoError(t, j.Close())
	_, err = Open(c)
	require.ErrorIs(t, err, fault.ErrCorrupt, "the next record could not count on from it")
}

// The store would go on from another position than the records of its logs.
func TestAStoreThatStandsElsewhereIsDamaged(t *testing.T) {
	t.Parallel()
	j, _ := on(t, vfs.NewMem())
	entries(t, j, 3)
	for at, want := range map[journal.Position]error{2: fault.ErrCorrupt, 3: nil, 4: fault.ErrCorrupt} {
		require.ErrorIs(t, j.begin(at), want, "%d", at)
	}
}

// A disk that cannot be synced makes the store panic, which must not end the process.
func TestAPanicOfTheStoreDuringACopyIsAnError(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, (&Journal{}).checkpoint("copy"), "the store gave up: ")
}

// An error of the disk must not count as damage, because a repair would be offered then.
func TestADiskThatCannotBeReadIsNoDamageOfAJournal(t *testing.T) {
	t.Parallel()
	d, j := inFolder(t)
	entries(t, j, 1)
	require.NoError(t, j.Close())
	d.op = "open"
	found, err := Diagnose(j.Config)
	require.ErrorIs(t, err, syscall.EIO)
	require.NotErrorIs(t, err, fault.ErrCorrupt)
	require.Empty(t, found.Damage)
	d.op = ""
	require.NoError(t, d.Rename("journal", "journal"+repairedEnd))
	d.op = "rename"
	_, err = Open(j.Config)
	require.ErrorIs(t, err, syscall.EIO, "an interrupted repair cannot be finished")
	_, err = d.Stat("journal")
	require.ErrorIs(t, err, fs.ErrNotExist, "no new journal is begun in its place")
	d.op = ""
	again, err := Open(j.Config)
	require.NoError(t, err)
	require.EqualValues(t, 1, again.Position())
	require.NoError(t, again.Close())

	require.ErrorIs(t, truncate(d, "d/missing", 0), fs.ErrNotExist)
	require.NoError(t, writeFile(d, "file", []byte("abc")))
	d.op = "open"
	require.ErrorIs(t, truncate(d, "file", 1), syscall.EIO)
	d.op = ""
	require.Equal(t, "abc", content(t, d, "file"))
}

// More than one batch is written then, and each leads on from the one before it.
func TestARepairOfALargeJournalKeepsAll(t *testing.T) {
	t.Parallel()
	d, j := inFolder(t)
	const n = 3
	text := strings.Repeat("x", repairBatch*2/3)
	for ref := int64(1); ref <= n; ref++ {
		require.NoError(t, j.Commit(t.Context(), journal.Position(ref-1), []journal.Record{{Facts: []journal.Fact{
			&journal.Space{Name: "s"}, &journal.Entry{Ref: ref, Space: "s", Tuple: tuple.New(text)},
		}}}))
	}
	require.NoError(t, j.Close())
	old := newJournal(j.Config)
	s, _, err := old.salvageAll()
	require.NoError(t, err)
	_, err = old.replaceBy(s)
	require.NoError(t, err)
	repaired, err := Open(Config{Dir: "journal", FS: d, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	tuples := 0
	standing, err := repaired.Load(t.Context(), func(f journal.Fact) error {
		if x, ok := f.(*journal.Entry); ok && x.Tuple.Str(0) == text {
			tuples++
		}
		return nil
	})
	require.NoError(t, err)
	require.EqualValues(t, n, standing.Position)
	require.Equal(t, n, tuples)
	require.NoError(t, repaired.Close())
}

// freeing is a disk that has space when the reserve is removed.
type freeing struct{ *sizedDisk }

func (d freeing) Remove(name string) error {
	d.free += reserve * smallestMemTable
	return d.sizedDisk.Remove(name)
}

func TestAStartGoesOnIfTheReserveIsEnough(t *testing.T) {
	t.Parallel()
	d, s := spaceOn(t, 1000, nil)
	s.FS = freeing{d}
	d.free = 0
	require.NoError(t, s.requireSpaceToOpen())
	require.False(t, there(d))
	require.True(t, s.low.Load(), "until it is made again")
}

// A repair reads the records of a log across the ends of its blocks, before and behind damage.
func TestTheRecordsBehindThePaddingOfABlockAreSalvaged(t *testing.T) {
	t.Parallel()
	for left := range logHead {
		long := chunkOf(logFull, 7, string(make([]byte, blockSize-logHead-left)))
		data := append(append(long, make([]byte, left)...), chunkOf(logFull, 7, "end")...)
		l := log{data: data, num: 7, full: logFull}
		all := l.salvage()
		require.Len(t, all, 2, "%d bytes are left", left)
		require.Equal(t, "end", string(all[1].payload))
		data[100] ^= 1
		all = l.salvage()
		require.Len(t, all, 1, "%d bytes are left, behind damage", left)
		require.Equal(t, "end", string(all[0].payload))
	}
}

// failingAt is a file that cannot be written at an offset, as zeros are ahead of a log's records.
type failingAt struct{ vfs.File }

func (failingAt) WriteAt([]byte, int64) (int, error) { return 0, syscall.EIO }

func TestALogThatCannotBeFilledAheadBreaksTheJournal(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(f *file) (int, error){
		"zeros":     func(f *file) (int, error) { return f.Write([]byte("abc")) },
		"an offset": func(f *file) (int, error) { return f.WriteAt([]byte("abc"), 5) },
	} {
		inner, err := vfs.NewMem().Create("name", vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		b := &broken{}
		f := &file{File: inner, disk: disk{broken: b, space: &diskSpace{memTable: 10}}, kind: ofLog, written: new(atomic.Int64)}
		n, err := write(f)
		require.NoError(t, err, name)
		require.Equal(t, 3, n, name)
		require.NoError(t, b.err(), name)
		f.File, f.filled = failingAt{inner}, 0
		n, err = write(f)
		require.ErrorIs(t, err, syscall.EIO, name)
		require.Zero(t, n, name)
		require.ErrorIs(t, b.err(), syscall.EIO, name)
	}
}

// A sweep costs as much as all tables, so that it is made once for each position, and only if it fits.
func TestTheTablesAreRewrittenOnceForAPositionAndIfTheyFit(t *testing.T) {
	t.Parallel()
	d := &sizedDisk{FS: vfs.NewMem(), total: smallestDisk, free: 1 << 40}
	j, _ := on(t, d)
	entries(t, j, 3)
	flushes := j.db.Metrics().Flush.Count
	sweep := func(swept, want journal.Position, rewrites bool) {
		t.Helper()
		require.Equal(t, want, j.sweeper.sweep(t.Context(), swept))
		now := j.db.Metrics().Flush.Count
		require.Equal(t, rewrites, now > flushes)
		flushes = now
	}
	sweep(noPosition, 3, true)
	sweep(3, 3, false)
	entries(t, j, 1)
	sweep(3, 4, true)
	entries(t, j, 1)
	j.space.reserved.Store(false)
	d.free = smallestMemTable - 1
	sweep(4, 4, false)
	d.free = 1 << 40
	sweep(4, 5, true)
	entries(t, j, 1)
	j.broken.mark(syscall.EIO)
	sweep(5, 5, false)
}
