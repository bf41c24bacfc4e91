package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// Dialect is how the statements of stores are run by a driver.
type Dialect struct {
	// Rewrite returns the text that the driver understands; nil: it understands all.
	Rewrite func(query string) string
	// Values returns the parameters that the driver understands; nil: it understands all.
	Values func(args []any) ([]any, error)
	// KeepsKey means that the driver knows the key of an inserted row without RETURNING, which takes longer.
	KeepsKey bool
}

// Conn is a connection that one caller uses, until the function returns that received it.
type Conn struct {
	conn    *sql.Conn
	dialect Dialect
	ctx     context.Context      // of the statements of the call under way
	stmts   map[string]*sql.Stmt // by text, which must be constants of the program or few
	changed bool                 // by the transaction under way
	failed  error                // of a statement of the transaction under way
	last    []func() error       // of the transaction under way, before it commits
	ended   []func(committed bool)

	countdown *countdown   // of a test; nil: none
	locked    *atomic.Bool // of a test; nil: none
}

// NewConn returns a connection of a driver. Close closes conn.
func NewConn(conn *sql.Conn, dialect Dialect) *Conn {
	return &Conn{conn: conn, dialect: dialect, ctx: context.Background(), stmts: map[string]*sql.Stmt{}}
}

// Serve is called by a driver for each call: until stop the statements run under ctx, and fail as FailAt, FailInFirst
// or FailWhile of a test told ctx.
func (c *Conn) Serve(ctx context.Context) (stop func()) {
	c.ctx = ctx
	c.countdown, _ = ctx.Value(countdownKey{}).(*countdown)
	c.locked, _ = ctx.Value(lockedKey{}).(*atomic.Bool)
	return func() { c.ctx, c.countdown, c.locked = context.Background(), nil, nil }
}

// Close closes the connection and its statements.
func (c *Conn) Close() error {
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.conn.Close())...)
}

// Row is one row of an answer.
type Row interface{ Scan(to ...any) error }

// Into reads a row into variables.
func Into(to ...any) func(Row) error {
	return func(r Row) error { return r.Scan(to...) }
}

// Exec runs a statement. Like Affect, Insert, One, All, Number and Script, it returns errors without a kind of
// package fault; the driver adds it later.
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

// Insert runs a statement that inserts one row and returns its key, which is an integer: INSERT ... RETURNING key. The
// error is as of Exec.
func (c *Conn) Insert(query string, args ...any) (key int64, err error) {
	if c.dialect.KeepsKey {
		query, _, _ = strings.Cut(query, " RETURNING ")
		r, err := c.run(query, args)
		if err != nil {
			return 0, err
		}
		return r.LastInsertId()
	}
	inserted, err := c.One(query, args, Into(&key))
	c.changed = true
	if err == nil && !inserted {
		err = sql.ErrNoRows
	}
	return key, err
}

// One calls scan with the first row of an answer, and reports whether there is one. Without a row
// scan's Scan returns sql.ErrNoRows, which scan must return; One then returns false and no error.
// Another error of scan is returned.
func (c *Conn) One(query string, args []any, scan func(Row) error) (bool, error) {
	st, args, err := c.prepare(query, args)
	if err != nil {
		return false, err
	}
	err = scan(st.QueryRowContext(c.ctx, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, c.fail(err)
}

// All calls scan with every row of an answer, in order. An error of scan ends it and is returned.
// The Row is valid during the call, in which c runs no statement.
func (c *Conn) All(query string, args []any, scan func(Row) error) error {
	st, args, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(c.ctx, args...)
	if err != nil {
		return c.fail(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return c.fail(rows.Err())
}

// Number reads the one number that a query gives, without keeping the statement. The error is as of
// Exec.
func (c *Conn) Number(query string) (n int64, err error) {
	if err := c.countDown(); err != nil {
		return 0, c.fail(err)
	}
	err = c.conn.QueryRowContext(c.ctx, query).Scan(&n)
	return n, c.fail(err)
}

// Script runs statements that are not worth preparing, or that act when they are compiled, as many
// pragmas do. It returns the error of the first statement that fails.
func (c *Conn) Script(text string) error {
	c.changed = true
	_, err := c.conn.ExecContext(c.ctx, text)
	return c.fail(err)
}

// run executes a statement, which it prepares once. Its error is not classified yet.
func (c *Conn) run(query string, args []any) (sql.Result, error) {
	st, args, err := c.prepare(query, args)
	if err != nil {
		return nil, err
	}
	r, err := st.ExecContext(c.ctx, args...)
	if err != nil {
		return nil, c.fail(err)
	}
	rows, err := r.RowsAffected()
	c.changed = c.changed || rows > 0
	return r, c.fail(err)
}

// prepare returns the prepared statement of a query, which is kept until the connection is closed, and the parameters
// for it. The error names the query, and is ErrFailed in a test.
func (c *Conn) prepare(query string, args []any) (*sql.Stmt, []any, error) {
	if err := c.countDown(); err != nil {
		return nil, nil, c.fail(err)
	}
	if c.dialect.Values != nil {
		var err error
		if args, err = c.dialect.Values(args); err != nil {
			return nil, nil, c.fail(fmt.Errorf("%s: %w", query, err))
		}
	}
	if st, ok := c.stmts[query]; ok {
		return st, args, nil
	}
	text := query
	if c.dialect.Rewrite != nil {
		text = c.dialect.Rewrite(query)
	}
	st, err := c.conn.PrepareContext(c.ctx, text)
	if err != nil {
		return nil, nil, c.fail(fmt.Errorf("%s: %w", query, err))
	}
	c.stmts[query] = st
	return st, args, nil
}

// fail notes the error of a statement, unless it is nil, so that the transaction under way fails, and returns it.
func (c *Conn) fail(err error) error {
	if err != nil && c.failed == nil {
		c.failed = err
	}
	return err
}
