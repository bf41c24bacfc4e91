package realm

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/fault"
)

// place is where the tables of a realm are: the cluster of PostgreSQL, and the database in it. A standby that was promoted
// has both of its primary, and a restored dump has others.
type place struct{ System, Database int64 }

// CheckPlace notes where the realm is when it is called for the first time. Later it fails with fault.ErrConflict if the
// realm is elsewhere: it was restored from a dump, and the database that was dumped may still be used, so both would do
// the same work. If accept is true, it notes the new place instead.
func (r *Realm) CheckPlace(ctx context.Context, accept bool) error {
	ctx, done := r.limited(ctx, shortTime)
	defer done()
	return r.change(ctx, func(tx pgx.Tx) error {
		var here, noted place
		if err := tx.QueryRow(ctx, `SELECT system_identifier, (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
			FROM pg_control_system()`).Scan(&here.System, &here.Database); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `SELECT system, database FROM place`).Scan(&noted.System, &noted.Database)
		isNew := errors.Is(err, pgx.ErrNoRows)
		switch {
		case err != nil && !isNew:
			return err
		case !isNew && here == noted:
			return nil
		case !isNew && !accept:
			return fmt.Errorf("the realm %s was restored from a dump of another database: %w: if no coordinator uses that one any more, start once with --accept-missing database", r.Name, fault.ErrConflict)
		}
		_, err = tx.Exec(ctx, `INSERT INTO place (one, system, database) VALUES (true, $1, $2) ON CONFLICT (one) DO UPDATE SET system = $1, database = $2`, here.System, here.Database)
		return err
	})
}
