package status

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
)

// Connect opens a session at a coordinator. While none is reachable it retries until
// ctx ends.
type Connect func(ctx context.Context) (space.Repository, error)

// reconnectDelay is the longest pause before a lost session is replaced.
const reconnectDelay = 2 * time.Second

// Reconnect calls run with a session. If run returns fault.ErrClosed, because the session was lost,
// Reconnect opens a new session after a pause and calls run again, unless ctx has ended. It returns
// any other result of run, or the error of connect. It returns nil if ctx ends while there is no
// session.
//
// The calls of a session are repeated, and sessions are opened again, while the error can
// pass (package retry); log gets a warning at most once a minute. Calls that must not be
// repeated go through space.Once.
func Reconnect(ctx context.Context, connect Connect, log *slog.Logger, run func(context.Context, space.Repository) error) error {
	refused := &retry.Loop{Message: "the coordinator refuses calls for now; repeating them", Log: log}
	for {
		var repo space.Repository
		err := refused.Do(ctx, func() (err error) {
			repo, err = connect(ctx)
			return err
		})
		if ctx.Err() != nil && err != nil {
			return nil
		}
		if err != nil {
			return err
		}
		err = run(ctx, space.Retrying(repo, refused))
		if ctx.Err() != nil || !errors.Is(err, fault.ErrClosed) {
			return err
		}
		reason, _, _ := strings.Cut(err.Error(), "\n") // the other lines are of other goroutines of run, which failed for the same reason
		log.Warn("session lost, opening a new one", "session", repo.Session(), "error", reason)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retry.Jitter(reconnectDelay)):
		}
	}
}
