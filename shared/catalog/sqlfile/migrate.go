package sqlfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	// Schemas are migrated in this order. A file of an older program, which had one
	// schema, has the first.
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
	// Migrations has the files migrations/NNNN*.sql, numbered from 1 without a gap; the
	// number is the version of the schema that the file leads to. A file that was
	// released is never changed.
	Migrations fs.FS
	// Legacy, if not nil, is where older programs kept this schema.
	Legacy *Legacy
}

// Legacy is a file of its own, in the same folder, whose content becomes a schema of this file. It is removed
// once the schema is on disk.
type Legacy struct {
	File string
	ID   int32 // its application_id
	// Imports are scripts that copy the tables of the file, attached as legacy, into
	// those of the first migration: one for each version (user_version) from 1.
	Imports []string
}

// layout is the user_version of a file with a table of schema versions. Older programs
// refuse it, because it is higher than any version of theirs.
const layout = 100

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

// migrate brings every schema from the version it has to the newest, each step in its own transaction together
// with the version it leads to.
func (f *File) migrate(format Format) error {
	versions, err := f.versions(format)
	if err != nil {
		return err
	}
	for _, s := range format.Schemas {
		if err := f.migrateSchema(format, s, versions[s.Name]); err != nil {
			return err
		}
	}
	return nil
}

// versions returns the version of each schema in the file, 0 for a missing one. It refuses a file with a schema
// or a version that this program does not know.
func (f *File) versions(format Format) (map[string]int, error) {
	versions := map[string]int{}
	have, err := f.writer.Number("PRAGMA user_version")
	if err != nil {
		return nil, err
	}
	if have == layout {
		err = f.writer.All("SELECT name, version FROM schema_version", nil, func(row Row) error {
			var name string
			var version int
			err := row.Scan(&name, &version)
			versions[name] = version
			return err
		})
	} else if have > 0 {
		versions[format.Schemas[0].Name] = int(have)
	}
	for name, version := range versions {
		known, listErr := format.newestVersion(name)
		if err = errors.Join(err, listErr); err == nil && version > known {
			err = fmt.Errorf("the %s has version %d, this program knows up to %d: use the newer leasehold that wrote it: %w",
				name, version, known, fault.ErrInvalid)
		}
	}
	return versions, err
}

func (format Format) newestVersion(schema string) (int, error) {
	for _, s := range format.Schemas {
		if s.Name == schema {
			steps, err := migrationFiles(s.Migrations)
			return len(steps), err
		}
	}
	return 0, nil
}

// migrateSchema brings a schema from version have to the newest, and imports its legacy file in the first step.
func (f *File) migrateSchema(format Format, s Schema, have int) error {
	steps, err := migrationFiles(s.Migrations)
	if err != nil {
		return err
	}
	importScript, err := f.attachLegacy(s, have)
	if err != nil {
		return err
	}
	for i := have; i < len(steps); i++ {
		text, err := fs.ReadFile(s.Migrations, steps[i])
		if err != nil {
			return err
		}
		script := string(text)
		if i == 0 {
			script += ";" + importScript
		}
		if err := f.migrateStep(format, s, steps[i], i+1, script); err != nil {
			return err
		}
	}
	if importScript != "" {
		if err := f.writer.Script("DETACH legacy"); err != nil {
			return err
		}
	}
	return f.removeLegacy(format, s)
}

// migrateStep runs script, the content of a migration file, and stores the version that it leads to, both or
// neither.
func (f *File) migrateStep(format Format, s Schema, file string, version int, script string) error {
	step := fmt.Sprintf("%s %d", s.Name, version)
	if err := format.step("before " + step); err != nil {
		return err
	}
	err := f.writer.inTransaction("BEGIN IMMEDIATE", func(c *Conn) error {
		if err := c.Script(script); err != nil {
			return err
		}
		if err := format.step("within " + step); err != nil {
			return err
		}
		return c.Script(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS schema_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
			INSERT OR REPLACE INTO schema_version VALUES ('%s', %d); PRAGMA application_id=%d; PRAGMA user_version=%d`,
			s.Name, version, format.ID, layout))
	})
	if err != nil {
		return fmt.Errorf("migration %s of the %s: %w", file, s.Name, err)
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

// attachLegacy attaches the file in which older programs kept a schema that this file does not have yet, and
// returns the script that imports it. An empty script means that no such file is attached; otherwise the caller
// detaches it. After an error the file is closed anyway. have is the version of the schema in this file, 0 for
// none. It refuses a file of another program or of an unknown version.
func (f *File) attachLegacy(s Schema, have int) (script string, err error) {
	if s.Legacy == nil || have > 0 || f.path == Memory {
		return "", nil
	}
	path := filepath.Join(filepath.Dir(f.path), s.Legacy.File)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	if err := f.writer.Exec("ATTACH ? AS legacy", path); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	id, err := f.writer.Number("PRAGMA legacy.application_id")
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	version, err := f.writer.Number("PRAGMA legacy.user_version")
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	tables, err := f.writer.Number("SELECT count(*) FROM legacy.sqlite_schema")
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case id == 0 && tables == 0: // its program died before it had made the tables
		return "SELECT 1", nil // imports nothing; not empty, so that the file is detached
	case id != int64(s.Legacy.ID):
		return "", fmt.Errorf("%s: %w: not the %s of an older leasehold", path, fault.ErrCorrupt, s.Name)
	case version < 1 || version > int64(len(s.Legacy.Imports)):
		return "", fmt.Errorf("%s has version %d, this program knows 1 to %d: %w", path, version, len(s.Legacy.Imports), fault.ErrInvalid)
	}
	return s.Legacy.Imports[version-1], nil
}

// removeLegacy removes the file that was imported, also when a process died before it could. The import is made
// durable first, with the folder's entry of this file. If there is none, it does nothing.
func (f *File) removeLegacy(format Format, s Schema) error {
	if s.Legacy == nil || f.path == Memory {
		return nil
	}
	dir := filepath.Dir(f.path)
	for _, end := range []string{"-wal", "-shm", ""} {
		path := filepath.Join(dir, s.Legacy.File+end)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := errors.Join(syncFolder(dir), format.step("before removal of "+s.Legacy.File+end)); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// migrationFiles lists the steps in order, and refuses a gap between their numbers with
// fault.ErrInvalid.
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
