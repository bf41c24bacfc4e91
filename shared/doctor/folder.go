package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"leasehold/shared/datadir"
	"leasehold/shared/fault"
)

// lowSpace is what a few hours of episodes need, spooled and cached.
const lowSpace = 2 << 30

func (f Folders) temp() string {
	if f.Temp != "" {
		return f.Temp
	}
	return os.TempDir()
}

// dataFolder looks whether the data folder can be had: made, locked and written.
func dataFolder(dir string) Finding {
	f := Finding{Check: "data folder", State: OK, What: dir}
	_, statErr := os.Stat(dir)
	if errors.Is(statErr, os.ErrNotExist) {
		// It is not made here: what counts is whether it could be.
		return writable(f, nearest(dir), dir+", which will be made")
	}
	release, err := datadir.Lock(dir)
	if errors.Is(err, fault.ErrConflict) {
		f.What = err.Error()
		return f
	}
	if err != nil {
		f.State, f.What, f.Advice = Fail, err.Error(), "name another folder with --data, or let this user write it"
		return f
	}
	if err := release(); err != nil {
		f.State, f.What = Warn, err.Error()
		return f
	}
	return writable(f, dir, dir)
}

// writable writes a file, waits until the disk has it, and removes it.
func writable(f Finding, dir, what string) Finding {
	f.What = what
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err == nil {
		_, err = file.WriteString("leasehold doctor\n")
		err = errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
	}
	if err != nil {
		f.State, f.What, f.Advice = Fail, err.Error(), "name another folder with --data, or let this user write it"
	}
	return f
}

// nearest is the folder above dir that is there.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// space looks how much room a folder's disk has.
func space(check, dir string) Finding {
	f := Finding{Check: check, State: OK}
	var s syscall.Statfs_t
	if err := syscall.Statfs(nearest(dir), &s); err != nil {
		f.State, f.What = Warn, fmt.Sprintf("%s: %v", dir, err)
		return f
	}
	free := int64(s.Bavail) * int64(s.Bsize)
	f.What = fmt.Sprintf("%.1f GB free at %s", float64(free)/1e9, dir)
	if free < lowSpace {
		f.State, f.Advice = Warn, "an hour of episode takes 115 MB while it is researched, and is kept in the cache: make room, or lower cache-bytes"
	}
	return f
}
