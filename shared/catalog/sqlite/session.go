package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"leasehold/shared/fault"
)

// session is the one connection, in the hands of one caller.
type session struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // by text; all texts are constants of this package
}

// background is what statements run under; see the package's documentation.
var background = context.Background()

func (c *session) prepare(query string) (*sql.Stmt, error) {
	if st, ok := c.stmts[query]; ok {
		return st, nil
	}
	st, err := c.conn.PrepareContext(background, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	c.stmts[query] = st
	return st, nil
}

// exec runs a statement and returns the number of rows that it changed.
func (c *session) exec(query string, args ...any) (int64, error) {
	r, err := c.run(query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// insert runs a statement and returns the number of the row that it made.
func (c *session) insert(query string, args ...any) (int64, error) {
	r, err := c.run(query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func (c *session) run(query string, args ...any) (sql.Result, error) {
	st, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(background, args...)
}

// scanner is what *sql.Row and *sql.Rows have in common.
type scanner interface{ Scan(dest ...any) error }

// one reads the first row of a query; false says that there is none.
func (c *session) one(query string, args []any, scan func(scanner) error) (bool, error) {
	st, err := c.prepare(query)
	if err != nil {
		return false, err
	}
	err = scan(st.QueryRowContext(background, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// all reads every row of a query.
func (c *session) all(query string, args []any, scan func(scanner) error) error {
	st, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(background, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// transaction runs f so that all it writes is kept, or nothing.
func (c *session) transaction(f func() error) error {
	if _, err := c.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	done := false
	defer func() { // also when f panics: the connection must be usable after it
		if !done {
			c.conn.ExecContext(background, "ROLLBACK") // fails if SQLite has rolled back itself
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if _, err := c.run("COMMIT"); err != nil {
		return err
	}
	done = true
	return nil
}

// note is a transaction that may be lost when the machine stops, and that
// therefore does not wait for the disk.
func (c *session) note(f func() error) error {
	if err := c.pragma("PRAGMA synchronous=NORMAL"); err != nil {
		return err
	}
	return errors.Join(c.transaction(f), c.pragma("PRAGMA synchronous=FULL"))
}

// pragma is not prepared: many pragmas act when they are compiled.
func (c *session) pragma(text string) error {
	_, err := c.conn.ExecContext(background, text)
	return err
}

func (c *session) close() error {
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.conn.Close())...)
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
		return fmt.Errorf("%w: %w", fault.ErrOverloaded, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: another process or handle holds it: %w", fault.ErrConflict, err)
	}
	return err
}

// stamp and moment convert between a time and its column.
func stamp(t time.Time) int64   { return t.UnixMicro() }
func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }
