package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"

	"leasehold/shared/fault"
)

// Memory is the path of a file that is not kept.
const Memory = ":memory:"

// Format says what a file holds.
type Format struct {
	// Name is what messages call it: "catalog".
	Name string
	// ID marks a file as one of these, for ever: SQLite's application_id.
	ID int32
	// Migrations has the files migrations/NNNN*.sql, numbered from 1 without a gap; the
	// number is the version of the schema that the file leads to. A file that was
	// released is never changed.
	Migrations fs.FS
	// Pragmas are set at each Open, before the schema is looked at: "foreign_keys=ON".
	Pragmas []string
}

// File is an open file. Use, Change, Copy and Close may be called concurrently; all
// other methods only from a function that Use or Change runs.
type File struct {
	name   string
	db     *sql.DB
	turn   chan struct{} // holds one token: whoever has it may use the fields below
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt // by text, which must be constants of the program or few
	closed bool
}

// Open opens the file at path and creates it if there is none. errors.Is finds
// fault.ErrConflict when another handle or process holds it, fault.ErrCorrupt when it
// is damaged or not of this format, and fault.ErrInvalid when a newer program wrote it.
func Open(ctx context.Context, path string, format Format) (*File, error) {
	f := &File{name: format.Name, turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{}}
	if err := f.open(ctx, path, format); err != nil {
		return nil, errors.Join(classify(err), f.shut())
	}
	f.turn <- struct{}{}
	return f, nil
}

// The order matters: exclusive locking must be asked for before the log is first
// opened, and the file is looked at before anything is written.
func (f *File) open(ctx context.Context, path string, format Format) error {
	name, err := dataSource(path)
	if err != nil {
		return err
	}
	if f.db, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	f.db.SetMaxOpenConns(1)
	if f.conn, err = f.db.Conn(ctx); err != nil {
		return err
	}
	const wait = "busy_timeout=500" // ms; for a process that is just closing
	if err := f.pragmas(append([]string{wait, "locking_mode=EXCLUSIVE"}, format.Pragmas...)...); err != nil {
		return err
	}
	if err := f.checkOurs(format); err != nil {
		return err
	}
	if err := f.pragmas("journal_mode=WAL", "synchronous=FULL"); err != nil {
		return err
	}
	return f.migrate(format)
}

func dataSource(path string) (string, error) {
	if path == Memory {
		return path, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), nil
}

func (f *File) pragmas(all ...string) error {
	for _, p := range all {
		if err := f.Script("PRAGMA " + p); err != nil {
			return err
		}
	}
	return nil
}

// Close waits for calls under way, writes the log back, and gives up the file.
// Closing twice is no error.
func (f *File) Close() error {
	<-f.turn
	defer func() { f.turn <- struct{}{} }()
	if f.closed {
		return nil
	}
	f.closed = true
	return classify(f.shut())
}

func (f *File) shut() error {
	var errs []error
	for _, st := range f.stmts {
		errs = append(errs, st.Close())
	}
	if f.conn != nil {
		errs = append(errs, f.conn.Close())
	}
	if f.db != nil {
		errs = append(errs, f.db.Close())
	}
	return errors.Join(errs...)
}

// Use runs do once it is this caller's turn. What it returns is wrapped with op, and
// has a kind of package fault where SQLite gave the reason: fault.ErrCorrupt,
// fault.ErrOverloaded when the disk is full, fault.ErrClosed after Close.
func (f *File) Use(ctx context.Context, op string, do func() error) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-f.turn:
	}
	defer func() { f.turn <- struct{}{} }()
	if f.closed {
		return fmt.Errorf("%s: the %s is %w", op, f.name, fault.ErrClosed)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", op, classify(err))
	}
	return nil
}

// Change is Use in one transaction.
func (f *File) Change(ctx context.Context, op string, do func() error) error {
	return f.Use(ctx, op, func() error { return f.Transaction(do) })
}

// Copy writes what the file holds to a new file at path. Other calls wait meanwhile.
func (f *File) Copy(ctx context.Context, path string) error {
	return f.Use(ctx, fmt.Sprintf("copy the %s to %s", f.name, path), func() error {
		return f.Exec("VACUUM INTO ?", path)
	})
}
