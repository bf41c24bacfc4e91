package pebble

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// newestFile holds the number of the newest log, since nothing else tells that
// the last log of all is missing.
const newestFile = "NEWEST"

// newest is the number of the newest log, here and in the folder; 0: there is none. It
// may be used concurrently.
type newest struct {
	mu  sync.Mutex // guards num, and the file
	num uint32
}

// noteNewest is called by the store when a log was made, before it writes to it. A note that
// cannot be written breaks the journal, because a missing log would not be noticed.
func (j *Journal) noteNewest(i lsm.WALCreateInfo) {
	if i.Err != nil {
		return
	}
	j.newest.mu.Lock()
	defer j.newest.mu.Unlock()
	j.newest.num = uint32(i.FileNum)
	if err := writeNewest(j.disk(), j.Dir, j.newest.num); err != nil {
		j.broken.mark(err)
	}
}

// forgetIfNewest removes the note of the newest log if it names log, which is about to be removed because the tables
// have all its records. Otherwise the next start would report damage (checkNewest). At a start a log is removed
// before a newer one is made, so the newest log itself may be removed. If the note cannot be removed, the error keeps
// the log.
func (j *Journal) forgetIfNewest(log string) error {
	num, _ := logNumber(log)
	j.newest.mu.Lock()
	defer j.newest.mu.Unlock()
	if num != j.newest.num {
		return nil
	}
	j.newest.num = 0
	return writeNewest(j.disk(), j.Dir, 0)
}

// writeNewest notes durably which log of a folder is the newest. With 0 it removes the note, which may be absent
// already; it is removed durably before its log, because a note without its log is damage.
func writeNewest(fs vfs.FS, dir string, num uint32) error {
	path := fs.PathJoin(dir, newestFile)
	if num == 0 {
		err := fs.Remove(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return errors.Join(err, syncDir(fs, dir))
	}
	return writeFile(fs, path, fmt.Appendf(nil, "%d\n", num))
}

// readNewest returns the number of the newest log; 0: none is noted.
func (j *Journal) readNewest() (uint32, error) {
	data, err := readFile(j.FS, j.FS.PathJoin(j.Dir, newestFile))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // the first start was interrupted
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 32)
	if err != nil {
		return 0, damage{file: newestFile, at: 0, what: "this is not the number of a log"}
	}
	return uint32(n), nil
}

// checkNewest reads the number of the newest log for later use. It fails if one is noted and missing among logs.
func (j *Journal) checkNewest(logs []*logFile) error {
	n, err := j.readNewest()
	if err != nil || n == 0 {
		return err
	}
	j.newest.num = n
	for _, l := range logs {
		if l.num == n {
			return nil
		}
	}
	return damage{file: fmt.Sprintf("%06d.log", n), at: wholeFile, what: "the newest log is missing"}
}
