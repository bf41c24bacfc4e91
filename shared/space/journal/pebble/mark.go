package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pairing"
)

// SetMark writes the mark that keeps the journal and a database together, with the position of now. It is durable
// when SetMark returns nil. Errors: fault.ErrOverloaded if the disk is full, and then the older mark stays;
// journal.ErrBroken or fault.ErrClosed if the journal is broken or closed.
func (j *Journal) SetMark(_ context.Context, m pairing.Mark) error {
	j.stampMu.Lock()
	defer j.stampMu.Unlock()
	if _, err := j.stand(); err != nil {
		return err
	}
	err := j.writeStamp(m, stampInUse)
	if isDiskFull(err) {
		return fmt.Errorf("%w: %w", journal.ErrFull, err)
	}
	return err
}

// Position returns the number of records that are committed.
func (j *Journal) Position() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return uint64(j.standing.Position)
}

// FindMark returns in which state the journal in a folder is, and its mark, without opening it. The
// mark is empty if there is none. A damaged one is fault.ErrCorrupt, and a journal of another format
// fault.ErrInvalid. The data folder must be locked.
func FindMark(c Config) (pairing.Found, error) {
	c = c.withDefaults()
	dir, names, err := c.listJournal()
	if errors.Is(err, fs.ErrNotExist) {
		return pairing.Found{State: pairing.Missing}, nil
	}
	if err != nil {
		return pairing.Found{}, c.nameJournal(classify(err))
	}
	found := pairing.Found{State: pairing.Empty}
	for _, name := range names {
		if isLog(name) || isTable(name) || strings.HasPrefix(name, "MANIFEST-") {
			found.State = pairing.Present
		}
	}
	if found.State == pairing.Empty {
		return found, nil
	}
	// Another format may have another stamp. Damage of the file FORMAT is left to Open.
	j := newJournal(c)
	j.Dir = dir
	if _, err := j.readFormat(); errors.Is(err, fault.ErrInvalid) {
		return found, c.nameJournal(err)
	}
	s, err := readStamp(c.FS, dir)
	if err != nil {
		return found, c.nameJournal(classify(err))
	}
	found.Mark = s.mark
	return found, nil
}

// listJournal lists the folder of a journal or, if a repair was interrupted, the one that the next start gives its
// name. If neither is there, it fails with fs.ErrNotExist.
func (c Config) listJournal() (dir string, names []string, err error) {
	if _, err = c.FS.Stat(c.Dir); errors.Is(err, fs.ErrNotExist) {
		if names, err := c.FS.List(c.Dir + repairedEnd); err == nil {
			return c.Dir + repairedEnd, names, nil
		}
	}
	if err != nil {
		return c.Dir, nil, err
	}
	names, err = c.FS.List(c.Dir)
	return c.Dir, names, err
}

// WriteMark does what SetMark does, without opening the journal: it writes the mark into the existing stamp. It fails
// with fault.ErrCorrupt for a damaged stamp. The data folder must be locked.
func WriteMark(c Config, m pairing.Mark) error {
	c = c.withDefaults()
	s, err := readStamp(c.FS, c.Dir)
	if err == nil {
		s.mark = m
		err = writeFile(c.FS, c.FS.PathJoin(c.Dir, stampFile), stampText(s))
	}
	if err != nil {
		return fmt.Errorf("mark the journal %s: %w", c.Dir, classify(err))
	}
	return nil
}
