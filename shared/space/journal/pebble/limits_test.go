package pebble

import (
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
)

// sizedDisk is a disk in memory with a size and a number of free bytes.
type sizedDisk struct {
	vfs.FS
	total, free uint64
	err         error
}

func (d *sizedDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: d.free, TotalBytes: d.total}, d.err
}

// spaceOn returns the disk space of a journal whose memtable is the smallest, with that many memtables free, and with
// files of these sizes in bytes.
func spaceOn(t *testing.T, memTables uint64, files map[string]int) (*sizedDisk, *diskSpace) {
	t.Helper()
	d := &sizedDisk{FS: vfs.NewMem(), total: smallestDisk, free: memTables * smallestMemTable}
	require.NoError(t, d.MkdirAll("journal", 0o700))
	for name, n := range files {
		require.NoError(t, writeFile(d, "journal/"+name, make([]byte, n)))
	}
	s, err := newDiskSpace(Config{Dir: "journal", FS: d, Log: slog.New(slog.DiscardHandler)}, &broken{})
	require.NoError(t, err)
	return d, s
}

// there reports whether the reserve is on the disk.
func there(d vfs.FS) bool {
	_, err := d.Stat("journal/" + reserveFile)
	return err == nil
}

func TestTheMemtableIsAPartOfTheDiskBetweenItsBounds(t *testing.T) {
	t.Parallel()
	const memTable = 1 << 20
	for total, want := range map[uint64]uint64{
		smallestDisk - 1: 0, smallestDisk: smallestMemTable, smallestMemTable*diskShare + diskShare: smallestMemTable + 1,
		memTable * diskShare: memTable, largestMemTable * diskShare: largestMemTable, 1 << 50: largestMemTable,
	} {
		d := &sizedDisk{FS: vfs.NewMem(), total: total}
		s, err := newDiskSpace(Config{Dir: "journal", FS: d, Log: slog.New(slog.DiscardHandler)}, &broken{})
		if want == 0 {
			require.ErrorIs(t, err, fault.ErrFolder)
			require.ErrorContains(t, err, "which needs 2.0 MiB")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, s.memTable, "a disk of %d", total)
	}
	d := &sizedDisk{FS: vfs.NewMem(), err: errors.New("it cannot say")}
	require.NoError(t, d.MkdirAll("journal", 0o700))
	s, err := newDiskSpace(Config{Dir: "journal", FS: d}, &broken{})
	require.NoError(t, err)
	require.EqualValues(t, largestMemTable, s.memTable)
	require.False(t, s.checkFull())
	require.True(t, s.fits(1<<40))
	require.True(t, s.fitsRewrite())
	require.NoError(t, s.requireSpaceToOpen())
	for bytes, want := range map[uint64]string{0: "0 KiB", 1 << 10: "1 KiB", 1<<20 - 1: "1023 KiB", 1 << 20: "1.0 MiB", 3 << 19: "1.5 MiB"} {
		require.Equal(t, want, size(bytes))
	}
}

func TestWhatFitsDependsOnTheFreeBytesAndTheReserve(t *testing.T) {
	t.Parallel()
	const memTable = smallestMemTable
	d, s := spaceOn(t, 1000, nil)
	require.True(t, there(d), "the reserve was made")
	for _, reserved := range []bool{false, true} {
		s.reserved.Store(reserved)
		for bytes, needed := range map[int]uint64{0: logWater * memTable, 100: 200 + logWater*memTable, 4 * memTable: (8 + logWater) * memTable} {
			if reserved {
				needed -= min(needed, reserve*memTable)
			}
			d.free = needed
			require.True(t, s.fits(bytes), "%d bytes, reserve %t", bytes, reserved)
			if needed > 0 {
				d.free = needed - 1
				require.False(t, s.fits(bytes), "%d bytes, reserve %t", bytes, reserved)
			}
		}
	}
	d.free = tableWater * memTable
	require.True(t, s.fitsRewrite())
	d.free--
	require.False(t, s.fitsRewrite())
	s.tables.Store(1000)
	for low, more := range map[bool]uint64{false: 0, true: memTable} {
		s.low.Store(low)
		s.reserved.Store(true)
		require.Equal(t, lowWater*memTable+1000+more, s.neededForGrowth())
		s.reserved.Store(false)
		require.Equal(t, lowWater*memTable+1000+more+reserve*memTable, s.neededForGrowth())
	}
}

// Tables that the store no longer uses will be free soon, and so do not count twice.
func TestTheTablesInUseAndThoseThatGoAreCounted(t *testing.T) {
	t.Parallel()
	_, s := spaceOn(t, 1000, map[string]int{"000001.sst": 300, "000002.sst": 500, "000003.log": 7000, "MANIFEST-1": 90})
	require.EqualValues(t, 800, s.tables.Load())
	require.Zero(t, s.spare.Load())
	for used, want := range map[uint64]uint64{0: 0, 300: 300, 800: 800, 900: 800} {
		s.inUse = func() uint64 { return used }
		s.countTables()
		require.Equal(t, want, s.tables.Load())
		require.Equal(t, 800-want, s.spare.Load())
	}
	s.inUse = func() uint64 { return 300 }
	s.countTables()
	d := s.FS.(*sizedDisk)
	d.free = s.neededForGrowth() - 500
	s.updateLow()
	require.False(t, s.low.Load(), "the spare ones are as good as free")
	d.free--
	s.updateLow()
	require.True(t, s.low.Load())
	require.Len(t, s.lowered, 1)
	s.refuseGrowth() // it does not block
	d.err = &fs.PathError{Err: syscall.ENOENT}
	s.updateLow()
	require.ErrorIs(t, s.broken.err(), journal.ErrBroken)
	require.ErrorIs(t, s.broken.err(), fault.ErrFolder)
}

func TestTheReserveIsMadeIfItFitsAndGivenUpForAStart(t *testing.T) {
	t.Parallel()
	const memTable = smallestMemTable
	for free, want := range map[uint64]bool{(lowWater + reserve) * memTable: true, (lowWater+reserve)*memTable - 1: false} {
		d, s := spaceOn(t, 0, nil)
		require.False(t, there(d))
		s.low.Store(false)
		d.free = free
		s.makeReserve()
		require.Equal(t, want, there(d), "%d free", free)
		require.Equal(t, want, s.reserved.Load())
	}
	logs := map[string]int{"000003.log": 700, "000004.log": 300, "000002.sst": 5000}
	for free, c := range map[uint64]struct{ opens, reserve bool }{
		logWater*memTable + 1000: {true, true}, logWater*memTable + 999: {false, false},
	} {
		d, s := spaceOn(t, 1000, logs)
		d.free = free
		err := s.requireSpaceToOpen()
		require.Equal(t, c.opens, err == nil, "%d free", free)
		require.Equal(t, c.reserve, there(d), "%d free", free)
		require.Equal(t, c.reserve, s.reserved.Load())
		require.Equal(t, !c.reserve, s.low.Load())
		if !c.opens {
			require.ErrorIs(t, err, fault.ErrFolder)
		}
	}
	failing := newFaultyDisk(t)
	_, s := spaceOn(t, 1000, nil)
	failing.op, s.FS = "list", failing
	require.ErrorIs(t, s.requireSpaceToOpen(), syscall.EIO)
}

// After the first error nothing may be written, because it is unknown what the disk holds.
func TestAFileOfABrokenJournalIsNotWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s := spaceOn(t, 1000, nil)
		d := disk{FS: s.FS, dir: "journal", space: s, broken: s.broken, opening: &opening{stuck: make(chan struct{})}, growing: &growing{}}
		d.opening.over.Store(true)
		f, err := d.Create("journal/000009.log", vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		table, err := d.Create("journal/000009.sst", compaction)
		require.NoError(t, err)
		other, err := d.Create("copy.sst", vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		require.IsType(t, &file{}, f)
		require.NotSame(t, f, other)
		_, isFile := other.(*file)
		require.False(t, isFile, "a file of a copy breaks nothing")
		n, err := f.Write([]byte("abc"))
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.EqualValues(t, 3, d.growing.written["journal/000009.log"].Load())
		_, err = f.SyncTo(3)
		require.NoError(t, err)
		s.FS.(*sizedDisk).free = 0
		_, err = table.Write([]byte("abc"))
		require.ErrorIs(t, err, syscall.ENOSPC, "the logs need the space")
		require.NoError(t, d.broken.err())

		d.broken.mark(syscall.EIO)
		_, err = f.Write([]byte("d"))
		require.ErrorIs(t, err, journal.ErrBroken)
		_, err = f.WriteAt([]byte("d"), 0)
		require.ErrorIs(t, err, journal.ErrBroken)
		require.ErrorIs(t, f.Sync(), journal.ErrBroken)
		require.ErrorIs(t, f.SyncData(), journal.ErrBroken)
		_, err = f.SyncTo(3)
		require.ErrorIs(t, err, journal.ErrBroken)
		for _, name := range []string{"journal/000010.log", "journal/000010.sst", "copy.log"} {
			_, err = d.Create(name, vfs.WriteCategoryUnspecified)
			require.ErrorIs(t, err, journal.ErrBroken)
			_, err = d.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
			require.ErrorIs(t, err, journal.ErrBroken)
		}
		data, err := readFile(s.FS, "journal/000009.log")
		require.NoError(t, err)
		require.Equal(t, "abc", strings.TrimRight(string(data), "\x00"))
		require.ErrorIs(t, d.Link("a", "b"), errors.ErrUnsupported)
		require.Equal(t, s.FS, d.Unwrap())
	})
}

func TestAWriteThatFailsBreaksTheJournalUnlessATableDidNotFit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			kind   string
			why    error
			breaks bool
		}{{ofLog, syscall.ENOSPC, true}, {ofLog, syscall.EIO, true}, {ofIndex, syscall.ENOSPC, true}, {ofTable, syscall.EIO, true}, {ofTable, syscall.ENOSPC, false}, {ofLog, nil, false}, {ofTable, nil, false}} {
			inner, err := vfs.NewMem().Create("name", vfs.WriteCategoryUnspecified)
			require.NoError(t, err)
			b := &broken{}
			f := &file{File: inner, disk: disk{broken: b, opening: &opening{}}, kind: c.kind}
			f.disk.opening.over.Store(true)
			err = f.breakIfFailed("write", c.why)
			require.ErrorIs(t, err, c.why)
			require.Equal(t, c.breaks, b.err() != nil, "%s, %v", c.kind, c.why)
			if c.breaks {
				require.ErrorContains(t, err, "write name: ")
				require.ErrorIs(t, b.err(), c.why)
			}
		}
	})
	var b broken
	require.NoError(t, b.err())
	b.mark(syscall.EIO)
	b.mark(syscall.ENOSPC)
	require.ErrorIs(t, b.err(), syscall.EIO)
	require.NotErrorIs(t, b.err(), syscall.ENOSPC, "the first reason stays")
}
