package status

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// Connect opens a session at a coordinator. It waits for one that is not there
// yet, until ctx ends.
type Connect func(ctx context.Context) (space.Repository, error)

// reconnectIn is the pause before a lost session is replaced.
const reconnectIn = time.Second

// Keep calls serve with one session after the other: one that was lost, so that
// serve returned fault.ErrClosed, is replaced after a pause. It returns what else
// serve returned, also once ctx has ended, or what connect did. The end of ctx
// while there is no session is no error.
func Keep(ctx context.Context, connect Connect, log *slog.Logger, serve func(context.Context, space.Repository) error) error {
	for {
		repo, err := connect(ctx)
		if ctx.Err() != nil && err != nil {
			return nil
		}
		if err != nil {
			return err
		}
		err = serve(ctx, repo)
		if ctx.Err() != nil || !errors.Is(err, fault.ErrClosed) {
			return err
		}
		log.Warn("a new session is needed", "session", repo.Session(), "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reconnectIn):
		}
	}
}
