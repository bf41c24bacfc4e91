package catalog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// pauses are those between two attempts: about a second, because a full disk or a
// restart of the coordinator rarely ends sooner.
var pauses = retry.Backoff{Min: time.Second, Max: 2 * time.Second}

// RetryOverload repeats a write while the disk is full (fault.ErrOverloaded) and ctx lasts. Retrying is safe
// because every write to a catalog may be repeated. Another error of write is returned at once; when ctx ends, it
// returns the last error of write.
func RetryOverload(ctx context.Context, log *slog.Logger, write func() error) error {
	l := retry.Loop{
		Message: "catalog: the disk is full; retrying until there is space", Log: log, Backoff: pauses,
		Retry: func(err error) bool { return errors.Is(err, fault.ErrOverloaded) },
	}
	return l.Do(ctx, write)
}

// RetryUnavailable is RetryOverload for any call of a catalog that may be in another process. It also repeats the
// call while the catalog is unreachable (fault.ErrUnavailable), so that a restart of the coordinator is only a
// delay. If the caller's session is lost meanwhile, ctx must end. A permanent error is returned at once.
func RetryUnavailable(ctx context.Context, log *slog.Logger, call func() error) error {
	l := retry.Loop{Message: "catalog: the coordinator is unreachable or overloaded; retrying until it answers", Log: log, Backoff: pauses}
	return l.Do(ctx, call)
}

// Origins is the part of a catalog that knows origins.
type Origins interface {
	Origin(ctx context.Context, id string) (models.Origin, error)
}

// Find reads one origin with RetryUnavailable, because a visit must not fail while the catalog is unreachable. It
// returns fault.ErrNotFound for an unknown id.
func Find(ctx context.Context, log *slog.Logger, origins Origins, id string) (o models.Origin, err error) {
	err = RetryUnavailable(ctx, log, func() error {
		o, err = origins.Origin(ctx, id)
		return err
	})
	return o, err
}
