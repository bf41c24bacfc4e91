package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

var _ catalog.Catalog = (*Store)(nil)

// Store is a catalog in one SQLite file.
type Store struct {
	path string
	db   *sql.DB
	turn chan struct{} // holds one token: whoever has it may use the fields below

	session *session
	clips   *clipSet // what Select may choose; nil when it must be read again
	closed  bool
}

// Open opens the catalog at path, creates it if there is none, and brings an
// older one to the version of this program. errors.Is finds fault.ErrConflict
// when another handle or process holds the file, fault.ErrCorrupt when it is
// not a catalog or damaged, and fault.ErrInvalid when it was written by a newer
// program.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("catalog.Open %s: %w", path, classify(err))
	}
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := openSession(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{path: path, db: db, session: c, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s, nil
}

// openSession takes the connection and the lock on the file.
func openSession(ctx context.Context, db *sql.DB) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &session{conn: conn, stmts: map[string]*sql.Stmt{}}
	if err := prepareFile(c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// prepareFile locks the file and migrates it. The order matters: exclusive
// locking must be asked for before the log is first opened, and the schema's
// version is looked at before anything is written, so that a file which is not
// ours stays as it is.
func prepareFile(c *session) error {
	const wait = "PRAGMA busy_timeout=500" // ms; for a process that is just closing
	for _, p := range []string{wait, "PRAGMA locking_mode=EXCLUSIVE", "PRAGMA foreign_keys=ON"} {
		if err := c.pragma(p); err != nil {
			return err
		}
	}
	if err := checkOurs(c); err != nil {
		return err
	}
	for _, p := range []string{"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"} {
		if err := c.pragma(p); err != nil {
			return err
		}
	}
	return migrate(c, migrations)
}

// Close waits for calls under way, writes the log back, and gives up the file.
func (s *Store) Close() error {
	<-s.turn
	defer func() { s.turn <- struct{}{} }()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := errors.Join(s.session.close(), s.db.Close()); err != nil {
		return fmt.Errorf("catalog.Close %s: %w", s.path, classify(err))
	}
	return nil
}

// use runs f with the connection once it is this caller's turn. What f returns
// is wrapped with the operation's name.
func (s *Store) use(ctx context.Context, op string, f func(*session) error) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	if s.closed {
		return fmt.Errorf("%s: the catalog is %w", op, fault.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if err := f(s.session); err != nil {
		return fmt.Errorf("%s: %w", op, classify(err))
	}
	return nil
}

// change is use in one transaction: all that f writes is on disk when change
// returns nil, none of it is written otherwise.
func (s *Store) change(ctx context.Context, op string, f func(*session) error) error {
	return s.use(ctx, op, func(c *session) error {
		return c.transaction(func() error { return f(c) })
	})
}
