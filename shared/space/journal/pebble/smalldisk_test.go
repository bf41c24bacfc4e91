package pebble_test

import (
	"errors"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// smallDisk is a file system that reports a fixed size, regardless of its content.
type smallDisk struct {
	vfs.FS
	total, free atomic.Uint64
}

func (d *smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{TotalBytes: d.total.Load(), AvailBytes: d.free.Load(), UsedBytes: d.total.Load() - d.free.Load()}, nil
}

func (d *smallDisk) Unwrap() vfs.FS { return d.FS }

func isAnyOf(err error, kinds ...error) bool {
	for _, k := range kinds {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}
