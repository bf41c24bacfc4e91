package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The sizes of what is kept in memory before it is written as a table, and with
// it of a log. On a small disk it is a 64th of it.
const (
	largestMemTable  = 8 << 20
	smallestMemTable = 64 << 10
	diskShare        = 64
)

// What is kept free, in memtables. Below the low-water mark, to which the size of
// all tables is added, only what takes goes on: two logs, the tables made of them,
// and the tables written anew without what is gone must fit there. Below the
// second mark no table is written anew. The reserve is for what somebody else
// filled the disk with between two looks.
const (
	lowWater   = 4
	tableWater = 2
	reserve    = 2
)

// lookEvery bounds how often the disk is asked.
const lookEvery = 100 * time.Millisecond

const reserveFile = "RESERVE"

// A room is what the disk has left for a journal. It may be used concurrently.
type room struct {
	Config
	broken   *broken
	memTable uint64

	looked   atomic.Int64 // when, in nanoseconds of the process's clock
	low      atomic.Bool  // below the low-water mark
	reserved atomic.Bool  // the reserve is there
	start    time.Time
}

// newRoom looks at the disk for the first time, and makes the reserve.
func newRoom(c Config, b *broken) *room {
	r := &room{Config: c, broken: b, memTable: largestMemTable, start: time.Now()}
	if usage, err := c.FS.GetDiskUsage(c.Dir); err == nil {
		r.memTable = min(largestMemTable, max(smallestMemTable, usage.TotalBytes/diskShare))
	}
	_, err := c.FS.Stat(r.path())
	r.reserved.Store(err == nil)
	r.look()
	return r
}

func (r *room) path() string { return r.FS.PathJoin(r.Dir, reserveFile) }

// full reports whether what grows is to be refused.
func (r *room) full() bool {
	now := int64(time.Since(r.start))
	last := r.looked.Load()
	if now-last >= int64(lookEvery) && r.looked.CompareAndSwap(last, now) {
		r.look()
	}
	return r.low.Load()
}

// fits reports whether size bytes more can be written to the log. While there is
// a reserve they can.
func (r *room) fits(size int) bool {
	r.full() // makes the reserve again, if it can be
	return r.reserved.Load() || r.free(uint64(2*size)+r.memTable/4)
}

// fitsAnew reports whether tables may be written anew.
func (r *room) fitsAnew() bool { return r.free(tableWater * r.memTable) }

// free reports whether the disk has so much left; one that cannot say has.
func (r *room) free(bytes uint64) bool {
	usage, err := r.FS.GetDiskUsage(r.Dir)
	return err != nil || usage.AvailBytes >= bytes
}

// tables returns the size of all tables.
func (r *room) tables() (total uint64) {
	names, _ := r.FS.List(r.Dir) // a folder that cannot be read is found elsewhere
	for _, name := range names {
		if !isTable(name) {
			continue
		}
		if info, err := r.FS.Stat(r.FS.PathJoin(r.Dir, name)); err == nil {
			total += uint64(info.Size())
		}
	}
	return total
}

// look asks the disk. What is refused below the low-water mark is let in again
// once there is a memtable more than that.
func (r *room) look() {
	usage, err := r.FS.GetDiskUsage(r.Dir)
	if errors.Is(err, fs.ErrNotExist) { // what is written from now on is gone with the process
		r.broken.mark(fmt.Errorf("folder %s was removed: %w", r.Dir, err))
	}
	if err != nil {
		return // a file system that cannot say, such as one in memory
	}
	mark := lowWater*r.memTable + r.tables()
	if r.low.Load() {
		mark += r.memTable
	}
	if !r.reserved.Load() {
		mark += reserve * r.memTable
	}
	if usage.AvailBytes < mark {
		if !r.low.Swap(true) {
			r.Log.Warn("journal: the disk is almost full; what grows is refused until there is room", "dir", r.Dir, "free", usage.AvailBytes, "needed", mark)
		}
		return
	}
	if !r.reserved.Load() && r.make() != nil {
		return
	}
	if r.low.Swap(false) {
		r.Log.Info("journal: there is room on the disk again", "dir", r.Dir)
	}
}

// make writes the reserve.
func (r *room) make() error {
	err := writeFile(r.FS, r.path(), make([]byte, reserve*r.memTable))
	r.reserved.Store(err == nil)
	return err
}

// release gives the reserve up, because a write found the disk full.
func (r *room) release() {
	r.low.Store(true)
	if r.reserved.Swap(false) {
		r.Log.Warn("journal: the disk is full; the reserve is given up", "dir", r.Dir)
		_ = r.FS.Remove(r.path()) // the write that is tried again says whether it helped
	}
}

// disk is the file system that the store writes to.
func (j *Journal) disk() vfs.FS {
	return disk{FS: vfs.OnDiskFull(j.FS, j.room.release), dir: j.Dir, room: j.room, broken: &j.broken}
}

// Full implements journal.Roomy: it asks the disk at most ten times a second.
func (j *Journal) Full() bool { return j.room.full() }
