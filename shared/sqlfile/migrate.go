package sqlfile

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"leasehold/shared/fault"
)

// checkOurs refuses a database that something else made.
func (f *File) checkOurs(format Format) error {
	id, err := f.Number("PRAGMA application_id")
	if err != nil || id == int64(format.ID) {
		return err
	}
	tables, err := f.Number("SELECT count(*) FROM sqlite_schema")
	if err == nil && (tables > 0 || id != 0) {
		return fmt.Errorf("%w: a SQLite database, but not a %s of leasehold", fault.ErrCorrupt, format.Name)
	}
	return err
}

// migrate brings the schema from the version it has to the newest, each step in its
// own transaction together with the version it leads to.
func (f *File) migrate(format Format) error {
	steps, err := migrationFiles(format.Migrations)
	if err != nil {
		return err
	}
	have, err := f.Number("PRAGMA user_version")
	if err != nil {
		return err
	}
	if have > int64(len(steps)) {
		return fmt.Errorf("the %s has version %d, this program knows up to %d: use the newer leasehold that wrote it: %w",
			format.Name, have, len(steps), fault.ErrInvalid)
	}
	for i := int(have); i < len(steps); i++ {
		text, err := fs.ReadFile(format.Migrations, steps[i])
		if err != nil {
			return err
		}
		err = f.Transaction(func() error {
			return f.Script(fmt.Sprintf("%s;PRAGMA application_id=%d;PRAGMA user_version=%d", text, format.ID, i+1))
		})
		if err != nil {
			return fmt.Errorf("migration %s: %w", steps[i], err)
		}
	}
	return nil
}

// migrationFiles lists the steps in order, and sees that they are numbered without a
// gap.
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
