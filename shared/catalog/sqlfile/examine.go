package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"leasehold/shared/fault"
)

// Check finds damage in the rows of a schema that SQLite itself accepts.
type Check struct {
	// Name is what the damage is in: "findings".
	Name string
	// Query gives the rows to look at.
	Query string
	// Damage describes what is wrong with a row; "" if nothing is. Without it each row that Query gives is
	// damaged, and its only column describes it.
	Damage func(Row) (string, error)
}

// mostDamage bounds the list of an examination.
const mostDamage = 100

// structure are the checks of SQLite itself: the pages, the indexes, the types of STRICT tables, and the
// references between rows.
var structure = []Check{
	{Name: "structure", Query: "PRAGMA integrity_check(100)", Damage: func(r Row) (text string, err error) {
		err = r.Scan(&text)
		if text == "ok" {
			text = ""
		}
		return text, err
	}},
	{Name: "references", Query: "SELECT 'row ' || coalesce(rowid, '?') || ' of ' || \"table\" || ' names a row of ' || parent || ' that does not exist' FROM pragma_foreign_key_check"},
}

// Examine reads all of the file and lists the damage, at most mostDamage lines: SQLite's own checks, and
// those of the schemas. Others read and write meanwhile. It cannot see a damaged value that could have been written.
// The end of ctx ends it at once, with its cause. A file in memory is not examined.
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
	err = ReadUnchanged(ctx, path, logged, func(c *Conn) error {
		if err := c.checkVersions(format); err != nil {
			return err
		}
		damage, err = examine(ctx, c.conn, format.checks())
		return err
	})
	if errors.Is(err, fault.ErrCorrupt) {
		return append(damage, err.Error()), nil
	}
	return damage, err
}

// checkVersions returns an error unless the file has the newest version of each schema, for which the checks are.
func (c *Conn) checkVersions(format Format) error {
	if err := c.checkOurs(format); err != nil {
		return err
	}
	versions, err := (&File{writer: c}).versions()
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return fmt.Errorf("%w: the file is empty", fault.ErrCorrupt)
	}
	for _, s := range format.Schemas {
		steps, err := missingSteps(s, versions[s.Name])
		if err == nil && len(steps) > 0 {
			err = fmt.Errorf("its schema %s is of an earlier version, which the next start migrates: %w", s.Name, fault.ErrInvalid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checks returns those of SQLite and of all schemas.
func (f Format) checks() []Check {
	all := structure
	for _, s := range f.Schemas {
		all = append(all[:len(all):len(all)], s.Checks...)
	}
	return all
}

// examine runs checks, each in its own transaction, so that the log can be written back between two. A check that
// fails because the file is damaged is damage, and the others go on.
func examine(ctx context.Context, conn *sql.Conn, checks []Check) (damage []string, err error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only=ON"); err != nil {
		return nil, err
	}
	for _, check := range checks {
		err := check.run(ctx, conn, func(text string) {
			if len(damage) < mostDamage {
				damage = append(damage, check.Name+": "+text)
			}
		})
		switch err = classify(err); {
		case ctx.Err() != nil:
			return damage, context.Cause(ctx)
		case errors.Is(err, fault.ErrCorrupt):
			damage = append(damage, check.Name+": "+err.Error())
		case err != nil:
			return damage, fmt.Errorf("%s: %w", check.Name, err)
		}
	}
	return damage, nil
}

// run calls report for each damaged row.
func (c Check) run(ctx context.Context, conn *sql.Conn, report func(string)) error {
	rows, err := conn.QueryContext(ctx, c.Query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if c.Damage != nil {
			text, err = c.Damage(rows)
		} else {
			err = rows.Scan(&text)
		}
		if err != nil {
			return err
		}
		if text != "" {
			report(text)
		}
	}
	return rows.Err()
}
