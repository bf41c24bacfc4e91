package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
)

// The size of a memtable, which is kept in memory before it is written as a table, and
// with it the size of a log. On a small disk it is a 64th of it.
const (
	largestMemTable  = 4 << 20
	smallestMemTable = 64 << 10
	diskShare        = 64
	smallestDisk     = 32 * smallestMemTable
)

// The space that is kept free, in memtables. Below the low-water mark, to which the size of
// all tables is added, only records that remove are written: so the tables can be rewritten
// without facts that are gone. Below the second mark they are not, and below the third
// nothing is written: the next log and the tables made of two must fit there. The
// reserve is for a disk that another program has filled.
const (
	lowWater   = 5
	tableWater = 4
	logWater   = 2
	reserve    = 8
)

// lookEvery bounds how often the tables are counted.
const lookEvery = 100 * time.Millisecond

// diskSpace watches how much space the disk has left for a journal. It may be used
// concurrently.
type diskSpace struct {
	Config
	broken   *broken
	memTable uint64
	start    time.Time
	inUse    func() uint64 // bytes of tables; nil: before the store is open
	lowered  chan struct{} // one that waits: low has become true

	counted  atomic.Int64  // when, in nanoseconds of the process's clock
	tables   atomic.Uint64 // bytes that the store uses, when counted
	spare    atomic.Uint64 // bytes of tables that it is rewriting, or has not removed yet
	reserved atomic.Bool   // the reserve is there

	giving sync.RWMutex // held by who gives the reserve up, until it is free

	mu  sync.Mutex // held by who changes low
	low atomic.Bool
}

// newDiskSpace reads the state of the disk for the first time, and makes the reserve.
func newDiskSpace(c Config, b *broken) (*diskSpace, error) {
	r := &diskSpace{Config: c, broken: b, memTable: largestMemTable, start: time.Now(), lowered: make(chan struct{}, 1)}
	if usage, err := c.FS.GetDiskUsage(c.Dir); err == nil {
		if usage.TotalBytes < smallestDisk {
			return nil, fmt.Errorf("%w: a disk of %s is too small for a journal, which needs %s: give a folder on another disk",
				fault.ErrFolder, size(usage.TotalBytes), size(smallestDisk))
		}
		r.memTable = min(largestMemTable, max(smallestMemTable, usage.TotalBytes/diskShare))
	}
	_, err := c.FS.Stat(r.path())
	r.reserved.Store(err == nil)
	r.count()
	r.restore()
	r.look()
	return r, nil
}

// full reports whether what grows is to be refused.
func (r *diskSpace) full() bool {
	now := int64(time.Since(r.start))
	last := r.counted.Load()
	if now-last >= int64(lookEvery) && r.counted.CompareAndSwap(last, now) {
		r.count()
		r.look()
	}
	return r.low.Load()
}

// count notes the size of all tables.
func (r *diskSpace) count() {
	total := uint64(0)
	names, _ := r.FS.List(r.Dir) // a folder that cannot be read is found elsewhere
	for _, name := range names {
		if !isTable(name) {
			continue
		}
		if info, err := r.FS.Stat(r.FS.PathJoin(r.Dir, name)); err == nil {
			total += uint64(info.Size())
		}
	}
	used := total
	if r.inUse != nil {
		used = min(total, r.inUse())
	}
	r.tables.Store(used)
	r.spare.Store(total - used)
}

// fits reports whether size bytes more can be written to the log, if need be with
// the reserve given up. It looks at the disk, so that many commits between two
// calls of full do not go past the mark.
func (r *diskSpace) fits(size int) bool {
	r.full()
	r.look()
	return r.has(uint64(2*size) + logWater*r.memTable)
}

// has reports whether the disk has so much left, the reserve included.
func (r *diskSpace) has(bytes uint64) bool {
	r.giving.RLock()
	defer r.giving.RUnlock()
	if r.reserved.Load() {
		bytes -= min(bytes, reserve*r.memTable)
	}
	return r.free(bytes)
}

// fitsRewrite reports whether tables may be rewritten.
func (r *diskSpace) fitsRewrite() bool { return r.free(tableWater * r.memTable) }

// free reports whether the disk has so much left; one that cannot say has.
func (r *diskSpace) free(bytes uint64) bool {
	usage, err := r.FS.GetDiskUsage(r.Dir)
	return err != nil || usage.AvailBytes >= bytes
}

// mark is how much must be free for records that grow the journal. They are accepted again
// once there is a memtable more than that, and the reserve was made again.
func (r *diskSpace) mark() uint64 {
	mark := lowWater*r.memTable + r.tables.Load()
	if r.low.Load() {
		mark += r.memTable
	}
	if !r.reserved.Load() {
		mark += reserve * r.memTable
	}
	return mark
}

// look asks the disk whether records that grow the journal must be refused.
func (r *diskSpace) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	usage, err := r.FS.GetDiskUsage(r.Dir)
	if errors.Is(err, fs.ErrNotExist) { // later writes end with the process
		r.broken.mark(fmt.Errorf("folder %s was removed: %w: %w", r.Dir, fault.ErrFolder, err))
	}
	if err != nil {
		return // a file system that cannot say, such as one in memory
	}
	mark := r.mark()
	switch low := usage.AvailBytes+r.spare.Load() < mark; {
	case low && !r.low.Load():
		r.lower()
		r.Log.Warn("journal: the disk is almost full; records that grow the journal are refused until there is space", "dir", r.Dir, "free", usage.AvailBytes, "needed", mark)
	case !low && r.low.Load() && r.reserved.Load():
		r.low.Store(false)
		r.Log.Info("journal: the disk has space again", "dir", r.Dir)
	}
}

// lower has records refused that grow the journal, and wakes the sweeper.
func (r *diskSpace) lower() {
	r.low.Store(true)
	select {
	case r.lowered <- struct{}{}:
	default:
	}
}

// Full implements journal.FullReporter: it asks the disk at most ten times a second.
func (j *Journal) Full() bool { return j.space.full() }

// size is a number of bytes for people.
func size(bytes uint64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}
