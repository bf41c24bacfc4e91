package pebble_test

import (
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/space/journal/pebble"
)

// slowDisk is full for tables once it is full, until its reserve is removed. That takes
// until a caller has asked how much space there is, if one does.
type slowDisk struct {
	smallDisk
	full, giving, asked atomic.Bool
	removing            chan struct{} // closed when the reserve is about to be removed
}

// GetDiskUsage notes that the disk was asked while the reserve is removed.
func (d *slowDisk) GetDiskUsage(name string) (vfs.DiskUsage, error) {
	usage, err := d.smallDisk.GetDiskUsage(name)
	if d.giving.Load() {
		d.asked.Store(true)
	}
	return usage, err
}

// Create refuses tables while the disk is full.
func (d *slowDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if d.full.Load() && strings.HasSuffix(name, ".sst") {
		return nil, syscall.ENOSPC
	}
	return d.FS.Create(name, c)
}

// Remove takes long for the reserve: it lets other goroutines run until one has asked the disk,
// and goes on only then. Afterwards the disk has space.
func (d *slowDisk) Remove(name string) error {
	if !strings.HasSuffix(name, "RESERVE") {
		return d.FS.Remove(name)
	}
	d.giving.Store(true)
	close(d.removing)
	for turns := 0; turns < 100_000 && !d.asked.Load(); turns++ { // a caller that waits for the table may not
		runtime.Gosched()
	}
	for range 1000 { // the caller that asked goes on, unless it waits for the reserve
		runtime.Gosched()
	}
	err := d.FS.Remove(name)
	d.full.Store(false)
	d.free.Store(32 * mib)
	return err
}

// A table does not fit, and the reserve is being given up for it: a commit at that moment
// is not refused, although the reserve is not free yet.
func TestFault12WhileTheReserveIsGivenUpNothingIsRefused(t *testing.T) {
	t.Parallel()
	d := &slowDisk{smallDisk: smallDisk{FS: vfs.NewMem()}, removing: make(chan struct{})}
	d.total.Store(8 * mib) // a memtable is 128 KiB
	d.free.Store(4 * mib)
	j := open(t, pebble.Config{Dir: dir, FS: d})
	d.full.Store(true)
	d.free.Store(0)
	n := 0
	for given := false; !given; n++ {
		fill(t, j, n, n+1, 1000)
		select {
		case <-d.removing:
			given = true
		default:
		}
	}
	fill(t, j, n, n+10, 100)
}
