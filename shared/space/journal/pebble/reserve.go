package pebble

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/fault"
)

const reserveFile = "RESERVE"

func (s *diskSpace) reservePath() string { return s.FS.PathJoin(s.Dir, reserveFile) }

// makeReserve makes the reserve if it is not there and fits: then records that grow the journal
// may be accepted again (updateLow). A file system that cannot say how full it is, such as one
// in memory, needs none.
func (s *diskSpace) makeReserve() {
	usage, err := s.FS.GetDiskUsage(s.Dir)
	if s.reserved.Load() || err != nil || usage.AvailBytes < s.neededForGrowth() {
		return
	}
	err = writeFile(s.FS, s.reservePath(), make([]byte, reserve*s.memTable))
	s.reserved.Store(err == nil)
	if err != nil {
		_ = s.FS.Remove(s.reservePath() + ".new") // it may have filled the disk
	}
}

// removeReserve removes the reserve and refuses records that grow the journal, because a write
// found the disk full. The store repeats that write. removing is locked meanwhile, so that
// isFreeWithReserve does not count the reserve twice.
func (s *diskSpace) removeReserve() {
	s.refuseGrowth()
	s.removing.Lock()
	defer s.removing.Unlock()
	if s.reserved.Swap(false) {
		s.Log.Warn("journal: the disk is full; the reserve is given up", "dir", s.Dir)
		_ = s.FS.Remove(s.reservePath()) // the repeated write shows whether it helped
	}
}

// requireSpaceToOpen requires the space to open the store, which makes tables of its logs then: as much as the logs
// take, and logWater. It removes the reserve if needed.
func (s *diskSpace) requireSpaceToOpen() error {
	need := logWater * s.memTable
	names, err := s.FS.List(s.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := s.FS.Stat(s.FS.PathJoin(s.Dir, name)); err == nil && isLog(name) {
			need += uint64(info.Size())
		}
	}
	if s.isFree(need) {
		return nil
	}
	s.removeReserve()
	usage, err := s.FS.GetDiskUsage(s.Dir)
	if err == nil && usage.AvailBytes < need {
		return fmt.Errorf("%w: the disk is full: %s must be free to start, %s are: free some, or move the data to another disk",
			fault.ErrFolder, size(need), size(usage.AvailBytes))
	}
	return nil
}

// disk is the file system that the store writes to.
func (j *Journal) disk() vfs.FS {
	return disk{FS: vfs.OnDiskFull(j.FS, j.space.removeReserve), dir: j.Dir, space: j.space, broken: &j.broken, opening: &j.opening, growing: &j.growing, beforeRemoval: j.forgetIfNewest}
}
