package pebble

import (
	"log/slog"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/process/failpoint"
)

// Config is the location of a journal and its parts.
type Config struct {
	Dir string       // made if it is not there
	Log *slog.Logger // nil: slog.Default
	FS  vfs.FS       // nil: the system's
}

// withDefaults returns c with the defaults of Log and FS; Dir stays as it is.
func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.FS == nil {
		c.FS = vfs.Default
	}
	return c
}

// storeFormat is the version of Pebble's own format. A change raises
// Format too; those above have another kind of chunk in the logs.
const storeFormat = lsm.FormatColumnarBlocks

const (
	cacheBytes      = 4 << 20 // blocks are read once, at a start
	maxOpenFiles    = 256
	maxStoreLogs    = 1 << 20 // bytes of the store's manifest before it is rewritten
	neverStopWrites = 1000    // files in level 0: few, since the state is small
)

// storeOptions fit a store that writes all the time and reads once: a small cache, one compaction at a time, and no
// limit to unmerged tables, so that commits do not wait for compactions.
func (j *Journal) storeOptions(fs vfs.FS, compactions *scheduler) *lsm.Options {
	o := &lsm.Options{
		FS:                          fs,
		Logger:                      storeLogger{log: j.Log, broken: &j.broken},
		EventListener:               j.listener(),
		FormatMajorVersion:          storeFormat,
		CacheSize:                   cacheBytes,
		MaxOpenFiles:                maxOpenFiles,
		MaxManifestFileSize:         maxStoreLogs,
		MemTableSize:                j.space.memTable,
		MemTableStopWritesThreshold: 2,
		L0StopWritesThreshold:       neverStopWrites,
		CompactionConcurrencyRange:  func() (lower, upper int) { return 1, 1 },
		DisableTableStats:           true,
		Cleaner:                     cleaner{},
	}
	o.Experimental.CompactionScheduler = compactions
	return o
}

// cleaner removes old logs at once. The store would keep some to write over them,
// as it does unless a cleaner is an archive's: they take space, and a log over an
// older one looks like a copy of that.
type cleaner struct {
	lsm.DeleteCleaner
	archives
}

// archives is deeper than the cleaner that deletes, so that only the mark of a
// cleaner that wants old files as they are comes from it.
type archives struct{ lsm.ArchiveCleaner }

// listener passes the store's events to the journal: new logs, damage, and failpoints for tests. A background error
// is only logged, because the store repeats that work; the disk breaks the journal if a write failed. A full disk is
// not logged, because it repeats until there is space.
func (j *Journal) listener() *lsm.EventListener {
	l := &lsm.EventListener{
		BackgroundError: func(err error) {
			if !isDiskFull(err) {
				j.Log.Warn("journal: the store works in the background", "error", err)
			}
		},
		FlushBegin:      func(lsm.FlushInfo) { failpoint.Reached("flush.before", "") },
		FlushEnd:        func(lsm.FlushInfo) { failpoint.Reached("flush.after", "") },
		CompactionBegin: func(lsm.CompactionInfo) { failpoint.Reached("compaction.before", "") },
		CompactionEnd:   func(lsm.CompactionInfo) { failpoint.Reached("compaction.after", "") },
		WALCreated:      j.noteNewest,
		DataCorruption:  j.noteDamage,
	}
	l.EnsureDefaults(storeLogger{log: j.Log, broken: &j.broken})
	return l
}

// noteDamage is called when the store finds a table damaged.
func (j *Journal) noteDamage(i lsm.DataCorruptionInfo) {
	j.broken.mark(damage{file: j.FS.PathBase(i.Path), at: wholeFile, what: i.Details.Error()})
}
