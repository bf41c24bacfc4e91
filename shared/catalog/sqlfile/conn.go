package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
)

// background is what statements run under, because none is ever interrupted.
var background = context.Background()

// Conn is a connection that one caller uses, until the function returns that received
// it.
type Conn struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // by text, which must be constants of the program or few
	last  []func() error       // of the transaction under way, before it commits
	ended []func(committed bool)

	countdown *countdown   // of a test; nil: none
	locked    *atomic.Bool // of a test; nil: none
}

// BeforeCommit has f called before the transaction under way commits, unless it has
// failed; an error of f makes it fail.
func (c *Conn) BeforeCommit(f func() error) { c.last = append(c.last, f) }

// OnEnd has f called when the transaction under way ends, before any other caller writes;
// committed reports whether it is on disk. It lets a caller keep in memory what the
// file holds.
func (c *Conn) OnEnd(f func(committed bool)) { c.ended = append(c.ended, f) }

// Row is one row of an answer.
type Row interface{ Scan(to ...any) error }

// Into reads a row into variables.
func Into(to ...any) func(Row) error {
	return func(r Row) error { return r.Scan(to...) }
}

// Exec runs a statement. Like Affect, Insert, One, All, Number and Script, it returns errors without a kind of
// package fault; classify adds it later.
func (c *Conn) Exec(query string, args ...any) error {
	_, err := c.run(query, args)
	return err
}

// Affect runs a statement and returns the number of rows that it changed. The error is as of Exec.
func (c *Conn) Affect(query string, args ...any) (int64, error) {
	r, err := c.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Insert runs a statement and returns the number of the row that it made. The error is as of Exec.
func (c *Conn) Insert(query string, args ...any) (int64, error) {
	r, err := c.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// One calls scan with the first row of an answer, and reports whether there is one. Without a row
// scan's Scan returns sql.ErrNoRows, which scan must return; One then returns false and no error.
// Another error of scan is returned.
func (c *Conn) One(query string, args []any, scan func(Row) error) (bool, error) {
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

// All calls scan with every row of an answer, in order. An error of scan ends it and is returned.
// The Row is valid during the call.
func (c *Conn) All(query string, args []any, scan func(Row) error) error {
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

// Number reads the one number that a query gives, without keeping the statement. The error is as of
// Exec.
func (c *Conn) Number(query string) (n int64, err error) {
	if err := c.countDown(); err != nil {
		return 0, err
	}
	err = c.conn.QueryRowContext(background, query).Scan(&n)
	return n, err
}

// Script runs statements that are not worth preparing, or that act when they are compiled, as many
// pragmas do. It returns the error of the first statement that fails.
func (c *Conn) Script(text string) error {
	_, err := c.conn.ExecContext(background, text)
	return err
}

// inTransaction runs do so that all it writes is kept, or nothing; begin is the statement that begins it. Before
// the commit it calls the functions in c.last, and after it, or after the rollback, those in c.ended.
func (c *Conn) inTransaction(begin string, do func(*Conn) error) error {
	if err := c.Exec(begin); err != nil {
		return err
	}
	committed := false
	defer func() { // also when do panics: the connection must be usable after it
		if !committed {
			_ = c.Script("ROLLBACK") // fails if SQLite has rolled back itself
		}
		ended := c.ended
		c.last, c.ended = nil, nil
		for _, f := range ended {
			f(committed)
		}
	}()
	if err := do(c); err != nil {
		return err
	}
	for _, f := range c.last {
		if err := f(); err != nil {
			return err
		}
	}
	if err := c.Exec("COMMIT"); err != nil {
		return err
	}
	committed = true
	c.endCountdown() // of failAt
	return nil
}

// runPragmas executes pragmas, without the word PRAGMA, until one fails, and returns its error.
func (c *Conn) runPragmas(all ...string) error {
	for _, p := range all {
		if err := c.Script("PRAGMA " + p); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conn) close() error {
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.conn.Close())...)
}

// run executes a statement, which it prepares once. Its error is not classified yet.
func (c *Conn) run(query string, args []any) (sql.Result, error) {
	st, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(background, args...)
}

// prepare returns the prepared statement of a query, which is kept until the connection is closed.
// The error names the query, and is ErrFailed in a test.
func (c *Conn) prepare(query string) (*sql.Stmt, error) {
	if err := c.countDown(); err != nil {
		return nil, err
	}
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
