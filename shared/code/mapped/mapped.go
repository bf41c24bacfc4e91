// Package mapped maps files into memory for reading, so that the parts of an index that
// searches use stay in the system's cache and need no memory of the process.
//
// A mapped file may be removed and replaced. Windows does not allow that, so there the file
// is read.
package mapped

import (
	"os"
	"runtime"

	"leasehold/shared/process/platform"
)

// Open maps the file at path. The caller calls unmap after its last use of data. An empty file
// cannot be mapped, and Windows does not let a mapped file be removed; there it reads the file
// instead.
func Open(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 || runtime.GOOS == "windows" {
		data, err = os.ReadFile(path)
		return data, func() error { return nil }, err
	}
	data, err = platform.MapFile(f, int(info.Size()))
	return data, func() error { return platform.UnmapFile(data) }, err
}
