package pebble

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/fault"
)

const reserveFile = "RESERVE"

func (r *diskSpace) path() string { return r.FS.PathJoin(r.Dir, reserveFile) }

// restore makes the reserve if it is not there and fits. A file
// system that cannot say how full it is, such as one in memory, needs none.
func (r *diskSpace) restore() {
	usage, err := r.FS.GetDiskUsage(r.Dir)
	if r.reserved.Load() || err != nil || usage.AvailBytes < r.mark() {
		return
	}
	err = writeFile(r.FS, r.path(), make([]byte, reserve*r.memTable))
	r.reserved.Store(err == nil)
	if err != nil {
		_ = r.FS.Remove(r.path() + ".new") // it may have filled the disk
	}
}

// release gives the reserve up, because a write found the disk full.
func (r *diskSpace) release() {
	r.lower()
	r.giving.Lock()
	defer r.giving.Unlock()
	if r.reserved.Swap(false) {
		r.Log.Warn("journal: the disk is full; the reserve is given up", "dir", r.Dir)
		_ = r.FS.Remove(r.path()) // the repeated write shows whether it helped
	}
}

// opens sees that the store can be opened, with the reserve if need be: it makes
// tables of its logs.
func (r *diskSpace) opens() error {
	need := logWater * r.memTable
	names, err := r.FS.List(r.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := r.FS.Stat(r.FS.PathJoin(r.Dir, name)); err == nil && isLog(name) {
			need += uint64(info.Size())
		}
	}
	if r.free(need) {
		return nil
	}
	r.release()
	usage, err := r.FS.GetDiskUsage(r.Dir)
	if err == nil && usage.AvailBytes < need {
		return fmt.Errorf("%w: the disk is full: %s must be free to start, %s are: free some, or move the data to another disk",
			fault.ErrFolder, size(need), size(usage.AvailBytes))
	}
	return nil
}

// disk is the file system that the store writes to.
func (j *Journal) disk() vfs.FS {
	return disk{FS: vfs.OnDiskFull(j.FS, j.space.release), dir: j.Dir, space: j.space, broken: &j.broken, opening: &j.opening, growing: &j.growing, letGo: j.letGo}
}
