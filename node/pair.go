package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"leasehold/coordinator/database"
	"leasehold/node/backup"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pairing"
	"leasehold/shared/space/journal/pebble"
)

// pairedJournal is the journal of a data folder as one of a pair. While no coordinator
// runs it is closed, and its mark is written to its folder.
type pairedJournal struct {
	config pebble.Config
	open   *pebble.Journal // nil: closed
	last   uint64          // position when it was read last
}

// SetMark writes the mark to the open journal, or to the folder of the closed one.
func (j *pairedJournal) SetMark(ctx context.Context, m pairing.Mark) error {
	if j.open != nil {
		return j.open.SetMark(ctx, m)
	}
	return pebble.WriteMark(j.config, m)
}

// position returns the position of the open journal, or the last one that was read while it was
// open.
func (j *pairedJournal) position() uint64 {
	if j.open != nil {
		j.last = j.open.Position()
	}
	return j.last
}

// Changes implements pairing.Store. It never fails.
func (j *pairedJournal) Changes(context.Context) (uint64, error) { return j.position(), nil }

// Describe implements pairing.Store. Before the engine has loaded the journal, its records are not
// counted. It never fails.
func (j *pairedJournal) Describe(context.Context) (string, error) {
	if j.open == nil {
		return "the records of its last start", nil
	}
	return fmt.Sprintf("records: %d", j.position()), nil
}

func (d *DataDir) journalConfig() pebble.Config {
	return pebble.Config{Dir: filepath.Join(d.cfg.Data, journalDir), Log: d.log}
}

// openPair calls open, which opens the database, and checks that database and journal
// belong together. The error is a *pairing.Mismatch if they do not, or if one of them is missing,
// unless --accept-missing names a store: that one is set aside, and an empty one takes its place.
// If tolerant is true and the database exists, a mismatch is kept in d.unpaired instead, and the
// error is nil, for callers that use only the database. A journal in memory has no pair.
func (d *DataDir) openPair(ctx context.Context, tolerant bool, open func() error) error {
	if d.cfg.Journal == config.JournalMemory {
		return open()
	}
	state, err := database.FindState(ctx, filepath.Join(d.cfg.Data, catalogFile))
	if err = d.setAsideMixedLog(err); err != nil {
		return err
	}
	found := pairing.Found{State: state}
	if state == pairing.Present {
		if err := open(); err != nil {
			return err
		}
		if found.Mark, err = d.database.Mark(ctx); err != nil {
			return err
		}
	}
	journal, err := pebble.FindMark(d.journalConfig())
	var lost pairing.Name
	if err == nil {
		lost, err = d.acceptMismatch(pairing.Check(found, journal))
	}
	switch {
	case err != nil && tolerant && state == pairing.Present:
		d.unpaired = err
		return nil
	case err != nil:
		return err
	case lost == pairing.Database:
		found.Mark = pairing.Mark{}
		err = errors.Join(d.closeDatabase(), d.setAside(catalogFile, "", "-wal", "-shm"), open())
	case lost == pairing.Journal:
		journal.Mark = pairing.Mark{}
		err = d.setAside(journalDir, "")
	case state != pairing.Present: // a new data folder; an existing database is open already
		err = open()
	}
	if err != nil {
		return err
	}
	d.journal = &pairedJournal{config: d.journalConfig()}
	d.pair, err = pairing.New(ctx, d.database, d.journal, found.Mark, journal.Mark)
	return err
}

// acceptMismatch decides about err, the result of pairing.Check. refused is nil if err is, or if it
// is a mismatch that the operator has accepted with --accept-missing; otherwise it is err. lost is
// the store that must begin again, or "" if both are used as they are: they match, or one is older
// and that was accepted.
func (d *DataDir) acceptMismatch(err error) (lost pairing.Name, refused error) {
	accepted := pairing.Name(d.cfg.AcceptMissing)
	var m *pairing.Mismatch
	if !errors.As(err, &m) {
		if err == nil && accepted != "" {
			d.log.Warn("database and journal belong together: remove the option --accept-missing, which would accept the next loss too")
		}
		return "", err
	}
	// Of two foreign stores the operator chooses which one to keep, so either may be accepted.
	if accepted == "" || m.Kind != pairing.IsForeign && accepted != m.Store {
		return "", fmt.Errorf("data folder %s: %w", d.cfg.Data, m)
	}
	d.log.Warn("going on without a part of the data folder, as --accept-missing says", "without", accepted, "reason", m)
	if m.Kind == pairing.IsOlder {
		return "", nil
	}
	return accepted, nil
}

// setAsideMixedLog returns err, unless it is a *pairing.Mixed: the database file has the write-ahead
// log of another one. If the operator has accepted that, it sets the log aside and returns nil.
func (d *DataDir) setAsideMixedLog(err error) error {
	var m *pairing.Mixed
	if !errors.As(err, &m) {
		return err
	}
	if pairing.Name(d.cfg.AcceptMissing) != pairing.Database {
		return fmt.Errorf("data folder %s: %w", d.cfg.Data, m)
	}
	d.log.Warn("going on without a part of the data folder, as --accept-missing says", "without", "log of the database", "reason", m)
	return d.setAside(catalogFile, "-wal", "-shm")
}

// closeDatabase closes the database if it is open.
func (d *DataDir) closeDatabase() error {
	if d.database == nil {
		return nil
	}
	return d.database.Close()
}

// setAside renames the files name+ending of the data folder, for each of endings, to name.aside-N+ending with the
// first free N, so that nothing is overwritten. Those that do not exist are left out.
func (d *DataDir) setAside(name string, endings ...string) error {
	aside := ""
	for n := 1; ; n++ {
		aside = fmt.Sprintf("%s.aside-%d", name, n)
		found, err := platform.Glob(d.cfg.Data, aside+"*")
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
	}
	from, to := filepath.Join(d.cfg.Data, name), filepath.Join(d.cfg.Data, aside)
	for _, ending := range endings {
		err := os.Rename(from+ending, to+ending)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("data folder: %w: %w", fault.ErrFolder, err)
		}
		d.log.Warn("kept under a new name", "file", to+ending)
	}
	return nil
}

// beginPair raises the counter of both stores at a start. Spaces is the open journal. A full disk does not
// prevent a start: the stores stay a pair. Without a pair it does nothing.
func (d *DataDir) beginPair(ctx context.Context, spaces journal.Journal) error {
	if d.pair == nil {
		return nil
	}
	d.journal.open, _ = spaces.(*pebble.Journal) // a pair has no other journal
	return d.raiseCounter(ctx)
}

// raiseCounter raises the counter of both stores. A full disk (fault.ErrOverloaded) is logged only: then the
// stores have the counter that they had, and stay a pair.
func (d *DataDir) raiseCounter(ctx context.Context) error {
	err := d.pair.Raise(ctx)
	if errors.Is(err, fault.ErrOverloaded) {
		d.log.Warn("cannot write the counter that keeps database and journal together", "error", err)
		return nil
	}
	return err
}

// endPair raises the counter after a clean stop, and does nothing after another or without a pair. The pair is
// not used any more.
func (d *DataDir) endPair(ctx context.Context, clean bool) error {
	if d.pair == nil {
		return nil
	}
	defer func() { d.pair = nil }()
	if !clean {
		return nil
	}
	return d.raiseCounter(context.WithoutCancel(ctx))
}

// closePair raises the counter if a command has changed the database of a pair. A full disk is ignored.
func (d *DataDir) closePair() error {
	if d.pair == nil || d.pair.Mark().Instance == "" {
		return nil
	}
	if err := d.pair.RaiseIfChanged(context.Background()); !errors.Is(err, fault.ErrOverloaded) {
		return err
	}
	return nil // the disk is full; the stores stay a pair
}

// Restore makes the data folder data of the backup at src, with an instance id of its own, because the folder
// that was backed up may go on.
func Restore(ctx context.Context, src, data string) error {
	return backup.Restore(ctx, src, data, func(dir string) error {
		// The same new mark in both stores makes them a pair.
		m := pairing.Mark{Instance: pairing.NewInstance(), Counter: 1, Confirmed: 1, At: time.Now()}
		file := filepath.Join(dir, catalogFile)
		err := errors.Join(database.WriteMark(ctx, file, m), pebble.WriteMark(pebble.Config{Dir: filepath.Join(dir, journalDir)}, m))
		return errors.Join(err, os.Remove(file+"-lock"))
	})
}
