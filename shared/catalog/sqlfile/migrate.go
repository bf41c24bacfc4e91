package sqlfile

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"leasehold/shared/fault"
)

// Format describes a file.
type Format struct {
	// Name is what messages call it: "catalog".
	Name string
	// ID marks a file as one of these, for ever: SQLite's application_id.
	ID int32
	// Schemas are made and migrated in this order.
	Schemas []Schema
	// Pragmas are set on each connection: "foreign_keys=ON".
	Pragmas []string
	// OnStep, if not nil, is called before and after each step that changes files; an
	// error ends Open there. Tests use it to fail or to die between two steps.
	OnStep func(step string) error
}

// Schema is a set of tables with versions of its own.
type Schema struct {
	Name string
	// Migrations has the files migrations/NNNN*.sql, numbered without a gap. The number is the
	// version of the schema that the file leads to. The first file makes all tables; a file of an
	// earlier version than that is refused. A file that was released is never changed.
	Migrations fs.FS
	// Checks find damage that SQLite does not see; File.Examine runs them.
	Checks []Check
}

// fileFormat is the user_version of a file: the format of its table schema_version.
const fileFormat = 101

// checkOurs refuses a database that something else made, with fault.ErrCorrupt. An empty one is
// accepted.
func (c *Conn) checkOurs(format Format) error {
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
	versions, err := f.versions()
	if err != nil {
		return err
	}
	for name := range versions {
		if !slices.ContainsFunc(format.Schemas, func(s Schema) bool { return s.Name == name }) {
			return fmt.Errorf("it has a schema %s, which this program does not know: use the leasehold that wrote it: %w", name, fault.ErrInvalid)
		}
	}
	all := make([][]migration, len(format.Schemas))
	for i, s := range format.Schemas { // before the first step, so that a file that is refused stays as it is
		if all[i], err = missingSteps(s, versions[s.Name]); err != nil {
			return err
		}
	}
	for i, s := range format.Schemas {
		for _, m := range all[i] {
			if err := f.migrateStep(format, s, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// versions returns the version of each schema in the file. It refuses a file of another format.
func (f *File) versions() (map[string]int, error) {
	versions := map[string]int{}
	have, err := f.writer.Number("PRAGMA user_version")
	switch {
	case err != nil || have == 0: // an empty file
		return nil, err
	case have != fileFormat:
		return nil, fmt.Errorf("it has format %d, this program reads format %d: use the leasehold that wrote it: %w", have, fileFormat, fault.ErrInvalid)
	}
	err = f.writer.All("SELECT name, version FROM schema_version", nil, func(row Row) error {
		var name string
		var version int
		err := row.Scan(&name, &version)
		versions[name] = version
		return err
	})
	return versions, err
}

// missingSteps returns the steps from version have of a schema, 0 for none, to the newest one. It
// refuses a version from which no step leads there.
func missingSteps(s Schema, have int) ([]migration, error) {
	steps, err := migrationFiles(s.Migrations)
	if err != nil {
		return nil, err
	}
	first, newest := steps[0].version, steps[len(steps)-1].version
	switch {
	case have == 0:
		return steps, nil
	case have >= first && have <= newest:
		return steps[have-first+1:], nil
	}
	known := fmt.Sprint(newest)
	if first < newest {
		known = fmt.Sprintf("%d to %d", first, newest)
	}
	return nil, fmt.Errorf("the %s has version %d, this program reads version %s: use the leasehold that wrote it: %w", s.Name, have, known, fault.ErrInvalid)
}

// migrateStep runs a migration and stores the version that it leads to, both or neither. The calls
// of format.step let tests fail or crash at that point.
func (f *File) migrateStep(format Format, s Schema, m migration) error {
	script, err := fs.ReadFile(s.Migrations, m.file)
	if err != nil {
		return err
	}
	step := fmt.Sprintf("%s %d", s.Name, m.version)
	if err := format.step("before " + step); err != nil {
		return err
	}
	err = f.writer.inTransaction("BEGIN IMMEDIATE", func(c *Conn) error {
		if err := c.Script(string(script)); err != nil {
			return err
		}
		if err := format.step("within " + step); err != nil {
			return err
		}
		return c.Script(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS schema_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
			INSERT OR REPLACE INTO schema_version VALUES ('%s', %d); PRAGMA application_id=%d; PRAGMA user_version=%d`,
			s.Name, m.version, format.ID, fileFormat))
	})
	if err != nil {
		return fmt.Errorf("migration %s of the %s: %w", m.file, s.Name, err)
	}
	return format.step("after " + step)
}

// step passes the name of a step to OnStep, if it is set.
func (format Format) step(name string) error {
	if format.OnStep == nil {
		return nil
	}
	return format.OnStep(name)
}

type migration struct {
	file    string
	version int // that it leads to
}

// migrationFiles lists the steps in order. It refuses a schema without any, and a gap between
// their numbers.
func migrationFiles(files fs.FS) (steps []migration, err error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no migrations: %w", fault.ErrInvalid)
	}
	slices.Sort(names)
	for i, name := range names {
		n, err := strconv.Atoi(path.Base(name)[:4])
		if err != nil || n < 1 || i > 0 && n != steps[i-1].version+1 {
			return nil, fmt.Errorf("migration %s: its number does not follow the one before it: %w", name, fault.ErrInvalid)
		}
		steps = append(steps, migration{name, n})
	}
	return steps, nil
}
