package attention_test

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/attention"
	"leasehold/coordinator/database"
	"leasehold/models"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// fixture is a coordinator that runs in a bubble of synctest.
type fixture struct {
	testing.TB
	c     *coordinator.Coordinator
	db    *database.Database
	admin space.Repository
	tasks task.Client
}

// inBubble runs a test with a coordinator whose configuration the test may change.
func inBubble(t *testing.T, change func(*coordinator.Config), test func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := database.Open(t.Context(), database.Memory, "value", rules.DefaultRules())
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		config := coordinator.Config{
			Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Visit: visit.Policy{Timeout: time.Hour},
			Work:      work.Policy{LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: time.Minute, Task: task.Policy{MaxAttempts: 1, Backoff: time.Second}},
			Attention: attention.Config{Health: db.Health, Catalog: db.Catalog, Visits: db.Visits},
			Log:       slog.New(slog.NewTextHandler(io.Discard, nil)),
		}
		if change != nil {
			change(&config)
		}
		c, err := coordinator.New(t.Context(), config)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ready, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- c.Run(ctx, func() { close(ready) }) }()
		<-ready
		admin, err := c.Connect(ctx, "test", 0)
		require.NoError(t, err)
		test(&fixture{t, c, db, admin, task.Client{Repo: admin}})
		stop()
		require.NoError(t, <-done)
	})
}

// wait lets the time pass.
func (f *fixture) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// create creates tasks of an action, and returns their ids.
func (f *fixture) create(action string, n int) (ids []string) {
	f.Helper()
	for range n {
		created, err := f.tasks.Create(f.Context(), models.Task{Action: action, Timeout: 3600}, 0)
		require.NoError(f, err)
		ids = append(ids, created.ID)
	}
	return ids
}

// worker is the session of a worker that sends heartbeats until stop.
type worker struct {
	space.Repository
	task.Client
	heartbeat *status.Heartbeat
	stop      context.CancelFunc
}

// worker connects a worker with a slot for an action and a TTL of 6 s.
func (f *fixture) worker(action string, slots int) *worker {
	f.Helper()
	repo, err := f.c.Connect(f.Context(), "worker", 6*time.Second)
	require.NoError(f, err)
	ctx, stop := context.WithCancel(f.Context())
	w := &worker{repo, task.Client{Repo: repo}, status.NewHeartbeat(repo, 2*time.Second, map[string]int{action: slots}), stop}
	go func() { _ = w.heartbeat.Run(ctx) }()
	synctest.Wait()
	return w
}

// claim claims a task of an action.
func (f *fixture) claim(w *worker, action string) task.Item {
	f.Helper()
	i, err := w.Claim(f.Context(), action)
	require.NoError(f, err)
	return i
}

// items returns the items of a cause a second from now, when at least one report was made.
func (f *fixture) items(c models.Cause) (items []models.Attention) {
	f.Helper()
	f.wait(time.Second)
	report := f.c.Watcher().Attention()
	require.False(f, report.At.IsZero())
	require.LessOrEqual(f, time.Since(report.At), time.Second)
	for _, i := range report.Items {
		require.NotEqual(f, models.CauseUnknown, i.Cause, i)
		if i.Cause == c {
			items = append(items, i)
		}
	}
	return items
}

// only returns the only item of a cause, and checks what every item has.
func (f *fixture) only(c models.Cause) models.Attention {
	f.Helper()
	items := f.items(c)
	require.Len(f, items, 1, "all: %+v", f.c.Watcher().Attention().Items)
	i := items[0]
	require.NotEmpty(f, i.ID)
	require.NotEmpty(f, i.Text)
	require.NotEmpty(f, i.Command)
	require.NotNil(f, i.Remedy)
	require.True(f, slices.Contains(models.Severities, i.Severity))
	require.Positive(f, i.Count)
	return i
}

// delayed returns a task that is not due before a time has passed.
func delayed(action string, by time.Duration) models.Task {
	return models.Task{Action: action, Timeout: 600, TaskOptions: models.TaskOptions{NotBefore: time.Now().Add(by)}}
}
