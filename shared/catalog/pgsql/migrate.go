package pgsql

import (
	"context"
	"fmt"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/pgrealm"
)

// migrate makes the schema of the realm if it is missing, and brings every schema of tables from the version it has to
// the newest, each step in its own transaction together with the version it leads to.
//
// Programs of the version before may go on using a realm that is shared, so a migration of such tables only adds: tables,
// indices, and columns that may be NULL or have a default. What it removes or changes, the oldest format that the program
// reads must not need (package shared/space/journal/postgres).
func (d *Database) migrate(ctx context.Context, o Options) error {
	var versions map[string]int
	err := d.Read(ctx, "read the versions", func(c *sqldb.Conn) (err error) {
		versions, err = readVersions(c, pgrealm.Schema(o.Realm))
		return err
	})
	if err != nil {
		return err
	}
	if o.Shared {
		if versions, err = known(o.Schemas, versions); err != nil {
			return err
		}
	}
	// All are found before the first step, so that a realm that is refused stays as it is.
	missing, err := sqldb.MissingSteps(sqldb.PostgreSQL, o.Schemas, versions)
	if err != nil {
		return err
	}
	for _, m := range missing {
		if err := d.migrateStep(ctx, o, m); err != nil {
			return err
		}
	}
	return nil
}

// known returns the versions of schemas only, and of those that are newer the newest one that this program knows.
func known(schemas []sqldb.Schema, versions map[string]int) (map[string]int, error) {
	all := map[string]int{}
	for _, s := range schemas {
		newest, err := s.Newest(sqldb.PostgreSQL)
		if err != nil {
			return nil, err
		}
		if have := versions[s.Name]; have > 0 {
			all[s.Name] = min(have, newest)
		}
	}
	return all, nil
}

// readVersions returns the version of each schema of tables in the schema of a realm; nothing if that does not exist.
func readVersions(c *sqldb.Conn, schema string) (map[string]int, error) {
	versions := map[string]int{}
	var tables int
	if _, err := c.One("SELECT count(*) FROM pg_tables WHERE schemaname = ? AND tablename = 'schema_version'", []any{schema}, sqldb.Into(&tables)); err != nil || tables == 0 {
		return nil, err
	}
	err := c.All("SELECT name, version FROM schema_version", nil, func(row sqldb.Row) error {
		var name string
		var version int
		err := row.Scan(&name, &version)
		versions[name] = version
		return err
	})
	return versions, err
}

// migrateStep runs a migration and stores the version that it leads to, both or neither. The schema of the realm is
// made only if it is missing, because otherwise no right to make one is needed.
func (d *Database) migrateStep(ctx context.Context, o Options, m sqldb.Migration) error {
	return m.Run(o.OnStep, func(within func() error) error {
		return d.Write(ctx, "migrate", func(c *sqldb.Conn) error {
			var known int
			_, err := c.One("SELECT count(*) FROM pg_namespace WHERE nspname = ?", []any{pgrealm.Schema(o.Realm)}, sqldb.Into(&known))
			if err == nil && known == 0 {
				err = c.Script("CREATE SCHEMA " + pgrealm.Schema(o.Realm))
			}
			if err != nil {
				return err
			}
			if err := c.Script(m.Script); err != nil {
				return err
			}
			if err := within(); err != nil {
				return err
			}
			return c.Script(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS schema_version (name text COLLATE "C" PRIMARY KEY, version integer NOT NULL);
				INSERT INTO schema_version VALUES ('%s', %d) ON CONFLICT (name) DO UPDATE SET version = excluded.version`, m.Schema, m.Version))
		})
	})
}
