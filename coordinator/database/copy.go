package database

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// copyRows is how many rows one transaction of CopyTo writes.
const copyRows = 500

// CopyTo writes all rows to a database that has none; one of the two is a file, and the other one a realm. Rows keep their
// numbers, and numbers that were given once are not given again. It fails with fault.ErrConflict if the other one is not
// empty. After an error the other one has a part, and must not be used. Both must be opened again before they are used,
// because they have read what they keep in memory.
func (d *Database) CopyTo(ctx context.Context, to *Database) error {
	file := d
	if file.file == nil {
		file = to
	}
	tables, err := file.tables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := to.requireEmpty(ctx, t); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if err := d.copyTable(ctx, to, t); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return nil
}

// copied is a table, with its columns.
type copied struct {
	name    string
	columns []string
	counts  bool // its first column is a number that the database gives
}

// tables lists the tables of the stores in a file, those first that others refer to, as they were made.
func (d *Database) tables(ctx context.Context) (all []copied, err error) {
	err = d.db.Read(ctx, "list the tables", func(c *sqldb.Conn) error {
		read := func(row sqldb.Row) error {
			var t copied
			err := row.Scan(&t.name, &t.counts)
			all = append(all, t)
			return err
		}
		if err := c.All(`SELECT name, sql LIKE '%AUTOINCREMENT%' FROM sqlite_schema
			WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('schema_version', 'pair') ORDER BY rowid`, nil, read); err != nil {
			return err
		}
		for i, t := range all {
			var name string
			if err := c.All("SELECT name FROM pragma_table_info(?) ORDER BY cid", []any{t.name}, func(row sqldb.Row) error {
				err := row.Scan(&name)
				all[i].columns = append(all[i].columns, name)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// own are tables that a database has rows in from its opening on, which are the same everywhere.
var own = []string{"placement", "counter"}

// requireEmpty fails with fault.ErrConflict if a table has rows.
func (d *Database) requireEmpty(ctx context.Context, t copied) error {
	if slices.Contains(own, t.name) {
		return nil
	}
	return d.db.Read(ctx, "look for rows", func(c *sqldb.Conn) error {
		var n int64
		if _, err := c.One("SELECT count(*) FROM "+t.name, nil, sqldb.Into(&n)); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w: the table %s of the database to write to has %d rows already", fault.ErrConflict, t.name, n)
		}
		return nil
	})
}

// copyTable writes the rows of a table to another database, in several transactions.
func (d *Database) copyTable(ctx context.Context, to *Database, t copied) error {
	if slices.Contains(own, t.name) {
		if err := to.db.Write(ctx, "empty", func(c *sqldb.Conn) error { return c.Exec("DELETE FROM " + t.name) }); err != nil {
			return err
		}
	}
	columns := `"` + strings.Join(t.columns, `", "`) + `"`
	insert := "INSERT INTO " + t.name + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
	var rows [][]any
	flush := func() error {
		written := rows
		rows = nil
		return to.db.Write(ctx, "copy", func(c *sqldb.Conn) error {
			for _, values := range written {
				if err := c.Exec(insert, values...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := d.db.Read(ctx, "read", func(c *sqldb.Conn) error {
		return c.All("SELECT "+columns+" FROM "+t.name, nil, func(row sqldb.Row) error {
			values := make([]any, len(t.columns))
			into := make([]any, len(values))
			for i := range values {
				into[i] = &values[i]
			}
			if err := row.Scan(into...); err != nil {
				return err
			}
			rows = append(rows, values)
			if len(rows) < copyRows {
				return nil
			}
			return flush()
		})
	})
	if err == nil && len(rows) > 0 {
		err = flush()
	}
	if err == nil && t.counts {
		err = d.copyNumber(ctx, to, t)
	}
	return err
}

// copyNumber has another database go on with the numbers of a table's rows.
func (d *Database) copyNumber(ctx context.Context, to *Database, t copied) error {
	var last int64
	err := d.db.Read(ctx, "read the last number", func(c *sqldb.Conn) error {
		query, args := "SELECT last_value FROM "+sequence(t), []any(nil)
		if d.file != nil {
			query, args = "SELECT seq FROM sqlite_sequence WHERE name = ?", []any{t.name}
		}
		_, err := c.One(query, args, sqldb.Into(&last))
		return err
	})
	if err != nil || last == 0 {
		return err
	}
	return to.db.Write(ctx, "go on with the numbers", func(c *sqldb.Conn) error {
		if to.file == nil {
			_, err := c.One("SELECT setval(?, ?)", []any{sequence(t), last}, sqldb.Into(&last))
			return err
		}
		if err := c.Exec("DELETE FROM sqlite_sequence WHERE name = ?", t.name); err != nil {
			return err
		}
		return c.Exec("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", t.name, last)
	})
}

// sequence is the name that PostgreSQL gives to the sequence of a table's numbers.
func sequence(t copied) string { return t.name + "_" + t.columns[0] + "_seq" }
