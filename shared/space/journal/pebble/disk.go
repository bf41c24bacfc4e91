package pebble

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/process/failpoint"
)

// pause is the wait after a table could not be made or did not fit, because the store tries
// again at once and for ever.
const pause = 50 * time.Millisecond

// disk is a file system that breaks the journal at the first write or sync of one
// of its files that fails, and refuses everything after it.
type disk struct {
	vfs.FS
	dir     string // of the journal
	space   *diskSpace
	broken  *broken
	opening *opening
	growing *growing
	// beforeRemoval is called with the name of a log before the log is removed. If it fails,
	// the log stays.
	beforeRemoval func(log string) error
}

// compaction is the store's name for writing tables that replace others.
const compaction = "pebble-compaction"

// Create makes a file and wraps it (opened). It notes a new log, so that a reader knows where its records end, and a
// table made of others, which needs free space.
func (d disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.opened(name)(d.FS.Create(name, c))
	if f, ok := f.(*file); ok {
		f.rewritten = c == compaction
		if f.kind == ofLog {
			f.written = d.growing.add(name)
		}
	}
	return f, err
}

// Open opens a file to read it. A copy of the growing log ends with the records written now.
func (d disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	return d.growing.upToNow(name, f), nil
}

func (d disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return d.opened(name)(d.FS.OpenReadWrite(name, c, opts...))
}

// Link makes the store copy: a backup that shares its files with the original would be damaged with it. It always
// returns errors.ErrUnsupported.
func (d disk) Link(string, string) error { return errors.ErrUnsupported }

// Remove removes a file that the store no longer needs. beforeRemoval comes first, so that a
// crash between the two leaves a log too many and never one too few; its error is returned, and
// the file stays.
func (d disk) Remove(name string) error {
	if log := d.PathBase(name); isLog(log) {
		if err := d.beforeRemoval(log); err != nil {
			return err
		}
	}
	failpoint.Reached("remove.before", kindOf(name))
	err := d.FS.Remove(name)
	failpoint.Reached("remove.after", kindOf(name))
	d.growing.remove(name)
	return err
}

func (d disk) OpenDir(name string) (vfs.File, error) { return d.opened(name)(d.FS.OpenDir(name)) }

func (d disk) Unwrap() vfs.FS { return d.FS }

// opened returns a function for the results of the call that opened name: it wraps a file of
// the journal, and passes on one of a copy. After the journal broke it closes the file and
// returns why; for a table it does not return while the store is being opened, because the store
// would try again for ever.
func (d disk) opened(name string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if broken := d.broken.err(); broken != nil {
			if err == nil {
				_ = f.Close()
			}
			if kindOf(name) == ofTable {
				d.opening.block()
			}
			return nil, broken
		}
		if err == nil && name != d.dir && d.FS.PathDir(name) != d.dir {
			return f, nil // a copy is being made
		}
		kind := kindOf(name)
		if kind == ofTable && err != nil {
			d.tableFailed(err)
		}
		if err != nil {
			return nil, err
		}
		return &file{File: f, disk: d, kind: kind, written: new(atomic.Int64)}, nil
	}
}

// tableFailed is called when a table could not be made, or did not fit. While the store is being
// opened that breaks the journal; later the store tries again after the pause.
func (d disk) tableFailed(err error) {
	if why := d.opening.failed(err); why != nil {
		d.broken.mark(why)
	}
	time.Sleep(pause)
}

// file is one file of a disk.
type file struct {
	vfs.File
	disk      disk
	kind      string
	rewritten bool // a table made of others
	// Of a log: how many bytes of it are records, and how many are there.
	written *atomic.Int64
	filled  int64
}

// zeros are written ahead of a log's records, so that a sync writes only what was appended,
// and neither a new length nor a newly used block: it takes two thirds of the time. A reader
// of a log finds its end without the length.
var zeros [256 << 10]byte

// writeZeros writes zeros ahead of a log's records, at most a memtable of them, if fewer than size bytes of zeros are
// left. Only the writer of the log calls it.
func (f *file) writeZeros(size int) error {
	written := f.written.Load()
	if written+int64(size) <= f.filled {
		return nil
	}
	ahead := zeros[:min(uint64(len(zeros)), f.disk.space.memTable)]
	_, err := f.File.WriteAt(ahead, max(f.filled, written))
	f.filled = max(f.filled, written) + int64(len(ahead))
	return err
}

// The kinds of file: logs; tables, which are written again if they did not fit; and the
// index, which lists the logs and tables in use.
const (
	ofLog   = "log"
	ofTable = "table"
	ofIndex = "index"
)

// kindOf returns the kind of a file by its name; all but logs and tables count as the index.
func kindOf(name string) string {
	switch {
	case isTable(name):
		return ofTable
	case strings.HasSuffix(name, ".log"):
		return ofLog
	}
	return ofIndex
}

// Write writes p, and zeros ahead of it if the file is a log. If the journal is broken it returns
// why and writes nothing. A rewritten table is refused as if the disk were full if it would take
// the space that the logs need. An error breaks the journal (breakIfFailed).
func (f *file) Write(p []byte) (int, error) {
	if err := f.disk.broken.err(); err != nil {
		return 0, err
	}
	if f.rewritten && !f.disk.space.fitsRewrite() {
		return 0, f.breakIfFailed("write", syscall.ENOSPC)
	}
	if f.kind == ofLog {
		if err := f.writeZeros(len(p)); err != nil {
			return 0, f.breakIfFailed("write", err)
		}
	}
	failpoint.Reached("append.before", f.kind)
	n, err := f.File.Write(p)
	f.written.Add(int64(n))
	failpoint.Reached("append.after", f.kind)
	return n, f.breakIfFailed("write", err)
}

// WriteAt writes p at an offset. If the journal is broken it returns why and writes nothing; an
// error breaks the journal (breakIfFailed).
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.disk.broken.err(); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(p, off)
	return n, f.breakIfFailed("write", err)
}

func (f *file) Sync() error     { return f.sync(f.File.Sync) }
func (f *file) SyncData() error { return f.sync(f.File.SyncData) }

func (f *file) SyncTo(length int64) (whole bool, err error) {
	err = f.sync(func() (err error) { whole, err = f.File.SyncTo(length); return err })
	return whole, err
}

// sync calls sync, unless the journal is broken, whose error it returns then. If sync fails the
// journal breaks, because it is unknown which bytes are on the disk.
func (f *file) sync(sync func() error) error {
	if err := f.disk.broken.err(); err != nil {
		return err
	}
	failpoint.Reached("sync.before", f.kind)
	err := sync()
	failpoint.Reached("sync.after", f.kind)
	return f.breakIfFailed("sync", err)
}

// breakIfFailed returns the error of an operation, and breaks the journal with it; nil stays nil
// and breaks nothing. A table that did not fit does not break the journal here, because the store
// writes it again (tableFailed).
func (f *file) breakIfFailed(op string, err error) error {
	if f.kind == ofTable && isDiskFull(err) {
		f.disk.tableFailed(err)
		return err
	}
	if err == nil {
		return nil
	}
	name := "" // if the file cannot tell it
	if info, statErr := f.File.Stat(); statErr == nil {
		name = info.Name()
	}
	err = &fs.PathError{Op: op, Path: name, Err: err}
	f.disk.broken.mark(err)
	return err
}
