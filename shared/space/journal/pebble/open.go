package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// Open opens the journal in a folder, or makes one. Errors: fault.ErrCorrupt for damage, fault.ErrInvalid for an
// unknown format, fault.ErrPermission or fault.ErrFolder for an unusable folder, and fault.ErrFolder for a disk too
// small or too full. Other errors of the system have no kind. Close ends it.
func Open(c Config) (*Journal, error) {
	j := newJournal(c)
	if err := j.open(); err != nil {
		return nil, j.nameJournal(err)
	}
	return j, nil
}

// open is Open without the journal's name in the error. prepare comes first and may change the
// folder: it finishes an interrupted repair, makes the folder, checks the format and makes
// the reserve. Then the tables, the logs and the stamp are checked, and no record is changed
// before all of them are whole. After that it cuts off a torn end, refuses a disk with too little
// space, opens the store, which reads the logs, and checks that the store stands where the logs
// lead to.
func (j *Journal) open() error {
	if err := j.prepare(); err != nil {
		return classify(err)
	}
	found, err := j.inspect()
	if err == nil {
		err = j.cutTorn(found)
	}
	if err != nil {
		return damaged(err)
	}
	if err := j.space.requireSpaceToOpen(); err != nil {
		return classify(err)
	}
	db, err := j.openStore()
	if err != nil {
		return damaged(errors.Join(err, j.broken.err()))
	}
	j.db = db
	if err := j.begin(found.end); err != nil {
		return errors.Join(damaged(err), db.Close())
	}
	j.space.inUse = func() uint64 { return uint64(db.Metrics().Total().TablesSize) }
	j.sweeper = j.startSweeper()
	return nil
}

// prepare makes the folder ready to be inspected. An interrupted repair is finished first,
// because it may have left no folder of that name; then the folder is made, and its format is
// checked before the stamp is read. The state of the disk is needed to open the store. Errors
// are not classified yet.
func (j *Journal) prepare() error {
	if err := j.finishRepair(); err != nil {
		return err
	}
	if err := j.FS.MkdirAll(j.Dir, 0o700); err != nil {
		return err
	}
	if err := j.checkFormat(); err != nil {
		return err
	}
	var err error
	if j.stamp, err = readStamp(j.FS, j.Dir); err != nil {
		return err
	}
	space, err := newDiskSpace(j.Config, &j.broken)
	j.space = space
	return err
}

// inspected is an undamaged folder.
type inspected struct {
	end    journal.Position // where the journal must stand
	tables journal.Standing // where it stands without its logs
	last   journal.Standing // behind the last record
	torn   *logFile         // the log whose last record was cut off; nil: none
}

// inspect reads the folder before anything is changed. For a new one found is zero. It fails for damage to the
// store's list of files, to a table or to a log, and for records missing according to the note of the newest log or
// the stamp; it accepts a torn end.
func (j *Journal) inspect() (found inspected, err error) {
	store, err := lsm.Peek(j.Dir, j.FS)
	if err != nil {
		return found, err
	}
	if !store.Exists {
		return found, j.requireNew()
	}
	if err := j.checkManifest(store.ManifestFilename); err != nil {
		return found, err
	}
	if found.tables, err = j.checkTables(); err != nil {
		return found, err
	}
	logs, err := readLogs(j.FS, j.Dir)
	if err != nil {
		return found, err
	}
	if err := j.checkNewest(logs); err != nil {
		return found, err
	}
	if found.end, found.torn, err = checkLogs(logs, found.tables.Position); err != nil {
		return found, err
	}
	found.last = found.tables
	for _, l := range logs {
		for _, r := range l.records {
			if step, ok := stepOf(r.payload); ok && step.Position >= found.last.Position {
				found.last = step.Standing
			}
		}
	}
	return found, j.checkStamp(logs, found.end)
}

// requireNew refuses a folder in which the store finds nothing although a journal was there: the store would begin a
// new one over it.
func (j *Journal) requireNew() error {
	names, err := j.FS.List(j.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isLog(name) || isTable(name) {
			return damage{file: "marker.manifest", at: wholeFile, what: "it is missing, but the folder has tables and logs"}
		}
	}
	return nil
}

// cutTorn cuts off a record that was torn at the very end. Records that something else cut off at their boundary
// leave no trace, so after a stop without Close the last position is logged with its time.
func (j *Journal) cutTorn(found inspected) error {
	if found.torn == nil {
		if wasInUse := !j.stamp.at.IsZero() && !j.stamp.closed; wasInUse {
			j.Log.Warn("journal: it was not closed; if its last process ended later than this record, some are missing",
				"position", uint64(found.end), "time", timeText(timeOf(j.stamp, found.last)))
		}
		return nil
	}
	path := j.FS.PathJoin(j.Dir, found.torn.name)
	j.Log.Warn("journal: the last record was torn, and is dropped", "file", path, "offset", found.torn.end,
		"bytes", found.torn.size-found.torn.end, "position", uint64(found.end), "time", timeText(timeOf(j.stamp, found.last)))
	return truncate(j.FS, path, found.torn.end)
}

// checkManifest refuses a list of the store's files that is damaged before its end. Damage at its end is a record
// that a crash has cut off, which the store drops.
func (j *Journal) checkManifest(path string) error {
	data, err := readFile(j.FS, path)
	if err != nil {
		return err
	}
	s := log{data: data, full: manifestFull}.scan()
	if s.behind {
		return damage{file: j.FS.PathBase(path), at: s.end, what: "this is not a record, but records follow"}
	}
	return nil
}

// checkTables reads all tables, because the store would begin to work on damaged ones, and returns where the journal
// stands without its logs. It opens a store that cannot write and sees no logs. Damage that the store reports only to
// noteDamage breaks the journal, and is returned too.
func (j *Journal) checkTables() (at journal.Standing, err error) {
	o := &lsm.Options{
		FS: withoutLogs{j.FS}, ReadOnly: true, Logger: storeLogger{log: j.Log, broken: &j.broken}, CacheSize: cacheBytes,
		EventListener: &lsm.EventListener{DataCorruption: j.noteDamage},
	}
	db, err := lsm.Open(j.Dir, o)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := errors.Join(db.CheckLevels(nil), j.broken.err()); err != nil {
		return at, err
	}
	return standing(db)
}

// withoutLogs is a file system that shows no logs.
type withoutLogs struct{ vfs.FS }

// List leaves out the logs.
func (w withoutLogs) List(dir string) ([]string, error) {
	names, err := w.FS.List(dir)
	return deleteFunc(names, isLog), err
}

// begin reads where the store stands and the newest history record. It fails if the store does not stand at end. It
// writes end into the newest log, so that there is always a record to tell whether the older ones are there, and a
// stamp that the journal is not closed.
func (j *Journal) begin(end journal.Position) (err error) {
	if j.standing, err = standing(j.db); err != nil {
		return err
	}
	if err := j.findNewestHistory(); err != nil {
		return err
	}
	if j.standing.Position != end {
		return fmt.Errorf("%w: the store stands at position %d, its logs lead to %d", fault.ErrCorrupt, j.standing.Position, end)
	}
	step := codec.AppendStep(nil, codec.Step{From: end, Standing: j.standing})
	if err := errors.Join(j.db.Set(codec.StandingKey(), step, lsm.Sync), j.broken.err()); err != nil {
		return err
	}
	return j.restamp(stampInUse)
}

// standing reads where a store stands; zero for a new one.
func standing(db lsm.Reader) (journal.Standing, error) {
	value, closer, err := db.Get(codec.StandingKey())
	if errors.Is(err, lsm.ErrNotFound) {
		return journal.Standing{}, nil
	}
	if err != nil {
		return journal.Standing{}, err
	}
	step, err := codec.DecodeStep(value)
	return step.Standing, errors.Join(err, closer.Close())
}

// damaged is classify for files that must exist as the store wrote them: an error without a kind means damage, unless
// it comes from the system.
func damaged(err error) error {
	var system syscall.Errno
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: a file is missing: %w", fault.ErrCorrupt, err)
	}
	err = classify(err)
	if errors.As(err, &system) || fault.Of(err).Kind != nil {
		return err
	}
	return fmt.Errorf("%w: %w", fault.ErrCorrupt, err)
}
