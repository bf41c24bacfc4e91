package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"leasehold/coordinator/auth"
	codeindex "leasehold/coordinator/code"
	"leasehold/coordinator/database"
	"leasehold/coordinator/realm"
	"leasehold/coordinator/visits"
	managerclips "leasehold/manager/clips"
	"leasehold/models"
	"leasehold/node/backup"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pairing"
	"leasehold/shared/space/journal/pebble"
)

// The names in a data folder. The catalog's file has the visit schedule too.
const (
	catalogFile = "catalog.db"
	journalDir  = "journal"
	cacheDir    = "cache"
)

// DataDir is a data folder that this process has locked. Its methods must not be called
// concurrently, except those of Catalog and Visits.
type DataDir struct {
	Catalog catalog.Catalog
	Visits  *visits.Store // when origins are visited

	cfg      config.Config
	log      *slog.Logger                // copies warnings to forwarder
	database *database.Database          // with Catalog and Visits
	auth     *auth.Auth                  // nil until openAuth, and if clients are not authenticated
	fetcher  *fetch.Fetcher              // nil until openFetcher
	index    *codeindex.Index            // nil until openIndex
	maintain func(context.Context) error // of the store under index, until ctx ends; nil: none
	opened   supervisor.Stack

	pair     *pairing.Pair  // nil: the journal is in memory, or unpaired is set
	journal  *pairedJournal // of pair
	unpaired error          // why database and journal do not belong together: only the database is used

	// Of a coordinator that shares its realm with others (member):
	claimed      *claimed                    // its journal; nil: the folder has the journal, or none is kept
	watchOwner   supervisor.Task             // ends with an error once the realm is lost; nil: it cannot be
	keepIdentity func(context.Context) error // in the realm, after a change; nil: the folder has it alone
	depot        *realm.Depot                // of the code index; nil: the folder has it alone
	members      func(context.Context) ([]types.Member, error)
	realm        func() types.Realm
	finish       func(context.Context) (format int, err error) // an upgrade; nil: there are no other members

	forwarder *status.Forwarder           // to the space "log" of a coordinator that runs on the folder
	decorate  func(space.Conn) space.Conn // see coordinator.Config
}

// OpenDataDir locks the data folder of cfg, makes it if it does not exist, and opens its
// databases. It returns fault.ErrConflict, naming the process, if another process holds
// the folder for longer than lockTimeout, and a *pairing.Mismatch if database and journal do not
// belong together. Close releases it.
func OpenDataDir(ctx context.Context, cfg config.Config, log *slog.Logger) (*DataDir, error) {
	const tolerant = false
	return openDataDir(ctx, cfg, log, tolerant, lockTimeout)
}

// lockTimeout is how long a process that works on a data folder waits for a command that holds it,
// such as one that reads the catalog.
const lockTimeout = 2 * time.Second

// openDataDir is OpenDataDir with another timeout of the lock. With tolerant it also opens a folder whose journal
// does not belong to its database, for callers that use only the database.
func openDataDir(ctx context.Context, cfg config.Config, log *slog.Logger, tolerant bool, timeout time.Duration) (*DataDir, error) {
	forwarder := status.NewForwarder()
	d := &DataDir{cfg: cfg, log: forwarder.Logger(log), forwarder: forwarder}
	if err := d.open(ctx, tolerant, timeout); err != nil {
		return nil, errors.Join(err, d.opened.Close())
	}
	return d, nil
}

// open locks the folder, for which it waits up to timeout, and opens its database, with tolerant passed to
// openPair. What it has opened is in d.opened, also if it fails.
func (d *DataDir) open(ctx context.Context, tolerant bool, timeout time.Duration) error {
	release, err := lockFolder(ctx, d.cfg, d.log, timeout)
	if err != nil {
		return err
	}
	d.opened.Push(release)
	plan, err := visitPlan(d.cfg)
	if err != nil {
		return err
	}
	return d.openPair(ctx, tolerant, func() (err error) {
		d.database, err = database.OpenPlan(ctx, filepath.Join(d.cfg.Data, catalogFile), plan)
		if err != nil {
			return err
		}
		d.opened.Push(d.database.Close)
		d.Catalog, d.Visits = d.database.Catalog, d.database.Visits
		return nil
	})
}

// lockFolder locks a data folder, for which it waits up to timeout, and makes it if it does not exist.
func lockFolder(ctx context.Context, cfg config.Config, log *slog.Logger, timeout time.Duration) (release func() error, err error) {
	release, err = datadir.LockWithin(ctx, cfg.Data, timeout, func(held error) {
		log.Info("waiting for the data folder, which a command may release soon", "timeout", timeout, "reason", held)
	})
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(cfg.Data); err == nil && !platform.IsPrivate(info.Mode()) {
		log.Warn("other users of this machine can read the data folder, which may contain passwords of origins; if they should not: chmod 700",
			"folder", cfg.Data, "mode", fmt.Sprintf("%o", info.Mode().Perm()))
	}
	return release, nil
}

// requireNoJournal fails with fault.ErrInvalid if a data folder has the journal or the catalog of a coordinator that worked
// on it alone, because a member of a realm would leave them behind.
func requireNoJournal(cfg config.Config) error {
	for _, name := range []string{journalDir, catalogFile} {
		path := filepath.Join(cfg.Data, name)
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s exists, and journal is %s: %w: move what the folder has into the database with `leasehold move`, or give another folder with --data", path, cfg.Journal, fault.ErrInvalid)
		}
	}
	return nil
}

// visitPlan returns the policies and rules by which origins are visited.
func visitPlan(cfg config.Config) (*policy.Plan, error) {
	plan, err := policy.ParsePlan(cfg.VisitPolicy, cfg.VisitRules)
	if err != nil {
		return nil, config.Invalid{{Key: "visit-rules", Text: err.Error()}}
	}
	if plan.Hosts, err = policy.ParseHostGroups(cfg.HostGroups); err != nil {
		return nil, config.Invalid{{Key: "host-groups", Text: err.Error()}}
	}
	return plan, nil
}

// Close closes the databases and unlocks the folder. It does both also after an error, and returns
// all errors.
func (d *DataDir) Close() error { return errors.Join(d.closePair(), d.opened.Close()) }

// Path returns the folder.
func (d *DataDir) Path() string { return d.cfg.Data }

// openFetcher opens the cache, if it is not open yet. It is not part of open because most commands fetch nothing.
func (d *DataDir) openFetcher() error {
	if d.fetcher != nil {
		return nil
	}
	f, err := newFetcher(d.cfg, filepath.Join(d.cfg.Data, cacheDir))
	if err != nil {
		return err
	}
	d.fetcher = f
	d.opened.Push(f.Close)
	return nil
}

func newFetcher(cfg config.Config, dir string) (*fetch.Fetcher, error) {
	return fetch.New(fetch.Config{
		Dir: dir, MaxBytes: cfg.FetchMaxBytes, Stall: cfg.FetchStall, MaxRedirects: cfg.FetchRedirects, Contact: cfg.Contact,
		CacheBytes: cfg.CacheBytes, AllowPrivate: cfg.AllowPrivate,
	})
}

// DetectOrigins detects the origins at each path, or takes each path for an origin of kind if kind is not empty.
// The first path that fails ends it.
func DetectOrigins(paths []string, kind string) ([]models.Origin, error) {
	var origins []models.Origin
	for _, path := range paths {
		detected, err := managerclips.Detect(path, kind)
		if err != nil {
			return nil, err
		}
		origins = append(origins, detected...)
	}
	return origins, nil
}

// AddOrigins adds origins to the catalog, or changes those that are known. If keepPriority is true, a known
// origin that comes with the priority 0 keeps its own. If one fails, the origins before it stay added.
func (d *DataDir) AddOrigins(ctx context.Context, origins []models.Origin, keepPriority bool) error {
	for _, o := range origins {
		if keepPriority && o.Priority == 0 {
			known, err := d.Catalog.Origin(ctx, o.ID)
			if err != nil && !errors.Is(err, fault.ErrNotFound) {
				return fmt.Errorf("add %s: %w", o.URI, err)
			}
			o.Priority = known.Priority // 0 for an unknown origin
		}
		o.AddedAt = time.Now().UTC()
		if _, err := d.Catalog.AddOrigin(ctx, o); err != nil {
			return fmt.Errorf("add %s: %w", o.URI, err)
		}
	}
	return nil
}

// VisitNow schedules a visit of each named origin for now and, if local is true, of every origin on this machine.
// Other origins are visited when they are due.
func (d *DataDir) VisitNow(ctx context.Context, named []models.Origin, local bool) error {
	wanted := named
	if local {
		all, err := d.Catalog.Origins(ctx)
		if err != nil {
			return err
		}
		for _, o := range all {
			if filepath.IsAbs(o.URI) {
				wanted = append(wanted, o)
			}
		}
	}
	return d.Visits.SaveAllNow(ctx, time.Now(), wanted)
}

// Backup copies the folder to dest while no coordinator runs on it.
func (d *DataDir) Backup(ctx context.Context, dest string) error {
	if d.unpaired != nil {
		return d.unpaired
	}
	spaces, err := d.openJournal()
	if err != nil {
		return err
	}
	return errors.Join(d.copyTo(ctx, spaces, dest), spaces.Close())
}

// copyTo makes a backup in the new folder dest, also while spaces and the databases are in use. It holds the
// pair, so that the copies of both stores have the same mark.
func (d *DataDir) copyTo(ctx context.Context, spaces journal.Journal, dest string) error {
	j, ok := spaces.(journal.Copier)
	if d.claimed != nil {
		return fmt.Errorf("backup: %w: everything is in the database, so back that up with its own tools, such as pg_dump", fault.ErrInvalid)
	}
	if !ok {
		return fmt.Errorf("backup: %w: the spaces are in memory only (journal is %s)", fault.ErrInvalid, d.cfg.Journal)
	}
	if err := backup.RequireOutside(dest, d.cfg.Data); err != nil {
		return err
	}
	// A journal that can be copied is on disk, so there is a pair.
	return d.pair.Hold(func(m pairing.Mark) error {
		return backup.Make(ctx, dest, backup.Source{Instance: m.Instance, Counter: m.Counter},
			backup.Part{Name: journalDir, Copy: j.Copy}, backup.Part{Name: catalogFile, Copy: d.database.Copy},
			backup.Part{Name: identityDir, Copy: func(_ context.Context, dest string) error { return d.copyIdentity(dest) }})
	})
}

func (d *DataDir) openJournal() (journal.Journal, error) {
	if d.claimed != nil {
		return *d.claimed, nil
	}
	if d.cfg.Journal == config.JournalMemory {
		return &journal.Memory{}, nil
	}
	return pebble.Open(d.journalConfig())
}

// ExamineDatabase lists the damage in the database of a data folder, and changes nothing. A folder that
// another process holds gives fault.ErrConflict or its kind, and a folder without a database fault.ErrNotFound.
func ExamineDatabase(ctx context.Context, cfg config.Config) (damage []string, err error) {
	path := filepath.Join(cfg.Data, catalogFile)
	if _, err := os.Stat(path); err != nil { // the lock would make the folder
		return nil, fmt.Errorf("database: %w: %w", fault.ErrNotFound, err)
	}
	release, err := datadir.Lock(cfg.Data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	return database.Examine(ctx, path)
}

// ExamineJournal returns the damage of the journal of a data folder that leasehold repair can repair; "" if there is none.
// It changes nothing. It fails as ExamineDatabase does, and with fault.ErrCorrupt for other damage.
func ExamineJournal(cfg config.Config, log *slog.Logger) (damage string, err error) {
	if _, err := os.Stat(filepath.Join(cfg.Data, journalDir)); err != nil {
		return "", fmt.Errorf("journal: %w: %w", fault.ErrNotFound, err)
	}
	const apply = false
	found, err := Repair(cfg, log, apply)
	return found.Damage, err
}

// Repair diagnoses the journal of a data folder and, if apply is true, makes a damaged one usable again, as
// pebble.Repair does. No other process may hold the folder. A missing folder gives fault.ErrFolder.
func Repair(cfg config.Config, log *slog.Logger, apply bool) (found pebble.Diagnosis, err error) {
	if _, err := os.Stat(cfg.Data); err != nil { // the lock would make the folder
		return found, fmt.Errorf("data folder: %w: %w", err, fault.ErrFolder)
	}
	release, err := datadir.Lock(cfg.Data)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, release()) }()
	c := pebble.Config{Dir: filepath.Join(cfg.Data, journalDir), Log: log}
	if apply {
		return pebble.Repair(c)
	}
	return pebble.Diagnose(c)
}
