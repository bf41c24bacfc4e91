package pebble

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/space/journal"
)

// stampFile holds the journal's stamp, in a line with a checksum. A stamp is written when
// the journal is opened and closed, each time after what it tells is durable. So a journal that ends before the position in it was cut off.
const stampFile = "STAMP"

const stampFormat = "leasehold journal position %d ref %d clock %d at %d"

// stamp tells how far a journal was at a time.
type stamp struct {
	position journal.Position
	ref      int64
	clock    time.Duration // elapsed engine time at position
	at       time.Time     // when the stamp was written
}

func stampText(s stamp) []byte {
	text := fmt.Sprintf(stampFormat, s.position, s.ref, s.clock, s.at.UnixNano())
	return fmt.Appendf(nil, "%s sum %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// readStamp reads the stamp of a folder. It is empty if there is none.
func readStamp(disk vfs.FS, dir string) (s stamp, err error) {
	data, err := readFile(disk, disk.PathJoin(dir, stampFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	var at int64
	text, sum, _ := strings.Cut(string(data), " sum ")
	_, err = fmt.Sscanf(text, stampFormat, &s.position, &s.ref, &s.clock, &at)
	if err != nil || sum != fmt.Sprintf("%08x\n", crc32.Checksum([]byte(text), castagnoli)) {
		return stamp{}, damage{file: stampFile, at: 0, what: "this is not what was written"}
	}
	s.at = time.Unix(0, at)
	return s, nil
}

// checkStamp checks that the journal does not end before a position that it had.
func (j *Journal) checkStamp(logs []*logFile, end journal.Position) error {
	if end >= j.stamp.position {
		return nil
	}
	file := "the newest log"
	if len(logs) > 0 {
		file = logs[len(logs)-1].name
	}
	return damage{file: file, at: -1, what: fmt.Sprintf("the journal ends at position %d, but was at %d at %s: its end was cut off",
		end, j.stamp.position, j.stamp.at.UTC().Format(time.RFC3339))}
}

// timeOf returns when the journal was at a standing, if its stamp is of the same run.
func timeOf(s stamp, at journal.Standing) time.Time {
	if s.at.IsZero() {
		return s.at
	}
	return s.at.Add(max(0, at.Clock-s.clock))
}

// lastStamp returns the stamp that is on disk.
func (j *Journal) lastStamp() stamp {
	j.stampMu.Lock()
	defer j.stampMu.Unlock()
	return j.stamp
}

// restamp writes the stamp for the position of now. If the disk is full the older stamp
// stays, which is true too. It is called by the holder of stampMu, or by one that shares
// the journal with no other goroutine.
func (j *Journal) restamp() error {
	path := j.FS.PathJoin(j.Dir, stampFile)
	s := stamp{position: j.standing.Position, ref: j.standing.Ref, clock: j.standing.Clock, at: time.Now()}
	err := writeFile(j.FS, path, stampText(s))
	if err == nil {
		j.stamp = s
		return nil
	}
	if err = classify(err); !full(err) {
		return err
	}
	if err = j.FS.Remove(path + ".new"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// timeText is a time for people, in whole seconds.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.RFC3339)
}
