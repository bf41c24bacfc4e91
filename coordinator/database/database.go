// Package database opens the one SQLite file of a coordinator: the catalog, the
// schedule of the visits of its origins, whom the coordinator admits, and the history of its tasks.
//
// The tables belong to the packages shared/catalog/store, coordinator/visits, coordinator/admission and
// coordinator/history.
// They share a file so that an origin enters and leaves both in one transaction; neither
// package imports the other.
package database

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/history"
	"leasehold/coordinator/visits"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
	"leasehold/shared/process/clock"
	"leasehold/shared/protocol/visit/policy"
)

// Memory is the path of a database in memory, which is not kept.
const Memory = sqlfile.Memory

// Database is an open file, or a realm of a PostgreSQL database. Catalog and Visits may be used until Close.
type Database struct {
	Catalog   *store.Store
	Visits    *visits.Store
	Admission *admission.Store
	History   *history.Store
	db        sqldb.Database
	file      *sqlfile.File // the same; nil: it is a realm
	marks     uint64        // rows that SetMark has changed
	last      row           // the mark in the database
	emptied   int           // how often the log was emptied when last was written

	examined atomic.Pointer[Examination] // the latest one; nil: none
}

// Open opens the database at path, and creates it if it does not exist. errors.Is finds what
// sqlfile.Open and visits.New return.
func Open(ctx context.Context, path, name string, rules policy.Rules) (*Database, error) {
	plan, err := policy.Uniform(name, rules)
	if err != nil { // before the file is touched
		return nil, err
	}
	return open(ctx, path, plan, nil)
}

// OpenPlan is Open with policies and rules by visit type.
func OpenPlan(ctx context.Context, path string, plan *policy.Plan) (*Database, error) {
	return open(ctx, path, plan, nil)
}

// open opens the database at path, or makes it. plan is the plan of its visits. onStep is called before and after
// each step that changes files; an error of it ends open.
func open(ctx context.Context, path string, plan *policy.Plan, onStep func(string) error) (*Database, error) {
	format := format()
	format.OnStep = onStep
	file, err := sqlfile.Open(ctx, path, format)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	d, err := over(ctx, file, plan)
	if err == nil {
		d.file = file
		err = file.Read(ctx, "database.Open", d.last.read) // the mark
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), file.Close())
	}
	return d, nil
}

// over opens the stores of all packages over a database that has their tables.
func over(ctx context.Context, db sqldb.Database, plan *policy.Plan) (*Database, error) {
	visits, err := visits.New(ctx, db, plan)
	if err != nil {
		return nil, err
	}
	catalog := store.New(db, visits)
	visits.Attach(catalog)
	admitted, err := admission.New(ctx, db, clock.Now)
	if err != nil {
		return nil, err
	}
	return &Database{Catalog: catalog, Visits: visits, Admission: admitted, History: history.New(db), db: db}, nil
}

// format describes the file with the tables of all packages.
func format() sqlfile.Format {
	return store.Format(visits.Schema(), pairSchema, admission.Schema(), history.Schema())
}

// Copy writes the database as of one moment to a new file at path, while it is used. For a realm it fails with
// fault.ErrInvalid.
func (d *Database) Copy(ctx context.Context, path string) error {
	if d.file == nil {
		return fmt.Errorf("copy the catalog: a realm is in the backups of its PostgreSQL database: %w", fault.ErrInvalid)
	}
	return d.file.Copy(ctx, path)
}

// Health returns nil if the database can be written, and otherwise why not and since when.
func (d *Database) Health() error { return d.db.Health() }

// Close waits for calls under way and gives up the database. A second Close returns nil.
func (d *Database) Close() error { return d.db.Close() }
