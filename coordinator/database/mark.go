package database

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"time"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pairing"
)

//go:embed migrations/*.sql
var migrations embed.FS

var pairSchema = sqldb.Schema{Name: "pair", Migrations: migrations, Checks: pairChecks}

// FindState returns in which state the file at path is. It does not make one, and changes nothing. No process may
// have the file open. A *pairing.Mixed means that the file and its log do not belong together, so that it must
// not be opened with the log.
func FindState(ctx context.Context, path string) (pairing.State, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return pairing.Missing, nil
	case err != nil:
		return "", fmt.Errorf("database: %w", err)
	case info.Size() == 0:
		return pairing.Empty, nil
	}
	if logged, err := sqlfile.HasLog(path); err != nil || !logged {
		return pairing.Present, err
	}
	return pairing.Present, checkLog(ctx, path)
}

// checkLog compares the mark in the file itself with the mark that the log makes of it. A file that
// cannot be read without its log is one whose process was killed while it wrote the log back. If both
// belong together, the counter in the file is from inFile, which the file had when the log began, to
// the counter in the log. The error is nil or a *pairing.Mixed, also for a log that cannot be read.
func checkLog(ctx context.Context, path string) error {
	const withLog, withoutLog = true, false
	var alone, both row
	if sqlfile.ReadUnchanged(ctx, path, withoutLog, alone.read) != nil {
		return nil
	}
	err := sqlfile.ReadUnchanged(ctx, path, withLog, both.read)
	foreign := alone.mark.Instance != "" && alone.mark.Instance != both.mark.Instance
	if err != nil || foreign || alone.mark.Counter < both.inFile || alone.mark.Counter > both.mark.Counter {
		return &pairing.Mixed{File: alone.mark, Log: both.mark}
	}
	return nil
}

// row is the mark as the database keeps it.
type row struct {
	mark pairing.Mark
	// inFile is the counter that the file has at least without its log. With a file that
	// has less, the log was not written.
	inFile uint64
}

// read reads the row, if there is one. A file whose making was interrupted has no table.
func (r *row) read(c *sqldb.Conn) error {
	if tables, err := c.Number("SELECT count(*) FROM sqlite_schema WHERE name = 'pair'"); err != nil || tables == 0 {
		return err
	}
	var at int64
	ok, err := c.One("SELECT instance, counter, confirmed, at, other, in_file FROM pair", nil,
		sqldb.Into(&r.mark.Instance, &r.mark.Counter, &r.mark.Confirmed, &at, &r.mark.Other, &r.inFile))
	if ok {
		r.mark.At = time.Unix(0, at)
	}
	return err
}

// errNoPair is the error of a realm, whose journal is in the same database.
var errNoPair = fmt.Errorf("a realm has no mark, because its journal is in the same database: %w", fault.ErrInvalid)

// Mark returns the mark that keeps the database and a journal together. Its Instance is empty if there is none, as in a
// realm.
func (d *Database) Mark(ctx context.Context) (pairing.Mark, error) {
	if d.file == nil {
		return pairing.Mark{}, nil
	}
	var r row
	err := d.file.Read(ctx, "database.Mark", r.read)
	return r.mark, err
}

// SetMark writes the mark. It is durable when SetMark returns nil. SetMark and Changes
// must not be called concurrently. For a realm it fails with fault.ErrInvalid.
func (d *Database) SetMark(ctx context.Context, m pairing.Mark) error {
	if d.file == nil {
		return errNoPair
	}
	if d.file.LogEmptied() > d.emptied {
		d.last.inFile = d.last.mark.Counter // SQLite emptied the log, after it had copied this mark to the file
	}
	next := row{mark: m, inFile: d.last.inFile}
	if err := next.write(ctx, d.file); err != nil {
		return err
	}
	d.marks++
	d.last, d.emptied = next, d.file.LogEmptied()
	return nil
}

// write puts the row in place of the one before, because a database has one mark.
func (r row) write(ctx context.Context, file sqldb.Database) error {
	return file.Write(ctx, "database.SetMark", func(c *sqldb.Conn) error {
		return c.Exec(`INSERT INTO pair (id, instance, counter, confirmed, at, other, in_file) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
			ON CONFLICT (id) DO UPDATE SET instance = ?1, counter = ?2, confirmed = ?3, at = ?4, other = ?5, in_file = ?6`,
			r.mark.Instance, int64(r.mark.Counter), int64(r.mark.Confirmed), r.mark.At.UnixNano(), r.mark.Other, int64(r.inFile))
	})
}

// Changes returns how many rows were changed since Open, marks excepted. For a realm it fails with
// fault.ErrInvalid.
func (d *Database) Changes(ctx context.Context) (n uint64, err error) {
	if d.file == nil {
		return 0, errNoPair
	}
	err = d.file.Write(ctx, "database.Changes", func(c *sqldb.Conn) error {
		all, err := c.Number("SELECT total_changes()")
		n = uint64(all) - d.marks
		return err
	})
	return n, err
}

// Describe returns what the database holds, for people.
func (d *Database) Describe(ctx context.Context) (text string, err error) {
	err = d.db.Read(ctx, "database.Describe", func(c *sqldb.Conn) error {
		origins, err := c.Number("SELECT count(*) FROM origin")
		if err != nil {
			return err
		}
		episodes, err := c.Number("SELECT count(*) FROM episode")
		text = fmt.Sprintf("origins: %d, episodes: %d", origins, episodes)
		return err
	})
	return text, err
}

// WriteMark sets the mark of a closed file.
func WriteMark(ctx context.Context, path string, m pairing.Mark) (err error) {
	file, err := sqlfile.Open(ctx, path, format())
	if err != nil {
		return fmt.Errorf("database %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return row{mark: m}.write(ctx, file)
}
