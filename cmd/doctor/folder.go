package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/platform"
)

// lowSpace is the disk space in bytes that a few hours of episodes need, spooled and cached.
const lowSpace = 2 << 30

func (f Folders) temp() string {
	if f.Temp != "" {
		return f.Temp
	}
	return os.TempDir()
}

// checkDataFolder checks that the data folder can be created, locked and written. A folder that
// another process holds is OK.
func checkDataFolder(dir string) Finding {
	f := Finding{Check: "data folder", State: OK, What: dir}
	if err := platform.BrokenLink(dir); err != nil {
		f.State, f.What, f.Advice = Fail, err.Error(), "create the target of the link, or name another folder with --data"
		return f
	}
	_, statErr := os.Stat(dir)
	if errors.Is(statErr, os.ErrNotExist) {
		// Only check that the folder could be created, because doctor changes nothing.
		return checkWritable(f, nearestExisting(dir), dir+", which will be created")
	}
	release, err := datadir.Lock(dir)
	if errors.Is(err, fault.ErrConflict) {
		f.What = err.Error()
		return f
	}
	if err != nil {
		f.State, f.What, f.Advice = Fail, err.Error(), letWrite(dir)
		return f
	}
	if err := release(); err != nil {
		f.State, f.What = Warn, err.Error()
		return f
	}
	return checkWritable(f, dir, dir)
}

// checkWritable completes f: it checks that a file can be written, synced and removed in dir.
// what describes the folder in the finding.
func checkWritable(f Finding, dir, what string) Finding {
	f.What = what
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err == nil {
		_, err = file.WriteString("leasehold doctor\n")
		err = errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
	}
	if err != nil {
		f.State, f.What, f.Advice = Fail, err.Error(), letWrite(dir)
	}
	return f
}

// letWrite is the advice if a folder cannot be written. It names the user, because in a container it is often not
// the folder's owner.
func letWrite(dir string) string {
	uid := os.Getuid()
	return fmt.Sprintf("let user %d write to it (chown -R %d %s), or name another folder with --data", uid, uid, dir)
}

// nearestExisting returns dir or its nearest parent that exists.
func nearestExisting(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// checkDiskSpace checks the free space of the disk that dir is on, or would be on. check is
// the name of the finding.
func checkDiskSpace(check, dir string) Finding {
	f := Finding{Check: check, State: OK}
	free, err := platform.FreeSpace(nearestExisting(dir))
	if err != nil {
		f.State, f.What = Warn, err.Error()
		return f
	}
	f.What = fmt.Sprintf("%.1f GB free at %s", float64(free)/1e9, dir)
	if free < lowSpace {
		f.State, f.Advice = Warn, "an hour of an episode takes 115 MB while it is researched, and is kept in the cache: free some space, or lower cache-bytes"
	}
	return f
}
