// Package database opens the one SQLite file of a coordinator: the catalog, the
// schedule of the visits of its origins, whom the coordinator admits, and the history of its tasks.
//
// The tables belong to the packages shared/catalog/sqlite, coordinator/visits, coordinator/admission and
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
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/process/clock"
	"leasehold/shared/protocol/visit/policy"
)

// Memory is the path of a database in memory, which is not kept.
const Memory = sqlfile.Memory

// Database is an open file. Catalog and Visits may be used until Close.
type Database struct {
	Catalog   *sqlite.Store
	Visits    *visits.Store
	Admission *admission.Store
	History   *history.Store
	file      *sqlfile.File
	marks     uint64 // rows that SetMark has changed
	last      row    // the mark in the database
	emptied   int    // how often the log was emptied when last was written

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
	visits, err := visits.New(ctx, file, plan)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), file.Close())
	}
	catalog := sqlite.New(file, visits)
	visits.Attach(catalog)
	admitted, err := admission.New(ctx, file, clock.Now)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), file.Close())
	}
	d := &Database{Catalog: catalog, Visits: visits, Admission: admitted, History: history.New(file), file: file}
	if err := file.Read(ctx, "database.Open", d.last.read); err != nil { // the mark
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), file.Close())
	}
	return d, nil
}

// format describes the file with the tables of all packages.
func format() sqlfile.Format {
	return sqlite.Format(visits.Schema(), pairSchema, admission.Schema(), history.Schema())
}

// Copy writes the database as of one moment to a new file at path, while it is used.
func (d *Database) Copy(ctx context.Context, path string) error { return d.file.Copy(ctx, path) }

// Health returns nil if the database can be written, and otherwise why not and since when.
func (d *Database) Health() error { return d.file.Health() }

// Close waits for calls under way and gives up the file. A second Close returns nil.
func (d *Database) Close() error { return d.file.Close() }
