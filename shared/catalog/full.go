package catalog

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// fullPause is how long a write waits that found no room, and a call that found
// nobody.
const fullPause = time.Second

// Patiently carries out a write, again and again while there is no room for it on
// the disk (fault.ErrOverloaded) and ctx lasts. Every write to a catalog may be
// repeated.
func Patiently(ctx context.Context, log *slog.Logger, write func() error) error {
	for n := 0; ; n++ {
		err := write()
		if !errors.Is(err, fault.ErrOverloaded) {
			return err
		}
		if n == 0 {
			log.Warn("catalog: there is no room; trying again until there is", "error", err)
		}
		select {
		case <-time.After(fullPause):
		case <-ctx.Done():
			return err
		}
	}
}

// Reach is Patiently for any call of a catalog that may be elsewhere: it tries again
// also while nobody answers (fault.ErrUnavailable). That the coordinator starts again
// is only a delay; that the caller's session is lost meanwhile must end ctx.
func Reach(ctx context.Context, log *slog.Logger, call func() error) error {
	for n := 0; ; n++ {
		err := Patiently(ctx, log, call)
		if !errors.Is(err, fault.ErrUnavailable) {
			return err
		}
		if n == 0 {
			log.Warn("catalog: nobody answers; trying again until somebody does", "error", err)
		}
		select {
		case <-time.After(fullPause):
		case <-ctx.Done():
			return err
		}
	}
}

// Origins is the part of a catalog that knows origins.
type Origins interface {
	Origin(ctx context.Context, id string) (models.Origin, error)
}

// Find is Reach for one origin: that the catalog is away for a while says nothing of
// what is visited.
func Find(ctx context.Context, log *slog.Logger, origins Origins, id string) (o models.Origin, err error) {
	err = Reach(ctx, log, func() error {
		o, err = origins.Origin(ctx, id)
		return err
	})
	return o, err
}
