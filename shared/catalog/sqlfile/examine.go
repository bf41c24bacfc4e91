package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// structure are the checks of SQLite itself: the pages, the indexes, the types of STRICT tables, and the
// references between rows.
var structure = []sqldb.Check{
	{Name: "structure", Query: "PRAGMA integrity_check(100)", Damage: func(r sqldb.Row) (text string, err error) {
		err = r.Scan(&text)
		if text == "ok" {
			text = ""
		}
		return text, err
	}},
	{Name: "references", Query: "SELECT 'row ' || coalesce(rowid, '?') || ' of ' || \"table\" || ' names a row of ' || parent || ' that does not exist' FROM pragma_foreign_key_check"},
}

// Examine implements sqldb.Database: SQLite's own checks, and those of the schemas. It cannot see a damaged value that
// could have been written. A file in memory is not examined.
func (f *File) Examine(ctx context.Context) (damage []string, err error) {
	if f.readers == nil {
		return nil, nil
	}
	const op = "examine the database"
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-f.done:
		return nil, fmt.Errorf("%s: the %s is %w", op, f.name, fault.ErrClosed)
	case f.examining <- struct{}{}:
	}
	defer func() { <-f.examining }()
	conn, err := f.db.Conn(ctx) // its own, because the calls on the others cannot be interrupted
	if err != nil {
		return nil, wrap(op, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	damage, err = examine(ctx, conn, f.checks)
	return damage, wrap(op, err)
}

// ExamineAlone is File.Examine of a file that no process has open. It changes nothing, and reads the log of a
// killed process too. A file that cannot be read is damaged; a missing one is fault.ErrNotFound.
func ExamineAlone(ctx context.Context, path string, format Format) (damage []string, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("examine %s: %w: %w", path, fault.ErrNotFound, err)
	}
	logged, err := HasLog(path)
	if err != nil {
		return nil, err
	}
	err = readUnchanged(ctx, path, logged, func(f *File, c *sqldb.Conn) error {
		if err := checkVersions(c, format); err != nil {
			return err
		}
		conn, err := f.db.Conn(ctx)
		if err != nil {
			return err
		}
		damage, err = examine(ctx, conn, format.checks())
		return errors.Join(err, conn.Close())
	})
	if errors.Is(err, fault.ErrCorrupt) {
		return append(damage, err.Error()), nil
	}
	return damage, err
}

// checkVersions returns an error unless the file has the newest version of each schema, for which the checks are.
func checkVersions(c *sqldb.Conn, format Format) error {
	if err := checkOurs(c, format); err != nil {
		return err
	}
	versions, err := readVersions(c)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return fmt.Errorf("%w: the file is empty", fault.ErrCorrupt)
	}
	missing, err := sqldb.MissingSteps(sqldb.SQLite, format.Schemas, versions)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("its schema %s is of an earlier version, which the next start migrates: %w", missing[0].Schema, fault.ErrInvalid)
	}
	return err
}

// checks returns those of SQLite and of all schemas.
func (f Format) checks() []sqldb.Check {
	all := structure
	for _, s := range f.Schemas {
		all = append(all[:len(all):len(all)], s.Checks...)
	}
	return all
}

// examine runs checks, each in its own transaction, so that the log can be written back between two.
func examine(ctx context.Context, conn *sql.Conn, checks []sqldb.Check) (damage []string, err error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only=ON"); err != nil {
		return nil, err
	}
	return sqldb.Examine(ctx, conn, sqldb.SQLite, checks, classify)
}
