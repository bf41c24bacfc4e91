package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"leasehold/shared/pgrealm"
	"leasehold/shared/space/journal"
)

// outcome returns what the error of a commit or a confirmation means: nil, journal.ErrFull, journal.ErrDeposed, or an
// error that changed nothing. warned is a warning that the server sent meanwhile.
func outcome(err error, warned *pgconn.Notice) error {
	switch {
	case err == nil && warned == nil:
		return nil
	case err == nil:
		return fmt.Errorf("%w, or may do so: the outcome of a commit is unknown: the database warned: %s", journal.ErrDeposed, warned.Message)
	case pgrealm.Code(err) == pgrealm.ReadOnly:
		return fmt.Errorf("%w, or may do so: the database became read-only: %w", journal.ErrDeposed, err)
	case pgrealm.Code(err) == pgrealm.DiskFull:
		return fmt.Errorf("%w: %w", journal.ErrFull, err)
	case pgrealm.ChangedNothing(err):
		return fmt.Errorf("nothing was written: %w", classify(err))
	}
	return fmt.Errorf("%w, or may do so: the outcome of a commit is unknown: %w", journal.ErrDeposed, err)
}

// classify adds the kind of package fault to an error of a call that only reads, or may be repeated.
func classify(err error) error {
	switch {
	case errors.Is(err, journal.ErrDeposed), errors.Is(err, context.Canceled):
		return err
	case pgrealm.Code(err) == pgrealm.DiskFull:
		return fmt.Errorf("%w: %w", journal.ErrFull, err)
	}
	return pgrealm.Unavailable(err)
}
