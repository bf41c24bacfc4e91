package catalog

import (
	"context"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/process/retry"
)

// pauses are those between two attempts: about a second, because a full disk or a
// restart of the coordinator rarely ends sooner.
var pauses = retry.Backoff{Min: time.Second, Max: 2 * time.Second}

// RetryOwn repeats a call of a catalog in this process while the disk is full, another program locks the database or
// the system fails to read or write it (retry.CanPass), and ctx lasts. Retrying is safe because every call of a
// catalog may be repeated. Another error of call is returned at once; when ctx ends, it returns the last error.
func RetryOwn(ctx context.Context, log *slog.Logger, call func() error) error {
	l := retry.Loop{Message: "catalog: the database cannot be used; retrying until it can", Log: log, Backoff: pauses}
	return l.Do(ctx, call)
}

// RetryUnavailable is RetryOwn for a catalog that may be in another process, so that a restart of the coordinator is
// only a delay. If the caller's session is lost meanwhile, ctx must end. A permanent error is returned at once.
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
