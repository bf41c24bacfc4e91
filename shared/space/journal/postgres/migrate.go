package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/fault"
	"leasehold/shared/pgrealm"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaName is what the tables of the journal are called in schema_version, which other packages share.
const schemaName = "journal"

// The codes of errors that mean that another process made a schema or a table in the same moment.
var madeMeanwhile = []string{"42P06", "42P07", "23505"}

// migrate brings the tables to the newest version. All steps are one transaction, together with the version that they
// lead to. Members that start together wait for each other.
//
// A member of the version before may go on using the realm, so a migration only adds: tables, indices, and columns that
// may be NULL or have a default. It removes or changes nothing but what OldestFormat does not need. A member accepts
// tables of a newer version than its own while it reads the format of the realm, which Open checks first.
func (j *Journal) migrate(ctx context.Context) error {
	if err := j.makeSchema(ctx); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE schema_version IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		have := 0
		err := tx.QueryRow(ctx, "SELECT version FROM schema_version WHERE name = $1", schemaName).Scan(&have)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		steps, err := missingSteps(migrations, have)
		if err != nil {
			return err
		}
		for _, s := range steps {
			if err := s.run(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// makeSchema makes the schema of the realm and the table schema_version. It first looks whether they exist, so that a
// role without the right to make them can use them.
func (j *Journal) makeSchema(ctx context.Context) error {
	for _, s := range []struct{ object, look, make string }{
		{pgrealm.Schema(j.config.Realm), "SELECT to_regnamespace($1) IS NOT NULL", "CREATE SCHEMA " + pgrealm.Schema(j.config.Realm)},
		{"schema_version", "SELECT to_regclass($1) IS NOT NULL", `CREATE TABLE schema_version (name text COLLATE "C" PRIMARY KEY, version integer NOT NULL)`},
	} {
		exists := false
		err := j.pool.QueryRow(ctx, s.look, s.object).Scan(&exists)
		if err == nil && !exists {
			_, err = j.pool.Exec(ctx, s.make)
		}
		if err != nil && !slices.Contains(madeMeanwhile, pgrealm.Code(err)) {
			return err
		}
	}
	return nil
}

// migration is one file of migrations: its number is the version that it leads to.
type migration struct {
	files   fs.FS
	file    string
	version int
}

// run makes the step within a transaction.
func (m migration) run(ctx context.Context, tx pgx.Tx) error {
	script, err := fs.ReadFile(m.files, m.file)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(script)); err != nil {
		return fmt.Errorf("migration %s: %w", m.file, err)
	}
	_, err = tx.Exec(ctx, "INSERT INTO schema_version VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET version = excluded.version", schemaName, m.version)
	return err
}

// missingSteps returns the steps from version have, 0 for none, to the newest one; none from a version that is newer.
func missingSteps(files fs.FS, have int) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var steps []migration
	for i, name := range names {
		n, err := strconv.Atoi(path.Base(name)[:4])
		if err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s: its number does not follow the one before it: %w", name, fault.ErrInvalid)
		}
		steps = append(steps, migration{files, name, n})
	}
	return steps[min(have, len(steps)):], nil
}
