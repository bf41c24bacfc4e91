package pebble_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
)

func TestFault13AFailedWriteOrSyncBreaksTheJournalForGood(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"write", "sync"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			mem := vfs.NewMem()
			d := &failing{FS: mem, op: op}
			j, err := pebble.Open(pebble.Config{Dir: dir, FS: d, Log: quiet})
			require.NoError(t, err)
			fill(t, j, 0, 5, 100)
			d.armed.Store(true)
			err = j.Commit(t.Context(), 5, []journal.Record{{Facts: []journal.Fact{journal.Token(1)}}})
			require.ErrorIs(t, err, journal.ErrBroken)
			require.ErrorIs(t, err, syscall.EIO)
			d.armed.Store(false)
			calls := d.calls.Load()
			require.ErrorIs(t, j.Commit(t.Context(), 5, nil), journal.ErrBroken, "it never works again")
			_, err = j.Load(t.Context(), nil)
			require.ErrorIs(t, err, journal.ErrBroken)
			require.ErrorIs(t, j.Close(), journal.ErrBroken)
			require.Equal(t, calls, d.calls.Load(), "nothing is written or synced again")

			position, refs, err := try(folderOf(t, mem).disk(t))
			require.NoError(t, err, "the next process finds out")
			require.Contains(t, []int{5, 6}, int(position))
			require.Len(t, refs, 5)
		})
	}
}

// failing is a disk; while it is armed, one operation on a log fails.
type failing struct {
	vfs.FS
	op    string
	armed atomic.Bool
	calls atomic.Int64
}

// Create wraps logs, whose operations may fail.
func (d *failing) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err != nil || !strings.HasSuffix(name, ".log") {
		return f, err
	}
	return &failingFile{f, d}, nil
}

type failingFile struct {
	vfs.File
	disk *failing
}

// fails counts an operation, and returns an error if it is the one to fail and the disk is
// armed.
func (f *failingFile) fails(op string) error {
	f.disk.calls.Add(1)
	if f.disk.op == op && f.disk.armed.Load() {
		return syscall.EIO
	}
	return nil
}

// Write fails if the test has armed that.
func (f *failingFile) Write(p []byte) (int, error) {
	if err := f.fails("write"); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// Sync fails if the test has armed that.
func (f *failingFile) Sync() error {
	if err := f.fails("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *failingFile) SyncData() error { return f.Sync() }

func TestFault15AFolderThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	w, err := vfs.Default.Create(file, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = pebble.Open(pebble.Config{Dir: filepath.Join(file, "journal"), Log: quiet})
	require.ErrorIs(t, err, fault.ErrFolder)
	require.ErrorContains(t, err, file)

	for errno, kind := range map[syscall.Errno]error{syscall.EACCES: fault.ErrPermission, syscall.EROFS: fault.ErrPermission, syscall.ENOTDIR: fault.ErrFolder} {
		_, err = pebble.Open(pebble.Config{Dir: dir, FS: refusing{vfs.NewMem(), errno}, Log: quiet})
		require.ErrorIs(t, err, kind)
		require.ErrorContains(t, err, dir)
	}
}

// refusing is a disk on which nothing can be made.
type refusing struct {
	vfs.FS
	errno syscall.Errno
}

func (r refusing) Create(string, vfs.DiskWriteCategory) (vfs.File, error) { return nil, r.errno }
