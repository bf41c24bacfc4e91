package api

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
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

// claimable is a session of an engine with the tasks' procedures and spaces, until the test ends.
func claimable(t *testing.T) space.Conn {
	policy := task.Policy{MaxAttempts: 1, Backoff: time.Second}
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: space.Join(policy.Procedures(), policy.AdminProcedures(), lease.Procedures(), status.Procedures())})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	conn, err := e.Connect(t.Context(), "w", 0)
	require.NoError(t, err)
	for _, d := range slices.Concat(task.Spaces(), lease.Spaces(), status.Spaces()) {
		require.NoError(t, space.Over(conn).Create(t.Context(), d.Name, d.Options))
	}
	return conn
}

func TestAClaimThatDoesNotWaitClaimsATaskThatIsThereHoweverBusyTheMachineIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := claimable(t)
		client := task.Client{Repo: space.Over(slowConn{conn, time.Minute})}
		_, err := client.Create(t.Context(), models.Task{Action: "count", Timeout: 60}, 0)
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

// Each claim moves a bounded number of tasks that cannot be claimed out of the way.
func TestAClaimThatDoesNotWaitClaimsATaskBehindManyThatCannotBeClaimed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo := space.Over(claimable(t))
		for n := range 300 {
			malformed := tuple.New("task", "count", fmt.Sprint("malformed", n), "", int64(0), int64(9), "{")
			require.NoError(t, repo.Space(task.Space).Put(t.Context(), malformed, 0))
		}
		client := task.Client{Repo: repo}
		good, err := client.Create(t.Context(), models.Task{Action: "count", Timeout: 60}, 0)
		require.NoError(t, err)
		w := &worker{ttl: 10 * time.Second}
		claimed, err := w.claim(t.Context(), client, 1, 0, []string{"count"})
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		require.Equal(t, good.ID, claimed[0].ID)
	})
}
