package engine

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// waitInTurn takes a turn in the background, and sends the name of its session when it comes.
func waitInTurn(ctx context.Context, t *turns, s *session, come chan string) {
	go func() {
		if t.take(ctx, s, largeAtOnce) == nil {
			come <- s.id
		}
	}()
	synctest.Wait()
}

func TestLargeRequestsOfSessionsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var x turns
		come := make(chan string, 10)
		many, one := &session{id: "many", ended: make(chan struct{})}, &session{id: "one", ended: make(chan struct{})}
		for range 4 {
			waitInTurn(t.Context(), &x, many, come)
		}
		require.Equal(t, "many", <-come)
		waitInTurn(t.Context(), &x, one, come)
		require.Empty(t, come, "it waits for its turn")
		for _, want := range []string{"many", "one", "many", "many"} {
			x.give(largeAtOnce)
			synctest.Wait()
			require.Equal(t, want, <-come)
			require.Empty(t, come)
		}
		x.give(largeAtOnce)
		require.Zero(t, x.used)
		require.Empty(t, x.ring)
		require.Empty(t, x.queued)
	})
}

func TestALargeRequestThatEndsWhileItWaitsKeepsNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var x turns
		s, lost := &session{id: "s", ended: make(chan struct{})}, &session{id: "lost", ended: make(chan struct{}), cause: space.Lost}
		require.NoError(t, x.take(t.Context(), s, largeAtOnce))
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 2)
		go func() { failed <- x.take(ctx, s, largeAtOnce) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
		go func() { failed <- x.take(t.Context(), lost, largeAtOnce) }()
		synctest.Wait()
		close(lost.ended)
		require.ErrorIs(t, <-failed, fault.ErrClosed)
		x.give(largeAtOnce)
		require.Zero(t, x.used)
		require.Empty(t, x.queued)
		require.NoError(t, x.take(t.Context(), s, largeAtOnce))
	})
}
