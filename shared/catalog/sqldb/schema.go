package sqldb

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"leasehold/shared/fault"
)

// Schema is a set of tables with versions of its own.
type Schema struct {
	Name string
	// Migrations has the files migrations/NNNN*.sql for SQLite and migrations/postgres/NNNN*.sql for PostgreSQL, both
	// numbered without a gap. The number is the version of the schema that the file leads to. The first file makes all
	// tables; a database of an earlier version than that is refused. A file that was released is never changed.
	Migrations fs.FS
	// Checks find damage that the database does not see; Database.Examine runs them.
	Checks []Check
}

// The drivers, by the folders of their migrations in a schema.
const (
	SQLite     = "migrations"
	PostgreSQL = "migrations/postgres"
)

// Migration is a step of a schema to a version.
type Migration struct {
	Schema  string
	File    string
	Version int // that it leads to
	Script  string
}

// MissingSteps returns the steps that bring schemas from their versions in a database, by name, to the newest ones.
// folder is SQLite or PostgreSQL. errors.Is finds fault.ErrInvalid for a schema that the program does not know, and for
// a version from which no step leads to the newest one.
func MissingSteps(folder string, schemas []Schema, versions map[string]int) (all []Migration, err error) {
	for name := range versions {
		if !slices.ContainsFunc(schemas, func(s Schema) bool { return s.Name == name }) {
			return nil, fmt.Errorf("it has a schema %s, which this program does not know: use the leasehold that wrote it: %w", name, fault.ErrInvalid)
		}
	}
	for _, s := range schemas {
		steps, err := s.missingSteps(folder, versions[s.Name])
		if err != nil {
			return nil, err
		}
		all = append(all, steps...)
	}
	return all, nil
}

// Newest returns the version to which the newest step leads. folder is SQLite or PostgreSQL.
func (s Schema) Newest(folder string) (int, error) {
	steps, err := s.steps(folder)
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Version, nil
}

// missingSteps returns the steps from version have of a schema, 0 for none, to the newest one. It
// refuses a version from which no step leads there.
func (s Schema) missingSteps(folder string, have int) ([]Migration, error) {
	steps, err := s.steps(folder)
	if err != nil {
		return nil, err
	}
	first, newest := steps[0].Version, steps[len(steps)-1].Version
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

// steps lists the steps in order. It refuses a schema without any, and a gap between their numbers.
func (s Schema) steps(folder string) (steps []Migration, err error) {
	names, err := fs.Glob(s.Migrations, folder+"/*.sql")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the %s has no files in %s: %w", s.Name, folder, fault.ErrInvalid)
	}
	slices.Sort(names)
	for i, name := range names {
		n, err := strconv.Atoi(path.Base(name)[:4])
		if err != nil || n < 1 || i > 0 && n != steps[i-1].Version+1 {
			return nil, fmt.Errorf("migration %s: its number does not follow the one before it: %w", name, fault.ErrInvalid)
		}
		script, err := fs.ReadFile(s.Migrations, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Migration{s.Name, name, n, string(script)})
	}
	return steps, nil
}

// Run calls do, which runs the script and stores the version, both or neither, in one transaction. It calls onStep, if set,
// before and after do, and do calls within when the script has run. Tests use onStep to fail or
// to die at that point.
func (m Migration) Run(onStep func(step string) error, do func(within func() error) error) error {
	at := func(point string) error {
		if onStep == nil {
			return nil
		}
		return onStep(fmt.Sprintf("%s %s %d", point, m.Schema, m.Version))
	}
	if err := at("before"); err != nil {
		return err
	}
	if err := do(func() error { return at("within") }); err != nil {
		return fmt.Errorf("migration %s of the %s: %w", m.File, m.Schema, err)
	}
	return at("after")
}
