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
	"leasehold/shared/space/journal/pairing"
)

// stampFile holds the journal's stamp, in a line with a checksum. A stamp is written when
// the journal is opened and closed, and with each mark, always after what it tells is
// durable. So a journal that ends before the position in it was cut off.
const stampFile = "STAMP"

// A stamp without a mark ends where markFormat begins.
const (
	stampFormat = "leasehold journal position %d ref %d clock %d at %d closed %t"
	markFormat  = " instance %s counter %d marked %d database %q"
)

// stamp tells how far a journal was at a time, and to which database it belongs.
type stamp struct {
	position journal.Position
	ref      int64
	clock    time.Duration // elapsed engine time at position
	at       time.Time     // when the stamp was written
	closed   bool          // no process has used the journal since then
	mark     pairing.Mark  // without Confirmed
}

// stampText returns the content of the file: the stamp, the mark if there is one, and a checksum.
func stampText(s stamp) []byte {
	text := fmt.Sprintf(stampFormat, s.position, s.ref, s.clock, s.at.UnixNano(), s.closed)
	if m := s.mark; m.Instance != "" {
		text += fmt.Sprintf(markFormat, m.Instance, m.Counter, m.At.UnixNano(), m.Other)
	}
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
	text, sum := string(data), ""
	if at := strings.LastIndex(text, " sum "); at >= 0 {
		text, sum = text[:at], text[at+len(" sum "):]
	}
	s, err = parseStamp(text)
	if err != nil || sum != fmt.Sprintf("%08x\n", crc32.Checksum([]byte(text), castagnoli)) {
		return stamp{}, damage{file: stampFile, at: 0, what: "this is not what was written"}
	}
	return s, nil
}

// parseStamp reads the text of a stamp without its checksum.
func parseStamp(text string) (s stamp, err error) {
	var at, marked int64
	format, to := stampFormat, []any{&s.position, &s.ref, &s.clock, &at, &s.closed}
	if strings.Contains(text, " instance ") {
		format, to = format+markFormat, append(to, &s.mark.Instance, &s.mark.Counter, &marked, &s.mark.Other)
	}
	_, err = fmt.Sscanf(text, format, to...)
	if s.mark.Instance != "" {
		s.mark.At = time.Unix(0, marked)
	}
	s.at = time.Unix(0, at)
	return s, err
}

// checkStamp refuses a journal that ends before a position that it had: records are missing at its end, cut at the
// boundary of a record, which no checksum shows.
func (j *Journal) checkStamp(logs []*logFile, end journal.Position) error {
	if end >= j.stamp.position {
		return nil
	}
	file := "the newest log"
	if len(logs) > 0 {
		file = logs[len(logs)-1].name
	}
	return damage{file: file, at: wholeFile, what: fmt.Sprintf("the journal ends at position %d, but was at %d at %s: its end was cut off",
		end, j.stamp.position, j.stamp.at.UTC().Format(time.RFC3339))}
}

// timeOf estimates when the journal was at a standing: its clock went on since the stamp. It is
// zero if there is no stamp, and too early if the process did not run meanwhile.
func timeOf(s stamp, at journal.Standing) time.Time {
	if s.at.IsZero() {
		return s.at
	}
	return s.at.Add(max(0, at.Clock-s.clock))
}

// lastStamp returns the stamp on disk. It locks stampMu.
func (j *Journal) lastStamp() stamp {
	j.stampMu.Lock()
	defer j.stampMu.Unlock()
	return j.stamp
}

// Whether a stamp states that no process uses the journal any more (stamp.closed).
const (
	stampInUse  = false
	stampClosed = true
)

// restamp writes the stamp for the position of now, with the mark that it has. If the disk is
// full the older stamp stays, which is true too, and there is no error. It is called by the
// holder of stampMu, or by one that shares the journal with no other goroutine.
func (j *Journal) restamp(closed bool) error {
	if err := j.writeStamp(j.stamp.mark, closed); !isDiskFull(err) {
		return err
	}
	return nil
}

// writeStamp writes the stamp for the position of now, with a mark, and with closed as it is: one of stampInUse and
// stampClosed. The caller holds the same lock as in restamp, and not mu. If the disk is full it leaves no part of the
// stamp, and returns that error.
func (j *Journal) writeStamp(m pairing.Mark, closed bool) error {
	j.mu.Lock()
	at := j.standing
	j.mu.Unlock()
	path := j.FS.PathJoin(j.Dir, stampFile)
	s := stamp{position: at.Position, ref: at.Ref, clock: at.Clock, at: time.Now(), closed: closed, mark: m}
	err := writeFile(j.FS, path, stampText(s))
	if err == nil {
		j.stamp = s
		return nil
	}
	err = classify(err)
	if !isDiskFull(err) {
		return err
	}
	if removeErr := j.FS.Remove(path + ".new"); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
		return removeErr
	}
	return err
}

// timeText returns a time for people, in whole seconds of UTC; "unknown" for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.RFC3339)
}
