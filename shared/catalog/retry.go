package catalog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// retryPause is how long a call waits before it is tried again.
const retryPause = time.Second

// RetryOverload repeats a write while the disk is full (fault.ErrOverloaded) and ctx
// lasts. That is safe because every write to a catalog may be repeated.
func RetryOverload(ctx context.Context, log *slog.Logger, write func() error) error {
	return retry(ctx, log, fault.ErrOverloaded, "catalog: the disk is full; retrying until there is space", write)
}

// RetryUnavailable is RetryOverload for any call of a catalog that may be in another
// process: it also repeats the call while that is unreachable (fault.ErrUnavailable), so
// that a restart of the coordinator is only a delay. If the caller's session is lost
// meanwhile, ctx must end.
func RetryUnavailable(ctx context.Context, log *slog.Logger, call func() error) error {
	return retry(ctx, log, fault.ErrUnavailable, "catalog: the coordinator is unreachable; retrying until it answers", func() error {
		return RetryOverload(ctx, log, call)
	})
}

// retry repeats call while it fails with a kind of error, and logs the first failure.
func retry(ctx context.Context, log *slog.Logger, kind error, message string, call func() error) error {
	for n := 0; ; n++ {
		err := call()
		if !errors.Is(err, kind) {
			return err
		}
		if n == 0 {
			log.Warn(message, "error", err)
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return err
		}
	}
}

// Origins is the part of a catalog that knows origins.
type Origins interface {
	Origin(ctx context.Context, id string) (models.Origin, error)
}

// Find reads one origin with RetryUnavailable, because a visit must not fail while the
// catalog is unreachable.
func Find(ctx context.Context, log *slog.Logger, origins Origins, id string) (o models.Origin, err error) {
	err = RetryUnavailable(ctx, log, func() error {
		o, err = origins.Origin(ctx, id)
		return err
	})
	return o, err
}
