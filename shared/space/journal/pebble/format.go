package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/codec"
)

// Format is the number of the format that this program reads and writes, for the facts, the keys and the store's
// files.
const Format = codec.Version

const (
	formatFile   = "FORMAT"
	formatPrefix = "leasehold journal "
)

// checkFormat marks a new journal, and refuses one of another format.
func (j *Journal) checkFormat() error {
	isNew, err := j.readFormat()
	if err != nil || !isNew {
		return err
	}
	return j.writeFormat()
}

// readFormat reports whether the journal is new, so that it has no format yet. Another format is
// fault.ErrInvalid; a file that is damaged, or missing although there is a journal, is
// fault.ErrCorrupt.
func (j *Journal) readFormat() (isNew bool, err error) {
	data, err := readFile(j.FS, j.FS.PathJoin(j.Dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) {
		return true, j.requireUnmarked()
	}
	if err != nil {
		return false, err
	}
	number, ok := strings.CutPrefix(strings.TrimSpace(string(data)), formatPrefix)
	have, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || have < 0:
		return false, damage{file: formatFile, at: 0, what: fmt.Sprintf("want %q and a number", formatPrefix)}
	case have != Format:
		return false, fmt.Errorf("it has format %d, this program reads format %d: use the leasehold that wrote it (if none did, the file FORMAT is damaged): %w", have, Format, fault.ErrInvalid)
	}
	return false, nil
}

// requireUnmarked refuses a journal without a format unless it is new: the store has no files then.
func (j *Journal) requireUnmarked() error {
	names, err := j.FS.List(j.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "MANIFEST-") || isLog(name) {
			return damage{file: formatFile, at: wholeFile, what: "it is missing, so that the format is unknown"}
		}
	}
	return nil
}

func (j *Journal) writeFormat() error {
	return writeFile(j.FS, j.FS.PathJoin(j.Dir, formatFile), formatText(Format))
}

func formatText(n int) []byte { return fmt.Appendf(nil, "%s%d\n", formatPrefix, n) }
