package status_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// conn is a connection that only has a name.
type conn struct{ space.Conn }

func (conn) Session() string { return "worker-1" }

func newSession() space.Repository { return space.Over(conn{}) }

func TestReconnectReturnsTheErrorOfAConnectionThatCannotBeMade(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("join: %w", fault.ErrUnauthenticated)
	connect := func(context.Context) (space.Repository, error) { return nil, refused }
	err := status.Reconnect(t.Context(), connect, silent, func(context.Context, space.Repository) error {
		t.Error("there is no session to run with")
		return nil
	})
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.Equal(t, fault.Of(fault.ErrUnauthenticated).ExitCode, fault.Of(err).ExitCode)
}

func TestReconnectReturnsNilIfItsContextEndsWithoutASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		connect := func(ctx context.Context) (space.Repository, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		require.NoError(t, status.Reconnect(ctx, connect, silent, func(context.Context, space.Repository) error { return nil }))
	})
}

func TestReconnectRunsWithASessionThatComesAsItsContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	connect := func(context.Context) (space.Repository, error) {
		cancel()
		return newSession(), nil
	}
	ran := false
	err := status.Reconnect(ctx, connect, silent, func(context.Context, space.Repository) error {
		ran = true // it closes the session
		return nil
	})
	require.NoError(t, err)
	require.True(t, ran, "or the session would live until its TTL is over")
}

func TestReconnectReplacesALostSessionAndKeepsOtherErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	lost := fmt.Errorf("heartbeat: %w", fault.ErrClosed)
	for name, c := range map[string]struct {
		results  []error
		sessions int
		want     error
	}{
		"a result without error": {[]error{nil}, 1, nil},
		"another error":          {[]error{broken}, 1, broken},
		"lost twice":             {[]error{lost, lost, broken}, 3, broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sessions := 0
				connect := func(context.Context) (space.Repository, error) {
					sessions++
					return newSession(), nil
				}
				err := status.Reconnect(t.Context(), connect, silent, func(context.Context, space.Repository) error {
					return c.results[sessions-1]
				})
				if c.want == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, c.want)
				}
				require.Equal(t, c.sessions, sessions)
			})
		})
	}
}

func TestReconnectReturnsTheLossOfASessionThatEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	connect := func(context.Context) (space.Repository, error) { return newSession(), nil }
	err := status.Reconnect(ctx, connect, silent, func(context.Context, space.Repository) error {
		cancel()
		return fault.ErrClosed
	})
	require.ErrorIs(t, err, fault.ErrClosed)
}

func TestReconnectPausesForAtMostTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		connect := func(context.Context) (space.Repository, error) { return newSession(), nil }
		var longest time.Duration
		runs, last := 0, time.Now()
		err := status.Reconnect(t.Context(), connect, silent, func(context.Context, space.Repository) error {
			longest, last = max(longest, time.Since(last)), time.Now()
			if runs++; runs > 100 {
				return nil
			}
			return fault.ErrClosed
		})
		require.NoError(t, err)
		require.LessOrEqual(t, longest, 2*time.Second)
		require.Greater(t, longest, time.Second, "the pauses are random")
	})
}

func TestReconnectEndsInThePauseAfterALoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		connect := func(context.Context) (space.Repository, error) { return newSession(), nil }
		runs := 0
		err := status.Reconnect(ctx, connect, silent, func(context.Context, space.Repository) error {
			runs++
			return fault.ErrClosed
		})
		require.NoError(t, err)
		require.Equal(t, 1, runs)
	})
}

func TestTheSpacesOfTheProtocolAreVolatileExceptForRecords(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, d := range status.Spaces() {
		require.Equal(t, d.Name != status.Records, d.Options.Volatile, "%s: a restart must not bring back sessions and lines of an earlier process", d.Name)
		names[d.Name] = true
	}
	require.Equal(t, map[string]bool{"status": true, "log": true, "sessiondata": true}, names)
}
