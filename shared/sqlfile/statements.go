package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// background is what statements run under; see the package's documentation.
var background = context.Background()

// Row is one row of an answer.
type Row interface{ Scan(to ...any) error }

// Into reads a row into variables.
func Into(to ...any) func(Row) error {
	return func(r Row) error { return r.Scan(to...) }
}

// Exec runs a statement.
func (f *File) Exec(query string, args ...any) error {
	_, err := f.run(query, args)
	return err
}

// Affect runs a statement and returns the number of rows that it changed.
func (f *File) Affect(query string, args ...any) (int64, error) {
	r, err := f.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Insert runs a statement and returns the number of the row that it made.
func (f *File) Insert(query string, args ...any) (int64, error) {
	r, err := f.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// One reads the first row of an answer; false says that there is none.
func (f *File) One(query string, args []any, scan func(Row) error) (bool, error) {
	st, err := f.prepare(query)
	if err != nil {
		return false, err
	}
	err = scan(st.QueryRowContext(background, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// All reads every row of an answer.
func (f *File) All(query string, args []any, scan func(Row) error) error {
	st, err := f.prepare(query)
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

// Number reads the one number that a query gives, without keeping the statement.
func (f *File) Number(query string) (n int64, err error) {
	err = f.conn.QueryRowContext(background, query).Scan(&n)
	return n, err
}

// Script runs statements that are not worth preparing, or that act when they are
// compiled, as many pragmas do.
func (f *File) Script(text string) error {
	_, err := f.conn.ExecContext(background, text)
	return err
}

// Transaction runs do so that all it writes is kept, or nothing.
func (f *File) Transaction(do func() error) error {
	if err := f.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	done := false
	defer func() { // also when do panics: the connection must be usable after it
		if !done {
			_ = f.Script("ROLLBACK") // fails if SQLite has rolled back itself
		}
	}()
	if err := do(); err != nil {
		return err
	}
	if err := f.Exec("COMMIT"); err != nil {
		return err
	}
	done = true
	return nil
}

// Note is a transaction that may be lost when the machine stops, and that therefore
// does not wait for the disk.
func (f *File) Note(do func() error) error {
	if err := f.pragmas("synchronous=NORMAL"); err != nil {
		return err
	}
	return errors.Join(f.Transaction(do), f.pragmas("synchronous=FULL"))
}

func (f *File) run(query string, args []any) (sql.Result, error) {
	st, err := f.prepare(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(background, args...)
}

func (f *File) prepare(query string) (*sql.Stmt, error) {
	if st, ok := f.stmts[query]; ok {
		return st, nil
	}
	st, err := f.conn.PrepareContext(background, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	f.stmts[query] = st
	return st, nil
}
