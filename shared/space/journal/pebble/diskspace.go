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

// The space kept free, in memtables. Below lowWater, to which the size of all tables is added, records that grow the
// journal are refused, so that the tables can be rewritten without facts that are gone. Below tableWater the tables
// are not rewritten. Below logWater nothing is written, because the next log and the tables made of two logs must fit
// there. The reserve is a file, to be removed when another program has filled the disk.
const (
	lowWater   = 5
	tableWater = 4
	logWater   = 2
	reserve    = 8
)

// lookEvery is the minimum time between two counts of the tables.
const lookEvery = 100 * time.Millisecond

// diskSpace watches how much space the disk has left for a journal. It may be used
// concurrently.
type diskSpace struct {
	Config
	broken   *broken
	memTable uint64
	start    time.Time
	inUse    func() uint64 // bytes of tables; nil: before the store is open
	lowered  chan struct{} // capacity 1; has a value after low has become true

	counted  atomic.Int64  // when, in nanoseconds of the process's clock
	tables   atomic.Uint64 // bytes that the store uses, when counted
	spare    atomic.Uint64 // bytes of tables that it is rewriting, or has not removed yet
	reserved atomic.Bool   // the reserve is there

	removing sync.RWMutex // write-locked while the reserve is removed

	mu  sync.Mutex  // held to change low
	low atomic.Bool // records that grow the journal are refused
}

// newDiskSpace reads the state of the disk for the first time, and makes the reserve. A file system that does not
// know its size has no limits.
func newDiskSpace(c Config, b *broken) (*diskSpace, error) {
	s := &diskSpace{Config: c, broken: b, memTable: largestMemTable, start: time.Now(), lowered: make(chan struct{}, 1)}
	if usage, err := c.FS.GetDiskUsage(c.Dir); err == nil {
		if usage.TotalBytes < smallestDisk {
			return nil, fmt.Errorf("%w: a disk of %s is too small for a journal, which needs %s: give a folder on another disk",
				fault.ErrFolder, size(usage.TotalBytes), size(smallestDisk))
		}
		s.memTable = min(largestMemTable, max(smallestMemTable, usage.TotalBytes/diskShare))
	}
	_, err := c.FS.Stat(s.reservePath())
	s.reserved.Store(err == nil)
	s.countTables()
	s.makeReserve()
	s.updateLow()
	return s, nil
}

// checkFull reports whether records that grow the journal must be refused. It asks the disk at
// most once in lookEvery, so that it may return what was true then.
func (s *diskSpace) checkFull() bool {
	now := int64(time.Since(s.start))
	last := s.counted.Load()
	if now-last >= int64(lookEvery) && s.counted.CompareAndSwap(last, now) {
		s.countTables()
		s.updateLow()
	}
	return s.low.Load()
}

// countTables notes the size of the tables in use, and of the spare ones, which will be free soon. Before the store
// is open all count as in use.
func (s *diskSpace) countTables() {
	total := uint64(0)
	names, _ := s.FS.List(s.Dir) // a folder that cannot be read is found elsewhere
	for _, name := range names {
		if !isTable(name) {
			continue
		}
		if info, err := s.FS.Stat(s.FS.PathJoin(s.Dir, name)); err == nil {
			total += uint64(info.Size())
		}
	}
	used := total
	if s.inUse != nil {
		used = min(total, s.inUse())
	}
	s.tables.Store(used)
	s.spare.Store(total - used)
}

// fits reports whether size bytes more can be written to the log, if need be after the reserve
// was removed: twice the size, because a table is made of the log, and the space for logWater.
// It asks the disk each time, so that many commits between two calls of checkFull do not go past the
// low-water mark.
func (s *diskSpace) fits(size int) bool {
	s.checkFull() // it counts the tables if the last count is old; the answer is not needed
	s.updateLow()
	return s.isFreeWithReserve(uint64(2*size) + logWater*s.memTable)
}

// isFreeWithReserve reports whether that many bytes are free on the disk, counting the reserve.
func (s *diskSpace) isFreeWithReserve(bytes uint64) bool {
	s.removing.RLock()
	defer s.removing.RUnlock()
	if s.reserved.Load() {
		bytes -= min(bytes, reserve*s.memTable)
	}
	return s.isFree(bytes)
}

// fitsRewrite reports whether tables may be rewritten.
func (s *diskSpace) fitsRewrite() bool { return s.isFree(tableWater * s.memTable) }

// isFree reports whether that many bytes are free on the disk; true if the disk cannot tell.
func (s *diskSpace) isFree(bytes uint64) bool {
	usage, err := s.FS.GetDiskUsage(s.Dir)
	return err != nil || usage.AvailBytes >= bytes
}

// neededForGrowth is how many bytes must be free for records that grow the journal: the
// low-water mark. While they are refused it is a memtable more, and while the reserve is
// missing it is the reserve more, so that they are not accepted and refused in turns.
func (s *diskSpace) neededForGrowth() uint64 {
	needed := lowWater*s.memTable + s.tables.Load()
	if s.low.Load() {
		needed += s.memTable
	}
	if !s.reserved.Load() {
		needed += reserve * s.memTable
	}
	return needed
}

// updateLow asks the disk whether records that grow the journal must be refused. They are
// accepted again only when the reserve was made again.
func (s *diskSpace) updateLow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	usage, err := s.FS.GetDiskUsage(s.Dir)
	if errors.Is(err, fs.ErrNotExist) { // later writes end with the process
		s.broken.mark(fmt.Errorf("folder %s was removed: %w: %w", s.Dir, fault.ErrFolder, err))
	}
	if err != nil {
		return // a file system that cannot say, such as one in memory
	}
	needed := s.neededForGrowth()
	switch low := usage.AvailBytes+s.spare.Load() < needed; {
	case low && !s.low.Load():
		s.refuseGrowth()
		s.Log.Warn("journal: the disk is almost full; records that grow the journal are refused until there is space", "dir", s.Dir, "free", usage.AvailBytes, "needed", needed)
	case !low && s.low.Load() && s.reserved.Load():
		s.low.Store(false)
		s.Log.Info("journal: the disk has space again", "dir", s.Dir)
	}
}

// refuseGrowth refuses records that grow the journal from now on, and wakes the sweeper.
func (s *diskSpace) refuseGrowth() {
	s.low.Store(true)
	select {
	case s.lowered <- struct{}{}:
	default:
	}
}

// Full implements journal.FullReporter: it asks the disk at most ten times a second.
func (j *Journal) Full() bool { return j.space.checkFull() }

// size returns a number of bytes as text for people, in KiB or MiB.
func size(bytes uint64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}
