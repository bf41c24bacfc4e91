package sqlfile

import (
	"fmt"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// Format describes a file.
type Format struct {
	// Name is what messages call it: "catalog".
	Name string
	// ID marks a file as one of these, for ever: SQLite's application_id.
	ID int32
	// Schemas are made and migrated in this order.
	Schemas []sqldb.Schema
	// Pragmas are set on each connection: "foreign_keys=ON".
	Pragmas []string
	// OnStep, if not nil, is called before and after each step that changes files; an
	// error ends Open there. Tests use it to fail or to die between two steps.
	OnStep func(step string) error
}

// fileFormat is the user_version of a file: the format of its table schema_version.
const fileFormat = 101

// checkOurs refuses a database that something else made, with fault.ErrCorrupt. An empty one is
// accepted.
func checkOurs(c *sqldb.Conn, format Format) error {
	id, err := c.Number("PRAGMA application_id")
	if err != nil || id == int64(format.ID) {
		return err
	}
	tables, err := c.Number("SELECT count(*) FROM sqlite_schema")
	if err == nil && (tables > 0 || id != 0) {
		return fmt.Errorf("%w: a SQLite database, but not a %s of leasehold", fault.ErrCorrupt, format.Name)
	}
	return err
}

// migrate brings every schema from the version it has to the newest, each step in its own
// transaction together with the version it leads to.
func (f *File) migrate(format Format) error {
	versions, err := readVersions(f.writer)
	if err != nil {
		return err
	}
	// All are found before the first step, so that a file that is refused stays as it is.
	missing, err := sqldb.MissingSteps(sqldb.SQLite, format.Schemas, versions)
	if err != nil {
		return err
	}
	for _, m := range missing {
		if err := f.migrateStep(format, m); err != nil {
			return err
		}
	}
	return nil
}

// readVersions returns the version of each schema in a file. It refuses a file of another format.
func readVersions(c *sqldb.Conn) (map[string]int, error) {
	versions := map[string]int{}
	have, err := c.Number("PRAGMA user_version")
	switch {
	case err != nil || have == 0: // an empty file
		return nil, err
	case have != fileFormat:
		return nil, fmt.Errorf("it has format %d, this program reads format %d: use the leasehold that wrote it: %w", have, fileFormat, fault.ErrInvalid)
	}
	err = c.All("SELECT name, version FROM schema_version", nil, func(row sqldb.Row) error {
		var name string
		var version int
		err := row.Scan(&name, &version)
		versions[name] = version
		return err
	})
	return versions, err
}

// migrateStep runs a migration and stores the version that it leads to, both or neither.
func (f *File) migrateStep(format Format, m sqldb.Migration) error {
	return m.Run(format.OnStep, func(within func() error) error {
		return f.writer.InTransaction(beginWrite, func(c *sqldb.Conn) error {
			if err := c.Script(m.Script); err != nil {
				return err
			}
			if err := within(); err != nil {
				return err
			}
			return c.Script(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS schema_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
				INSERT OR REPLACE INTO schema_version VALUES ('%s', %d); PRAGMA application_id=%d; PRAGMA user_version=%d`,
				m.Schema, m.Version, format.ID, fileFormat))
		})
	})
}
