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
// the journal is opened and closed and by SetStamp, each time after what it tells is
// durable. So a journal that ends before the position in it was cut off.
const stampFile = "STAMP"

const stampFormat = "leasehold journal %q counter %d position %d ref %d clock %d at %d"

func stampText(s journal.Stamp) []byte {
	text := fmt.Sprintf(stampFormat, s.Instance, s.Counter, s.Position, s.Ref, s.Clock, s.At.UnixNano())
	return fmt.Appendf(nil, "%s sum %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// readStamp reads the stamp of a folder. It is empty if there is none.
func readStamp(disk vfs.FS, dir string) (s journal.Stamp, err error) {
	data, err := readFile(disk, disk.PathJoin(dir, stampFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	var at int64
	text, sum, _ := strings.Cut(string(data), " sum ")
	_, err = fmt.Sscanf(text, stampFormat, &s.Instance, &s.Counter, &s.Position, &s.Ref, &s.Clock, &at)
	if err != nil || sum != fmt.Sprintf("%08x\n", crc32.Checksum([]byte(text), castagnoli)) {
		return journal.Stamp{}, damage{file: stampFile, at: 0, what: "this is not what was written"}
	}
	s.At = time.Unix(0, at)
	return s, nil
}

// ReadStamp reads the stamp of a journal that is not open; exists reports whether there
// is a journal: a folder in which a store was made. A damaged stamp is fault.ErrCorrupt.
func ReadStamp(c Config) (s journal.Stamp, exists bool, err error) {
	c = c.withDefaults()
	names, err := c.FS.List(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	for _, name := range names {
		exists = exists || strings.HasPrefix(name, "MANIFEST-") || isTable(name) || isLog(name)
	}
	if err == nil {
		s, err = readStamp(c.FS, c.Dir)
	}
	return s, exists, err
}

// checkStamp checks that the journal does not end before a position that it had.
func (j *Journal) checkStamp(logs []*logFile, end journal.Position) error {
	if end >= j.stamp.Position {
		return nil
	}
	file := "the newest log"
	if len(logs) > 0 {
		file = logs[len(logs)-1].name
	}
	return damage{file: file, at: -1, what: fmt.Sprintf("the journal ends at position %d, but was at %d at %s: its end was cut off",
		end, j.stamp.Position, j.stamp.At.UTC().Format(time.RFC3339))}
}

// timeOf returns when the journal was at a standing, if its stamp is of the same run.
func timeOf(s journal.Stamp, at journal.Standing) time.Time {
	if s.At.IsZero() {
		return s.At
	}
	return s.At.Add(max(0, at.Clock-s.Clock))
}

// Stamp implements journal.Stamped.
func (j *Journal) Stamp() journal.Stamp {
	j.stampMu.Lock()
	defer j.stampMu.Unlock()
	return j.stamp
}

// SetStamp implements journal.Stamped.
func (j *Journal) SetStamp(instance string, counter uint64) error {
	j.stampMu.Lock()
	defer j.stampMu.Unlock()
	j.mu.Lock()
	at, err := j.standing, j.usable()
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return j.writeStamp(instance, counter, at)
}

// writeStamp is called by the holder of stampMu, or by one that shares the journal with
// no other goroutine.
func (j *Journal) writeStamp(instance string, counter uint64, at journal.Standing) error {
	s := journal.Stamp{Instance: instance, Counter: counter, Position: at.Position, Ref: at.Ref, Clock: at.Clock, At: time.Now()}
	if err := writeFile(j.FS, j.FS.PathJoin(j.Dir, stampFile), stampText(s)); err != nil {
		return classify(err)
	}
	j.stamp = s
	return nil
}

// restamp writes the stamp for the position of now. If the disk is full the older stamp
// stays, which is true too.
func (j *Journal) restamp() error {
	err := j.writeStamp(j.stamp.Instance, j.stamp.Counter, j.standing)
	if full(err) {
		err = j.FS.Remove(j.FS.PathJoin(j.Dir, stampFile+".new"))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
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
