package pebble_test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
)

const mib = 1 << 20

// small opens a journal on a disk of total bytes, with free bytes left.
func small(t *testing.T, total, free uint64) (*smallDisk, *pebble.Journal) {
	t.Helper()
	d := &smallDisk{FS: vfs.NewMem()}
	d.total.Store(total)
	d.free.Store(free)
	return d, open(t, pebble.Config{Dir: dir, FS: d})
}

func TestFault12AFullDiskIsSaidAndRecoversByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, j := small(t, 64*mib, 32*mib) // a memtable is 1 MiB
		defer j.Close()
		require.False(t, j.Full())
		for _, step := range []struct {
			free uint64
			full bool
		}{{6 * mib, false}, {5*mib - 1, true}, {6*mib - 1, true}, {7 * mib, false}, {mib, true}, {30 * mib, false}} {
			d.free.Store(step.free)
			time.Sleep(100 * time.Millisecond)
			require.Equal(t, step.full, j.Full(), "%d bytes free", step.free)
		}
		d.free.Store(0)
		require.False(t, j.Full(), "the disk is not asked all the time")
	})
}

func TestFault12WhatWasBegunIsWrittenIntoTheReserve(t *testing.T) {
	t.Parallel()
	d := &cappedDisk{smallDisk: smallDisk{FS: vfs.NewMem()}}
	d.total.Store(64 * mib)
	d.free.Store(32 * mib)
	j := open(t, pebble.Config{Dir: dir, FS: d})
	fill(t, j, 0, 10, 100)
	d.free.Store(6 * mib) // so that the reserve is not made again meanwhile
	d.stopped.Store(true) // another program took all that was free
	fill(t, j, 10, 20, 100)
	require.True(t, j.Full())
	require.NotContains(t, folderOf(t, d), "RESERVE")
	d.stopped.Store(false)
	position, n := held(t, j)
	require.Equal(t, 20, int(position))
	require.Equal(t, 20, n)
}

func TestFault12WithoutRoomNothingIsWrittenAndTheJournalGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, j := small(t, 64*mib, 32*mib)
		defer j.Close()
		fill(t, j, 0, 3, 100)
		d.free.Store(0)
		require.NoError(t, d.Remove(dir+"/RESERVE"))
		require.NoError(t, j.Close())
		_, err := pebble.Open(pebble.Config{Dir: dir, FS: d, Log: quiet})
		require.ErrorIs(t, err, fault.ErrFolder)
		require.ErrorContains(t, err, "MiB must be free to start, 0 KiB are")
		d.free.Store(3 * mib)
		j = open(t, pebble.Config{Dir: dir, FS: d})
		defer j.Close()
		d.free.Store(0)
		err = j.Commit(t.Context(), 3, make([]journal.Record, 1))
		require.ErrorIs(t, err, journal.ErrFull)
		require.ErrorIs(t, err, fault.ErrOverloaded)
		d.free.Store(32 * mib)
		time.Sleep(2 * time.Second)
		require.False(t, j.Full())
		require.Contains(t, folderOf(t, d), "RESERVE", "the reserve is made again")
		fill(t, j, 3, 6, 100)
		_, n := held(t, j)
		require.Equal(t, 6, n)
	})
}

// cappedDisk is full while it is stopped, until its reserve is removed.
type cappedDisk struct {
	smallDisk
	stopped atomic.Bool
}

// Remove makes the disk have space again when the reserve is removed.
func (d *cappedDisk) Remove(name string) error {
	if strings.HasSuffix(name, "RESERVE") {
		d.stopped.Store(false)
	}
	return d.FS.Remove(name)
}

// Create fails while the disk is full, and wraps the file otherwise.
func (d *cappedDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if d.stopped.Load() {
		return nil, syscall.ENOSPC
	}
	f, err := d.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return &cappedFile{f, d}, nil
}

type cappedFile struct {
	vfs.File
	disk *cappedDisk
}

// Write fails while the disk is full.
func (f *cappedFile) Write(p []byte) (int, error) {
	if f.disk.stopped.Load() {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}
