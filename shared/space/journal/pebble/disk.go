package pebble

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// pause is how long a table that finds no room waits, since the store tries again
// at once and for ever.
const pause = 50 * time.Millisecond

// disk is a file system that breaks the journal at the first write or sync of one
// of its files that fails, and refuses everything after it.
type disk struct {
	vfs.FS
	dir    string // of the journal
	room   *room
	broken *broken
}

// compaction is how the store calls the writing of tables from others.
const compaction = "pebble-compaction"

func (d disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.opened(name)(d.FS.Create(name, c))
	if f, ok := f.(*file); ok {
		f.anew = c == compaction
	}
	return f, err
}

func (d disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return d.opened(name)(d.FS.OpenReadWrite(name, c, opts...))
}

// Link makes the store copy: a backup that shares its files with the original
// would be damaged with it.
func (d disk) Link(string, string) error { return errors.ErrUnsupported }

func (d disk) OpenDir(name string) (vfs.File, error) { return d.opened(name)(d.FS.OpenDir(name)) }

func (d disk) Unwrap() vfs.FS { return d.FS }

// opened wraps what a call to open returned.
func (d disk) opened(name string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if broken := d.broken.err(); broken != nil {
			if err == nil {
				_ = f.Close()
			}
			return nil, broken
		}
		if err == nil && name != d.dir && d.FS.PathDir(name) != d.dir {
			return f, nil // a copy is being made
		}
		table := isTable(name)
		if table && full(err) {
			time.Sleep(pause)
		}
		if err != nil {
			return nil, err
		}
		return &file{File: f, disk: d, table: table}, nil
	}
}

// file is one file of a disk.
type file struct {
	vfs.File
	disk  disk
	table bool // tried again when there is no room for it
	anew  bool // a table that is made of others
}

func (f *file) Write(p []byte) (int, error) {
	if err := f.disk.broken.err(); err != nil {
		return 0, err
	}
	if f.anew && !f.disk.room.fitsAnew() {
		return 0, f.failed("write", syscall.ENOSPC)
	}
	n, err := f.File.Write(p)
	return n, f.failed("write", err)
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.disk.broken.err(); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(p, off)
	return n, f.failed("write", err)
}

func (f *file) Sync() error     { return f.sync(f.File.Sync) }
func (f *file) SyncData() error { return f.sync(f.File.SyncData) }

func (f *file) SyncTo(length int64) (whole bool, err error) {
	err = f.sync(func() (err error) { whole, err = f.File.SyncTo(length); return err })
	return whole, err
}

func (f *file) sync(sync func() error) error {
	if err := f.disk.broken.err(); err != nil {
		return err
	}
	return f.failed("sync", sync())
}

func (f *file) failed(op string, err error) error {
	if f.table && full(err) {
		time.Sleep(pause)
		return err
	}
	if err == nil {
		return nil
	}
	info := ""
	if s, statErr := f.File.Stat(); statErr == nil {
		info = s.Name()
	}
	err = &fs.PathError{Op: op, Path: info, Err: err}
	f.disk.broken.mark(err)
	return err
}
