package database

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/history"
	"leasehold/coordinator/visits"
	"leasehold/shared/catalog/pgsql"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// OpenRealm opens the tables of a realm in a PostgreSQL database, for the owner of an epoch (package
// shared/space/journal/postgres, which has the table owner): once another process owns the realm, every change fails with
// fault.ErrUnavailable. Claiming the epoch has checked that this program reads the format of the realm, so tables that
// the next version has migrated are used as they are. errors.Is finds what pgsql.Open and visits.New return.
func OpenRealm(ctx context.Context, url, realm string, epoch uint64, plan *policy.Plan) (*Database, error) {
	schedule := visits.Schema()
	schedule.Checks = append(slices.Clone(schedule.Checks), sameOrigins)
	schemas := []sqldb.Schema{store.Schema(), schedule, admission.Schema(), history.Schema()}
	db, err := pgsql.Open(ctx, pgsql.Options{URL: url, Realm: realm, Name: "catalog", Schemas: schemas, Shared: true, Guard: ownedBy(epoch)})
	if err != nil {
		return nil, fmt.Errorf("catalog of the realm %s: %w", realm, err)
	}
	d, err := over(ctx, db, plan)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("catalog of the realm %s: %w", realm, err), db.Close())
	}
	return d, nil
}

// ownedBy returns what runs first in each transaction that writes: it locks the row of the owner until the transaction
// ends, so that no other process claims the realm meanwhile, and fails if another epoch has begun.
func ownedBy(epoch uint64) func(*sqldb.Conn) error {
	return func(c *sqldb.Conn) error {
		var now uint64
		if _, err := c.One("SELECT epoch FROM owner FOR SHARE", nil, sqldb.Into(&now)); err != nil {
			return err
		}
		if now != epoch {
			return fmt.Errorf("another member owns the realm: its epoch is %d, and this one's %d: %w", now, epoch, fault.ErrUnavailable)
		}
		return nil
	}
}
