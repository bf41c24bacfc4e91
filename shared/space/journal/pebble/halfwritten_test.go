package pebble_test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pebble"
)

// halfDisk is a disk on which only half of the reserve fits while it is full.
type halfDisk struct {
	smallDisk
	full atomic.Bool
}

func (d *halfDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err == nil && d.full.Load() && strings.Contains(name, "RESERVE") {
		return halfFile{f}, nil
	}
	return f, err
}

type halfFile struct{ vfs.File }

func (f halfFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:len(p)/2])
	if err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

// A part of the reserve would take the space that the journal needs.
func TestFault12AReserveThatDoesNotFitLeavesNothingOnTheDisk(t *testing.T) {
	t.Parallel()
	d := &halfDisk{smallDisk: smallDisk{FS: vfs.NewMem()}}
	d.total.Store(64 * mib)
	d.free.Store(32 * mib)
	d.full.Store(true)
	open(t, pebble.Config{Dir: dir, FS: d})
	for name := range folderOf(t, d) {
		require.NotContains(t, name, "RESERVE")
	}
}

// A list of the tables that cannot be read is not a list without tables: what it does not name could
// bring back tuples that were taken.
func TestAListOfTablesThatCannotBeReadIsAnErrorOfDiagnoseAndRepair(t *testing.T) {
	t.Parallel()
	whole := worn(t)
	log := whole.named(".log")[0]
	for _, damaged := range []folder{whole, whole.flipped(log, 8*(len(whole[log])/2))} {
		disk := errorfs.Wrap(damaged.disk(t), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if strings.Contains(op.Path, "MANIFEST") && (op.Kind == errorfs.OpFileRead || op.Kind == errorfs.OpFileReadAt) {
				return errInjected
			}
			return nil
		}))
		c := pebble.Config{Dir: dir, FS: disk, Log: quiet}
		_, err := pebble.Diagnose(c)
		require.ErrorIs(t, err, errInjected)
		_, err = pebble.Repair(c)
		require.ErrorIs(t, err, errInjected)
	}
}

// A caller tells an unreadable disk from a damaged journal: only the second may be repaired.
func TestAFileThatCannotBeReadIsNotADamagedOne(t *testing.T) {
	t.Parallel()
	whole := worn(t)
	for _, name := range []string{"FORMAT", "NEWEST", "STAMP", "MANIFEST", ".log", ".sst"} {
		reached := false
		disk := errorfs.Wrap(whole.disk(t), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if strings.Contains(op.Path, name) && op.Kind.ReadOrWrite() == errorfs.OpIsRead && op.Kind != errorfs.OpStat {
				reached = true
				return syscall.EIO
			}
			return nil
		}))
		_, _, err := try(disk)
		require.True(t, reached, name)
		require.ErrorIs(t, err, syscall.EIO, name)
		require.NotErrorIs(t, err, fault.ErrCorrupt, name)
	}
}

// Without the list of the tables it is unknown whether a table that cannot be read was needed.
func TestARepairWithoutAListAndWithADamagedTableIsRefused(t *testing.T) {
	t.Parallel()
	whole := worn(t)
	for _, name := range whole.named(".sst") {
		if len(whole[name]) == 0 {
			continue // a compaction had just begun to write it
		}
		damaged := whole.with(manifestOf(whole), nil).flipped(name, 8*(len(whole[name])/2))
		fs := damaged.disk(t)
		_, err := pebble.Repair(pebble.Config{Dir: dir, FS: fs, Log: quiet})
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
		require.ErrorContains(t, err, name)
		require.Equal(t, damaged, folderOf(t, fs), "nothing was changed")
	}
}

// An operator would repair a journal without need if one failure of the disk made it look damaged.
func TestADiskThatFailsOnceMakesNoJournalLookDamaged(t *testing.T) {
	t.Parallel()
	whole := worn(t)
	for n := int64(1); ; n++ {
		var done atomic.Int64
		disk := errorfs.Wrap(whole.disk(t), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if reads(op) && done.Add(1) == n {
				return syscall.EIO
			}
			return nil
		}))
		position, refs, err := try(disk)
		if done.Load() < n {
			require.NoError(t, err)
			break
		}
		if err != nil {
			require.ErrorIs(t, err, syscall.EIO, "operation %d", n)
			require.NotErrorIs(t, err, fault.ErrCorrupt, "operation %d", n)
			continue
		}
		require.EqualValues(t, wornRecords, position, "operation %d", n)
		require.Len(t, refs, wornRecords)
	}
}

func TestARepairThatCannotFinishAnEarlierOneSaysSoAndTheNextOneFinishesIt(t *testing.T) {
	t.Parallel()
	for n := range int64(3) { // the rename, and the sync of the folder that it opens
		fs := worn(t).disk(t)
		require.NoError(t, fs.Rename(dir, dir+".repaired"))
		disk, _ := failsOnce(fs, n+1, func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpRename || op.Kind == errorfs.OpOpenDir || op.Kind == errorfs.OpFileSync
		})
		c := pebble.Config{Dir: dir, FS: disk, Log: quiet}
		_, err := pebble.Repair(c)
		require.ErrorIs(t, err, errInjected, "operation %d", n)
		found, err := pebble.Repair(c)
		require.NoError(t, err)
		require.Empty(t, found.Damage)
		require.Equal(t, wornRecords, found.Tuples)
	}
}
