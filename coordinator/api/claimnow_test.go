package api

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/task"
)

// slowConn is the connection to an engine on a busy machine: each call begins late.
type slowConn struct {
	space.Conn
	late time.Duration
}

func (c slowConn) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	select {
	case <-time.After(c.late):
	case <-ctx.Done():
		return space.Reply{}, ctx.Err()
	}
	return c.Conn.Do(ctx, r)
}

func TestAClaimThatDoesNotWaitClaimsATaskThatIsThereHoweverBusyTheMachineIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		policy := task.Policy{MaxAttempts: 1, Backoff: time.Second}
		e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: space.Join(policy.Procedures(), policy.AdminProcedures(), lease.Procedures())})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		defer func() { stop(); require.NoError(t, <-done) }()
		conn, err := e.Connect(t.Context(), "w", 0)
		require.NoError(t, err)
		for _, d := range append(task.Spaces(), lease.Spaces()...) {
			require.NoError(t, space.Over(conn).Create(t.Context(), d.Name, d.Options))
		}
		client := task.Client{Repo: space.Over(slowConn{conn, time.Minute})}
		_, err = client.Create(t.Context(), models.Task{Action: "count", Timeout: 60}, 0)
		require.NoError(t, err)
		w := &worker{ttl: 10 * time.Second}
		claimed, err := w.claim(t.Context(), client, 1, 0, []string{"count"})
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		claimed, err = w.claim(t.Context(), client, 1, 0, []string{"count"})
		require.NoError(t, err)
		require.Empty(t, claimed)
	})
}
