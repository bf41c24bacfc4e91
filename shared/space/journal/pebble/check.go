package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// damage describes a defect of a journal.
type damage struct {
	file string
	at   int // offset; wholeFile: none
	what string
}

// wholeFile is where damage is that has no offset.
const wholeFile = -1

// Error returns the file, the offset, if it is known, and the defect.
func (d damage) Error() string {
	where := d.file
	if d.at >= 0 {
		where += fmt.Sprintf(" at offset %d", d.at)
	}
	return where + ": " + d.what
}

// nameJournal adds the journal to an error, which must not be nil, and, if it is damaged, what can
// be done.
func (c Config) nameJournal(err error) error {
	err = fmt.Errorf("journal %s: %w", c.Dir, err)
	if errors.Is(err, fault.ErrCorrupt) {
		return fmt.Errorf("%w; leasehold repair --data %s prints what can be kept; or restore a backup into an empty folder: leasehold restore BACKUP --data FOLDER", err, c.FS.PathDir(c.Dir))
	}
	return err
}

func (d damage) Is(target error) bool { return target == fault.ErrCorrupt }

// logFile is one of the store's logs.
type logFile struct {
	name     string
	num      uint32
	size     int
	original uint32 // the number of the log that it is a copy of; 0: it is not one
	scanned
}

// readLogs reads the logs in a folder in the order of their numbers, each whole, up to its first damage, which is in
// scanned.
func readLogs(fs vfs.FS, dir string) ([]*logFile, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	var logs []*logFile
	for _, name := range names {
		num, ok := logNumber(name)
		if !ok {
			continue
		}
		data, err := readFile(fs, fs.PathJoin(dir, name))
		if err != nil {
			return nil, err
		}
		l := log{data: data, num: num, full: logFull}
		logs = append(logs, &logFile{name: name, num: l.num, size: len(data), original: l.original(), scanned: l.scan()})
	}
	slices.SortFunc(logs, func(a, b *logFile) int { return int(a.num) - int(b.num) })
	return logs, nil
}

// checkLogs checks that the records of the logs, which are in order, go on from where the tables stand without a gap.
// The first record may begin before that position, because the tables have what older logs had, but not behind it. It
// returns the position that they lead to, and the log, if there is one, that ends in bytes other than a record: the
// journal ends there, so no record may follow. An error is damage, and end and torn are zero then.
func checkLogs(logs []*logFile, tables journal.Position) (end journal.Position, torn *logFile, err error) {
	at, first := tables, true
	for _, l := range logs {
		if l.original != 0 {
			return 0, nil, damage{file: l.name, what: fmt.Sprintf("this is log %06d under another name: a log is here twice", l.original)}
		}
		for _, r := range l.records {
			if torn != nil {
				return 0, nil, damage{file: torn.name, at: torn.end, what: "this is not a record, but records follow in " + l.name}
			}
			step, ok := stepOf(r.payload)
			leadsOn := step.From == at || first && step.From < at
			switch {
			case !ok:
				return 0, nil, damage{file: l.name, at: r.at, what: "this record is not of a journal"}
			case !leadsOn:
				return 0, nil, damage{file: l.name, at: r.at, what: describeGap(at, step.From)}
			}
			at, first = step.Position, false
		}
		if l.behind {
			return 0, nil, damage{file: l.name, at: l.end, what: "this is not a record, but records follow"}
		}
		if !l.clean {
			torn = l
		}
	}
	return max(at, tables), torn, nil
}

// describeGap describes a record that leads on from a position other than at, where the records
// before it end.
func describeGap(at, from journal.Position) string {
	if from < at {
		return fmt.Sprintf("this record leads on from position %d, where the journal was before it came to %d: a log is here twice", from, at)
	}
	return fmt.Sprintf("this record leads on from position %d, but the ones before it end at %d: a log is missing", from, at)
}

// stepOf reads from where to where a record leads: its first change, behind a head of 12 bytes, is a set of the
// standing's key. It reports false for anything else.
func stepOf(payload []byte) (codec.Step, bool) {
	const head = 12 // of a batch: the sequence number (8) and the count of changes (4)
	const set = 1   // the kind of a change; the length of its key follows, then the key
	key := codec.StandingKey()
	prefix := append([]byte{set, byte(len(key))}, key...)
	if len(payload) < head {
		return codec.Step{}, false
	}
	value, ok := bytes.CutPrefix(payload[head:], prefix)
	size, n := binary.Uvarint(value)
	if !ok || n <= 0 || size > uint64(len(value)-n) {
		return codec.Step{}, false
	}
	step, err := codec.DecodeStep(value[n:][:size])
	return step, err == nil
}
