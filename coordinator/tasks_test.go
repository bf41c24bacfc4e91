package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/database"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/task/tasktest"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

func TestItDoesWhatEveryCoordinatorOfTasksDoes(t *testing.T) {
	tasktest.Exercise(t, func(t testing.TB) tasktest.System {
		db, err := database.Open(t.Context(), database.Memory, "value", rules.DefaultRules())
		require.NoError(t, err)
		c, err := coordinator.New(t.Context(), coordinator.Config{
			Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour},
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		ready, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- c.Run(ctx, func() { close(ready) }) }()
		<-ready
		repo, err := c.Connect(t.Context(), "test", 0)
		require.NoError(t, err)
		return tasktest.System{
			Tasks:   task.Client{Repo: repo},
			Connect: func(ctx context.Context) (space.Repository, error) { return c.Connect(ctx, "worker", 6*time.Second) },
			Close: func() error {
				stop()
				return errors.Join(<-done, db.Close())
			},
		}
	})
}
