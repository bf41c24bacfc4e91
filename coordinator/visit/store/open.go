package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"leasehold/coordinator/visit"
	"leasehold/shared/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// The steps of the schema, in order; the number of those applied is the file's
// user_version. A step that was released is never changed.
var steps = []string{"migrations/0001.sql"}

// applicationID marks a file as ours.
const applicationID = 1281712500 // "Leas" + 1

// Store is the visit states of all origins.
type Store struct {
	policy visit.Policy
	rules  visit.Rules
	path   string
	db     *sql.DB
	turn   chan struct{} // holds one token: whoever has it may use what follows
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	closed bool
	state  memory

	changed chan struct{}
}

// Memory is the path of a store that is not kept.
const Memory = ":memory:"

// Changed gets something when there may be more to visit than before. It holds one.
func (s *Store) Changed() <-chan struct{} { return s.changed }

// Open opens the file, creates it if there is none, and places all origins anew if
// another policy or other rules placed them. errors.Is finds fault.ErrConflict when
// another handle holds the file, fault.ErrCorrupt when it is not one of ours or
// damaged, fault.ErrInvalid for a policy or rules that make no sense or a file of a
// newer program.
func Open(ctx context.Context, path, policy string, rules visit.Rules) (*Store, error) {
	p, err := visit.New(policy, rules)
	if err != nil {
		return nil, err
	}
	s := &Store{policy: p, rules: rules, path: path, turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{}, changed: make(chan struct{}, 1)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("visits %s: %w", path, classify(err)), s.shut())
	}
	s.turn <- struct{}{}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	name := Memory
	if s.path != Memory {
		abs, err := filepath.Abs(s.path)
		if err != nil {
			return err
		}
		name = (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String()
	}
	var err error
	if s.db, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	for _, p := range []string{"busy_timeout=500", "locking_mode=EXCLUSIVE"} {
		if err := s.text("PRAGMA " + p); err != nil {
			return err
		}
	}
	if err := s.checkOurs(); err != nil {
		return err
	}
	for _, p := range []string{"journal_mode=WAL", "synchronous=FULL", "cache_size=-65536"} {
		if err := s.text("PRAGMA " + p); err != nil {
			return err
		}
	}
	if err := s.migrate(); err != nil {
		return err
	}
	return s.load()
}

func (s *Store) checkOurs() error {
	var id, tables int64
	err := s.conn.QueryRowContext(background, "PRAGMA application_id").Scan(&id)
	if err != nil || id == applicationID {
		return err
	}
	err = s.conn.QueryRowContext(background, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	if err == nil && (tables > 0 || id != 0) {
		return fmt.Errorf("%w: a SQLite database, but not one of visits", fault.ErrCorrupt)
	}
	return err
}

func (s *Store) migrate() error {
	var have int
	if err := s.conn.QueryRowContext(background, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > len(steps) {
		return fmt.Errorf("it has version %d, this program knows up to %d: use the newer leasehold that wrote it: %w", have, len(steps), fault.ErrInvalid)
	}
	for i := have; i < len(steps); i++ {
		text, err := migrations.ReadFile(steps[i])
		if err != nil {
			return err
		}
		err = s.transaction(func() error {
			return s.text(fmt.Sprintf("%s;PRAGMA application_id=%d;PRAGMA user_version=%d", text, applicationID, i+1))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", steps[i], err)
		}
	}
	return nil
}

// Close waits for calls under way and gives up the file. Closing twice is no error.
func (s *Store) Close() error {
	<-s.turn
	defer func() { s.turn <- struct{}{} }()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.shut()
}

func (s *Store) shut() error {
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// classify gives an error of SQLite the kind it has for us.
func classify(err error) error {
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", fault.ErrCorrupt, err)
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: no room on the disk: %w", fault.ErrOverloaded, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: another process or handle holds it: %w", fault.ErrConflict, err)
	}
	return err
}
