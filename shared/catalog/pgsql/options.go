package pgsql

import (
	"github.com/jackc/pgx/v5"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/pgrealm"
)

// Options describe a realm of a database.
type Options struct {
	// URL is postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the parameters that libpq knows.
	URL string
	// Realm is of the form models.RealmForm.
	Realm string
	// Name is what messages call the tables: "catalog".
	Name string
	// Schemas are made and migrated in this order.
	Schemas []sqldb.Schema
	// Shared tells that others use the realm too: packages that keep schemas of their own there, and programs of the
	// next version. Schemas that are not in Schemas are left alone, and tables of a newer version are used as they are.
	// The caller has checked that it reads the format of the realm.
	Shared bool
	// Guard, if not nil, runs first in each transaction that writes, and makes it fail with its error.
	Guard func(*sqldb.Conn) error
	// OnStep, if not nil, is called before and after each step that changes tables; an error ends Open there. Tests
	// use it to fail between two steps.
	OnStep func(step string) error
}

// config returns how to connect. Statements are prepared by sqldb; others run once.
func (o Options) config() (*pgx.ConnConfig, error) {
	c, err := pgrealm.Config(o.URL, o.Realm, o.Name)
	if err == nil {
		c.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	return c, err
}
