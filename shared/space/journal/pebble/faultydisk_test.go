package pebble

import (
	"io"
	"log/slog"
	"os"
	"path"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

// faultyDisk is a disk on which one operation fails: create, write, sync, close, rename,
// opendir, syncdir, remove, removeall, mkdirall, list or open.
type faultyDisk struct {
	vfs.FS
	op string
}

// fails returns an error if op is the operation that fails.
func (d *faultyDisk) fails(op string) error {
	if op == d.op {
		return syscall.EIO
	}
	return nil
}

// Create and the methods below fail if the test has chosen them.
func (d *faultyDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.fails("create"); err != nil {
		return nil, err
	}
	f, err := d.FS.Create(name, c)
	return &faultyFile{f, d, "sync"}, err
}

func (d *faultyDisk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := d.fails("open"); err != nil {
		return nil, err
	}
	return d.FS.Open(name, opts...)
}

// OpenDir returns a folder whose sync is another operation than a file's.
func (d *faultyDisk) OpenDir(name string) (vfs.File, error) {
	if err := d.fails("opendir"); err != nil {
		return nil, err
	}
	f, err := d.FS.OpenDir(name)
	return &faultyFile{f, d, "syncdir"}, err
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.fails("rename"); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

func (d *faultyDisk) Remove(name string) error {
	if err := d.fails("remove"); err != nil {
		return err
	}
	return d.FS.Remove(name)
}

func (d *faultyDisk) RemoveAll(name string) error {
	if err := d.fails("removeall"); err != nil {
		return err
	}
	return d.FS.RemoveAll(name)
}

func (d *faultyDisk) MkdirAll(name string, perm os.FileMode) error {
	if err := d.fails("mkdirall"); err != nil {
		return err
	}
	return d.FS.MkdirAll(name, perm)
}

func (d *faultyDisk) List(name string) ([]string, error) {
	if err := d.fails("list"); err != nil {
		return nil, err
	}
	return d.FS.List(name)
}

type faultyFile struct {
	vfs.File
	disk *faultyDisk
	sync string // what its Sync is called
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.disk.fails("write"); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *faultyFile) Sync() error {
	if err := f.disk.fails(f.sync); err != nil {
		return err
	}
	return f.File.Sync()
}

// Close closes the file in any case; the close of a folder never fails.
func (f *faultyFile) Close() error {
	err := f.File.Close()
	if f.sync == "sync" {
		if failure := f.disk.fails("close"); failure != nil {
			return failure
		}
	}
	return err
}

// newFaultyDisk has a folder "d" with a file "d/a" that holds "old".
func newFaultyDisk(t *testing.T) *faultyDisk {
	t.Helper()
	d := &faultyDisk{FS: vfs.NewMem()}
	require.NoError(t, d.MkdirAll("d", 0o700))
	require.NoError(t, writeFile(d, "d/a", []byte("old")))
	return d
}

// content returns what a file holds, even while operations fail.
func content(t *testing.T, d *faultyDisk, name string) string {
	t.Helper()
	data, err := readFile(d.FS, name)
	require.NoError(t, err)
	return string(data)
}

func TestAFileIsWrittenWholeOrTheErrorIsReported(t *testing.T) {
	t.Parallel()
	for op, want := range map[string]string{
		"create": "old", "write": "old", "sync": "old", "close": "old", "rename": "old",
		"opendir": "new", "syncdir": "new", // the new file is there, but may be lost with the power
	} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			d := newFaultyDisk(t)
			d.op = op
			require.ErrorIs(t, writeFile(d, "d/a", []byte("new")), syscall.EIO)
			require.Equal(t, want, content(t, d, "d/a"))
			d.op = ""
			require.NoError(t, writeFile(d, "d/a", []byte("newer")))
			require.Equal(t, "newer", content(t, d, "d/a"), "another attempt succeeds")
		})
	}
}

// inFolder returns a journal and its disk.
func inFolder(t *testing.T) (*faultyDisk, *Journal) {
	t.Helper()
	d := &faultyDisk{FS: vfs.NewMem()}
	j, err := Open(Config{Dir: "journal", FS: d, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	require.NotZero(t, j.newest.num)
	return d, j
}

func TestOnlyTheRemovalOfTheNewestLogForgetsItsNumber(t *testing.T) {
	t.Parallel()
	d, j := inFolder(t)
	noted := path.Join("journal", newestFile)
	before := content(t, d, noted)
	older, err := d.FS.Create("journal/000001.log", vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	require.NoError(t, older.Close())
	require.NoError(t, j.disk().Remove("journal/000001.log"))
	require.Equal(t, before, content(t, d, noted), "that the newest log is lost would go unnoticed without its number")
	require.NoError(t, j.forgetIfNewest(path.Base(lastLog(t, d))))
	_, err = d.Stat(noted)
	require.ErrorIs(t, err, os.ErrNotExist, "a start would miss a log that was removed on purpose")
	require.NoError(t, writeNewest(d, "journal", 0), "there is nothing to remove")
}

func TestTheRemovedNoteOfTheNewestLogStaysRemovedAfterALossOfPower(t *testing.T) {
	t.Parallel()
	fs := vfs.NewCrashableMem()
	require.NoError(t, fs.MkdirAll("journal", 0o700))
	require.NoError(t, syncDir(fs, "/"))
	require.NoError(t, writeNewest(fs, "journal", 7))
	_, err := fs.CrashClone(vfs.CrashCloneCfg{}).Stat("journal/" + newestFile)
	require.NoError(t, err)
	require.NoError(t, writeNewest(fs, "journal", 0))
	_, err = fs.CrashClone(vfs.CrashCloneCfg{}).Stat("journal/" + newestFile)
	require.ErrorIs(t, err, os.ErrNotExist, "the next start would report the log as missing, which is removed next")
}

// lastLog returns the path of the log with the highest number.
func lastLog(t *testing.T, d *faultyDisk) (last string) {
	t.Helper()
	names, err := d.FS.List("journal")
	require.NoError(t, err)
	for _, name := range names {
		if isLog(name) && name > last {
			last = name
		}
	}
	require.NotEmpty(t, last)
	return path.Join("journal", last)
}

func TestALogWhoseNumberCannotBeForgottenStays(t *testing.T) {
	t.Parallel()
	d, j := inFolder(t)
	name := lastLog(t, d)
	d.op = "remove"
	require.ErrorIs(t, j.disk().Remove(name), syscall.EIO)
	d.op = ""
	_, err := d.Stat(name)
	require.NoError(t, err)
}

func TestOnAFullDiskATableIsTriedAgainAfterAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &faultyDisk{FS: vfs.NewMem()}
		for _, starting := range []bool{true, false} {
			b := &broken{}
			j := disk{FS: d, dir: "journal", opening: &opening{stuck: make(chan struct{})}, broken: b}
			j.opening.over.Store(!starting)
			begun := time.Now()
			f := &file{File: nil, disk: j, kind: ofTable}
			require.ErrorIs(t, f.breakIfFailed("write", syscall.ENOSPC), syscall.ENOSPC)
			require.Equal(t, pause, time.Since(begun), "a store that tries again at once would take all of the CPU")
			if starting {
				require.ErrorIs(t, b.err(), fault.ErrFolder, "a start on a full disk ends")
			} else {
				require.NoError(t, b.err(), "a running journal waits for space")
			}
		}
	})
}

func TestOnlyTheTrailerOfThisLogEndsIt(t *testing.T) {
	t.Parallel()
	trailer := func(kind byte, next byte) []byte { return []byte{0, 0, 0, 0, 0, 0, kind, next, 0, 0, 0} }
	right := trailer(logFull, 8)
	for name, c := range map[string]struct {
		behind []byte
		clean  bool
	}{
		"nothing":                      {nil, true},
		"the trailer":                  {right, true},
		"the trailer and zeros":        {append(append([]byte{}, right...), make([]byte, 100)...), true},
		"the trailer and other bytes":  {append(append([]byte{}, right...), 0, 1), false},
		"a trailer that is cut":        {right[:10], false},
		"the trailer of another log":   {trailer(logFull, 9), false},
		"a trailer without a number":   {trailer(logFull, 0), false},
		"a trailer of another kind":    {trailer(logFull+1, 8), false},
		"a trailer with a checksum":    {append([]byte{1}, right[1:]...), false},
		"a trailer that has a content": {append([]byte{0, 0, 0, 0, 0, 1}, right[6:]...), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := log{data: append(chunked(7, "one", "two"), c.behind...), num: 7, full: logFull}.scan()
			require.Equal(t, c.clean, s.clean)
			require.Len(t, s.records, 2)
			require.False(t, s.behind)
		})
	}
	require.False(t, log{data: right, num: 7, full: manifestFull}.scan().clean, "a manifest has no trailer")
}
