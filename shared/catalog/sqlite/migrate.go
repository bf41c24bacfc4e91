package sqlite

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"leasehold/shared/fault"
)

// The migrations are files NNNN_what.sql, numbered from 1 without a gap; the
// number is the version of the schema that the file leads to. A file that was
// released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a file as ours; the first migration sets it.
const applicationID = 1281712499 // "Leas"

// migrate brings the schema from the version it has to the newest, each step in
// its own transaction together with the version it leads to.
func migrate(c *session, files fs.FS) error {
	steps, err := migrationFiles(files)
	if err != nil {
		return err
	}
	have, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	if have > int64(len(steps)) {
		return fmt.Errorf("the catalog has version %d, this program knows up to %d: use the newer leasehold that wrote it: %w",
			have, len(steps), fault.ErrInvalid)
	}
	for i := int(have); i < len(steps); i++ {
		text, err := fs.ReadFile(files, steps[i])
		if err != nil {
			return err
		}
		err = c.transaction(func() error {
			if err := c.pragma(string(text)); err != nil {
				return err
			}
			return c.pragma(fmt.Sprintf("PRAGMA user_version=%d", i+1))
		})
		if err != nil {
			return fmt.Errorf("migration %s: %w", steps[i], err)
		}
	}
	return nil
}

// migrationFiles lists the steps in order, and sees that they are numbered
// without a gap.
func migrationFiles(files fs.FS) ([]string, error) {
	steps, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(steps)
	for i, s := range steps {
		if n, err := strconv.Atoi(path.Base(s)[:4]); err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s: want number %04d: %w", s, i+1, fault.ErrInvalid)
		}
	}
	return steps, nil
}

// checkOurs refuses a database that something else made.
func checkOurs(c *session) error {
	id, err := c.number("PRAGMA application_id")
	if err != nil || id == applicationID {
		return err
	}
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err == nil && (tables > 0 || id != 0) {
		return fmt.Errorf("%w: a SQLite database, but not a catalog of leasehold", fault.ErrCorrupt)
	}
	return err
}

// number reads the one number that a query gives, without keeping the statement.
func (c *session) number(query string) (n int64, err error) {
	err = c.conn.QueryRowContext(background, query).Scan(&n)
	return n, err
}
