package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/codec"
)

// Format is the number of the format that this program reads and writes, for the facts, the keys and the store's
// files.
const Format = codec.Version

const (
	formatFile   = "FORMAT"
	formatPrefix = "leasehold journal "
	noFormat     = -1
)

// A Migration makes a journal of one format into one of the next, in place. It
// may be interrupted at any point, and is then begun again.
type Migration func(fs vfs.FS, dir string) error

// migrations are the steps from one format to the next, by the older one.
var migrations = map[int]Migration{
	1: func(vfs.FS, string) error { return nil }, // what version 1 wrote is read as it is
	2: func(vfs.FS, string) error { return nil }, // and so is what version 2 wrote
}

// checkFormat marks a new journal, refuses one of a newer format with fault.ErrInvalid, and migrates an older one
// after a copy of it was made beside it.
func (j *Journal) checkFormat() error {
	have, err := j.readFormat()
	switch {
	case err != nil:
		return err
	case have == noFormat:
		return j.writeFormat(Format)
	}
	return j.migrate(have)
}

// readFormat returns the number of the journal's format, noFormat for a new journal. It refuses a newer format, and a
// damaged file, or a missing one although there is a journal.
func (j *Journal) readFormat() (have int, err error) {
	data, err := readFile(j.FS, j.FS.PathJoin(j.Dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) {
		return noFormat, j.requireUnmarked()
	}
	if err != nil {
		return 0, err
	}
	number, ok := strings.CutPrefix(strings.TrimSpace(string(data)), formatPrefix)
	have, err = strconv.Atoi(number)
	if !ok || err != nil || have < 0 {
		return 0, damage{file: formatFile, at: 0, what: fmt.Sprintf("want %q and a number", formatPrefix)}
	}
	if have > Format {
		return have, fmt.Errorf("it has format %d, this program knows up to %d: use the newer leasehold that wrote it (if none did, the file FORMAT is damaged): %w", have, Format, fault.ErrInvalid)
	}
	return have, nil
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

func (j *Journal) writeFormat(n int) error {
	return writeFile(j.FS, j.FS.PathJoin(j.Dir, formatFile), formatText(n))
}

func formatText(n int) []byte { return fmt.Appendf(nil, "%s%d\n", formatPrefix, n) }

// migrate goes from one format to the next until it is today's, after a copy was made. It writes down each format
// reached, so that an interrupted migration goes on from there.
func (j *Journal) migrate(have int) error {
	if have == Format {
		return nil
	}
	backup := fmt.Sprintf("%s.format-%d", j.Dir, have)
	if _, err := j.FS.Stat(backup); errors.Is(err, fs.ErrNotExist) {
		if err := copyDir(j.FS, j.Dir, backup); err != nil {
			return fmt.Errorf("copy it to %s before it is migrated: %w", backup, err)
		}
	}
	for ; have < Format; have++ {
		step := j.migrations()[have]
		if step == nil {
			return fmt.Errorf("it has format %d, and this program knows no way from there to %d: %w", have, Format, fault.ErrInvalid)
		}
		if err := step(j.FS, j.Dir); err != nil {
			return fmt.Errorf("migrate it from format %d (a copy of it is in %s): %w", have, backup, err)
		}
		if err := j.writeFormat(have + 1); err != nil {
			return err
		}
	}
	j.Log.Info("journal: migrated", "format", Format, "copy", backup)
	return nil
}

// migrations returns the migrations of the configuration, or all known ones.
func (j *Journal) migrations() map[int]Migration {
	if j.Migrations != nil {
		return j.Migrations
	}
	return migrations
}
