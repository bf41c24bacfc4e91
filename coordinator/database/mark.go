package database

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"time"

	"leasehold/coordinator/visit/store"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/pairing"
	"leasehold/shared/sqlfile"
)

//go:embed migrations/*.sql
var migrations embed.FS

var pairSchema = sqlfile.Schema{Name: "pair", Migrations: migrations}

// FindState returns in which state the file at path is. It does not make one.
func FindState(path string) (pairing.State, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return pairing.Missing, nil
	case err != nil:
		return "", fmt.Errorf("database: %w", err)
	case info.Size() == 0:
		return pairing.Empty, nil
	}
	return pairing.Present, nil
}

// Mark returns the mark that keeps the database and a journal together. Its Instance is
// empty if there is none.
func (d *Database) Mark(ctx context.Context) (m pairing.Mark, err error) {
	err = d.file.Read(ctx, "database.Mark", func(c *sqlfile.Conn) error {
		var at int64
		ok, err := c.One("SELECT instance, counter, confirmed, at, other FROM pair", nil,
			sqlfile.Into(&m.Instance, &m.Counter, &m.Confirmed, &at, &m.Other))
		if ok {
			m.At = time.Unix(0, at)
		}
		return err
	})
	return m, err
}

// SetMark writes the mark. It is durable when SetMark returns nil. SetMark and Changes
// must not be called concurrently.
func (d *Database) SetMark(ctx context.Context, m pairing.Mark) error {
	err := setMark(ctx, d.file, m)
	if err == nil {
		d.marks++
	}
	return err
}

func setMark(ctx context.Context, file *sqlfile.File, m pairing.Mark) error {
	return file.Write(ctx, "database.SetMark", func(c *sqlfile.Conn) error {
		return c.Exec(`INSERT INTO pair (id, instance, counter, confirmed, at, other) VALUES (1, ?1, ?2, ?3, ?4, ?5)
			ON CONFLICT (id) DO UPDATE SET instance = ?1, counter = ?2, confirmed = ?3, at = ?4, other = ?5`,
			m.Instance, int64(m.Counter), int64(m.Confirmed), m.At.UnixNano(), m.Other)
	})
}

// Changes returns how many rows were changed since Open, marks excepted.
func (d *Database) Changes(ctx context.Context) (n uint64, err error) {
	err = d.file.Write(ctx, "database.Changes", func(c *sqlfile.Conn) error {
		all, err := c.Number("SELECT total_changes()")
		n = uint64(all) - d.marks
		return err
	})
	return n, err
}

// Describe returns what the database holds, for people.
func (d *Database) Describe(ctx context.Context) (text string, err error) {
	err = d.file.Read(ctx, "database.Describe", func(c *sqlfile.Conn) error {
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

// WriteMark sets the mark of a file that is not open.
func WriteMark(ctx context.Context, path string, m pairing.Mark) (err error) {
	file, err := sqlfile.Open(ctx, path, sqlite.Format(store.Schema(), pairSchema))
	if err != nil {
		return fmt.Errorf("database %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return setMark(ctx, file, m)
}
