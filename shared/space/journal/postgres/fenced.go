package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/space/journal"
)

// fenced calls do in a transaction that commits only while this process is the owner: the next Claim waits for it. It
// does not wait for the disk, because what it removes or moves is done again if it is lost.
func (j *Journal) fenced(ctx context.Context, do func(pgx.Tx) error) error {
	if err := j.usable(); err != nil {
		return err
	}
	epoch := j.epoch.Load()
	err := pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return err
		}
		owner, err := tx.Exec(ctx, "SELECT FROM owner WHERE epoch = $1 FOR SHARE", epoch)
		if err != nil {
			return err
		}
		if owner.RowsAffected() == 0 || epoch == 0 {
			return fmt.Errorf("%w: this one has epoch %d", journal.ErrDeposed, epoch)
		}
		return do(tx)
	})
	return j.deposedBy(j.named(err))
}

func isDeposed(err error) bool { return errors.Is(err, journal.ErrDeposed) }
