package coordinator_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/database"
	"leasehold/coordinator/history"
	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space/journal"
)

func TestTheCoordinatorKeepsTheHistoryOfItsTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := database.Open(t.Context(), database.Memory, "value", rules.DefaultRules())
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		c, err := coordinator.New(t.Context(), coordinator.Config{
			Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, History: db.History, Work: policy, Visit: visit.Policy{Timeout: time.Hour},
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ready, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- c.Run(ctx, func() { close(ready) }) }()
		<-ready
		repo, err := c.Connect(ctx, "test", 0)
		require.NoError(t, err)
		tasks := task.Client{Repo: repo}
		for _, action := range []string{"resize", "resize", "mail"} {
			_, err := tasks.Create(ctx, models.Task{Action: action, Timeout: 3600}, 0)
			require.NoError(t, err)
		}
		require.NoError(t, tasks.Pause(ctx, "mail"))
		claimed, err := tasks.Claim(ctx, "resize")
		require.NoError(t, err)
		_, err = tasks.Resolve(ctx, claimed, nil)
		require.NoError(t, err)
		at := time.Now()
		time.Sleep(90 * time.Second)
		stop()
		require.NoError(t, <-done)
		points, err := db.History.Read(t.Context(), history.Query{Step: history.Minute, From: at.Truncate(time.Minute), To: at.Add(time.Hour)})
		require.NoError(t, err)
		require.Len(t, points, 2, "the second one is written when the coordinator stops")
		require.Equal(t, history.Counts{Created: 3, Done: 1, Waiting: 2}, points[0].Counts, "tasks of paused actions wait")
		require.Equal(t, history.Counts{Waiting: 2}, points[1].Counts)
	})
}
