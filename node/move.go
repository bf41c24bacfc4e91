package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"leasehold/coordinator/authority"
	"leasehold/coordinator/database"
	"leasehold/coordinator/realm"
	"leasehold/shared/code/embedded"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/clock"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/postgres"
)

// Moving is a move of all that a coordinator keeps: from a data folder to the database of a realm, or back.
type Moving struct {
	Folder string // the data folder
	URL    string // of the database
	Realm  string
	ToURL  bool   // from the folder to the database; else the other way
	Key    string // that encrypts the CA's key in the database; empty: none
}

// databaseURL matches the URL of a PostgreSQL database, and what names one as key=value. Either may have a password, so it must
// not pass for a folder, whose name errors have.
var databaseURL = regexp.MustCompile(`^postgres(ql)?://|(^|\s)(host|hostaddr|user|password|passfile|dbname|service)\s*=`)

// NewMoving reads from where to where a move goes: one of the two is a data folder, and the other one the URL of a
// PostgreSQL database, or @FILE with it. key is the identity key, or empty.
func NewMoving(from, to, realm, key string) (m Moving, err error) {
	ends := []string{from, to}
	for i, end := range ends {
		if ends[i], err = config.Secret(end); err != nil {
			return m, err
		}
		if strings.HasPrefix(end, "@") && !databaseURL.MatchString(ends[i]) {
			return m, fmt.Errorf("%s: want a file with the URL of a database, postgres://USER:PASSWORD@HOST/NAME: %w", end, fault.ErrInvalid)
		}
	}
	isURL := databaseURL.MatchString
	if isURL(ends[0]) == isURL(ends[1]) {
		return m, fmt.Errorf("one of --from and --to must be a data folder, and the other one postgres://…, or @FILE with that: %w", fault.ErrInvalid)
	}
	m = Moving{Folder: ends[0], URL: ends[1], Realm: realm, ToURL: true}
	if isURL(ends[0]) {
		m.Folder, m.URL, m.ToURL = ends[1], ends[0], false
	}
	m.Key, err = config.Secret(key)
	return m, err
}

// Run moves everything: spaces, history, catalog, schedule, code index and identity. No coordinator may use either end.
// The end to write to must be empty; after an error it has a part, and must be removed. The other end stays as it is.
func (m Moving) Run(ctx context.Context, cfg config.Config, log *slog.Logger) (err error) {
	cfg.Data, cfg.Journal = m.Folder, config.JournalPebble
	if err := m.checkFolder(); err != nil {
		return err
	}
	sealing, err := m.sealing()
	if err != nil {
		return err
	}
	r := &moved{Moving: m, log: log, member: &member{cfg: cfg, log: log, sealing: sealing}}
	r.member.cfg.Realm = m.Realm
	if r.folder, err = OpenDataDir(ctx, cfg, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.folder.Close()) }()
	defer func() { err = errors.Join(err, r.opened.Close()) }()
	if err := r.openRealm(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		move func(context.Context) error
	}{{"spaces", r.moveSpaces}, {"identity", r.moveIdentity}, {"catalog", r.moveCatalog}, {"code index", r.moveIndex}} {
		log.Info("move", "part", part.name)
		if err := part.move(ctx); err != nil {
			return fmt.Errorf("move the %s: %w", part.name, err)
		}
	}
	return nil
}

// checkFolder requires a folder with a coordinator's data to move from, or none or an empty one to move to.
func (m Moving) checkFolder() error {
	_, err := os.Stat(filepath.Join(m.Folder, catalogFile))
	switch {
	case m.ToURL && err != nil:
		return fmt.Errorf("%s is not the data folder of a coordinator: %w: it has no %s", m.Folder, fault.ErrNotFound, catalogFile)
	case !m.ToURL && err == nil:
		return fmt.Errorf("%s has a catalog already: %w: name a new folder", m.Folder, fault.ErrConflict)
	}
	return nil
}

// sealing returns the key that encrypts the CA's key, which is needed only if there is a CA.
func (m Moving) sealing() (authority.SealingKey, error) {
	if m.Key != "" {
		return authority.ParseSealingKey(m.Key)
	}
	if _, err := os.Stat(filepath.Join(m.Folder, identityDir, authority.KeyFile)); m.ToURL && err == nil {
		return authority.SealingKey{}, fmt.Errorf("%s has an identity, whose key is encrypted in the database: %w: make a key with `leasehold identity key`, and give it as --identity-key @FILE", m.Folder, fault.ErrInvalid)
	}
	return authority.SealingKey{}, nil
}

// moved is a move under way.
type moved struct {
	Moving
	log    *slog.Logger
	folder *DataDir
	member *member // has the realm, and what seals its identity
	spaces claimed
	tables *database.Database
	opened supervisor.Stack // of the realm
}

// openRealm claims the realm, which no coordinator may serve, and opens its tables.
func (r *moved) openRealm(ctx context.Context) (err error) {
	r.member.url, r.member.name = r.URL, nameOf("move", r.Folder)
	const acceptLoss = true // of no coordinator that runs
	if _, err = postgres.Examine(ctx, r.member.journalConfig(), acceptLoss); err != nil {
		return err
	}
	if r.member.realm, err = realm.Open(ctx, r.URL, r.Realm); err != nil {
		return err
	}
	r.opened.Push(func() error { r.member.realm.Close(); return nil })
	j, err := postgres.Open(ctx, r.member.journalConfig())
	if err != nil {
		return err
	}
	r.opened.Push(j.Close)
	r.spaces.Journal = j
	sign, err := j.Look(ctx)
	if err == nil && !sign.Vacant() {
		err = fmt.Errorf("a coordinator serves the realm %s: %w: stop all of its coordinators", r.Realm, fault.ErrConflict)
	}
	if err == nil {
		r.spaces.epoch, err = j.Claim(ctx)
	}
	if err != nil {
		return err
	}
	plan, err := visitPlan(r.member.cfg)
	if err != nil {
		return err
	}
	if r.tables, err = database.OpenRealm(ctx, r.URL, r.Realm, uint64(r.spaces.epoch), plan); err != nil {
		return err
	}
	r.opened.Push(r.tables.Close)
	return nil
}

func (r *moved) moveSpaces(ctx context.Context) error {
	own, err := r.folder.openJournal()
	if err != nil {
		return err
	}
	if err := r.folder.beginPair(ctx, own); err != nil {
		return errors.Join(err, own.Close())
	}
	from, to := journal.Journal(own), journal.Journal(r.spaces)
	if !r.ToURL {
		from, to = to, from
	}
	err = journal.Copy(ctx, from, to)
	return errors.Join(err, r.folder.endPair(ctx, err == nil), own.Close())
}

func (r *moved) moveCatalog(ctx context.Context) error {
	if r.ToURL {
		return r.folder.database.CopyTo(ctx, r.tables)
	}
	return r.tables.CopyTo(ctx, r.folder.database)
}

// moveIdentity moves the CA, if there is one.
func (r *moved) moveIdentity(ctx context.Context) error {
	dir := filepath.Join(r.Folder, identityDir)
	if r.ToURL {
		if _, err := authority.Open(dir, clock.Now); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		return r.member.keepIdentity(ctx, uint64(r.spaces.epoch))
	}
	sealed, err := r.member.realm.Identity(ctx)
	if err != nil || len(sealed) == 0 {
		return err
	}
	if r.Key == "" {
		return fmt.Errorf("the realm has an identity, whose key is encrypted: %w: give --identity-key", fault.ErrInvalid)
	}
	return r.member.writeIdentity(sealed)
}

func (r *moved) moveIndex(ctx context.Context) error {
	dir, depot := filepath.Join(r.Folder, indexDir), r.member.realm.Depot(uint64(r.spaces.epoch))
	if r.ToURL {
		files, err := embedded.Inventory(dir)
		for path, f := range files {
			if err == nil {
				err = depot.Keep(ctx, f, path)
			}
		}
		return err
	}
	kept, err := depot.List(ctx)
	if err != nil {
		return err
	}
	lacking, err := embedded.Align(dir, kept)
	for _, k := range lacking {
		if err == nil {
			err = depot.Fetch(ctx, k, k.Path(dir))
		}
	}
	return err
}
