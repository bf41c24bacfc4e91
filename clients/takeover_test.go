package clients

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	apiclient "leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// Two coordinators share a realm on PostgreSQL. The one that serves is killed while a worker works.
func TestAWorkerGoesOnWhenTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	const tasks = 100
	python := languages[0]
	inEachLanguage(t, []string{"javascript", "java", "python-async", "go"}, func(t *testing.T, _ language) {
		database := pgserver.Database(t)
		var members []*coordinator
		var urls []string
		for range 2 {
			m := newCoordinator(t, "--journal", "postgres", "--database", database)
			m.start()
			members, urls = append(members, m), append(urls, m.url())
		}
		api, err := apiclient.New(strings.Join(urls, ","))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, api.Close()) })
		require.Eventually(t, func() bool { return api.Alive(t.Context()) == nil }, limit, 20*time.Millisecond, "one serves")

		d := startDriver(t, python)
		t.Cleanup(func() {
			if log := d.end(); t.Failed() {
				t.Logf("the driver's log:\n%s", log)
			}
		})
		d.send(map[string]any{"do": "connect", "url": strings.Join(urls, ",")})
		_, failed := d.answer()
		require.Nil(t, failed)
		n := types.NewTask{Action: "slow", Data: []byte(`{"do":"wait","n":50}`)}
		var made types.NewTasks
		for range tasks {
			made.Tasks = append(made.Tasks, n)
		}
		created, err := api.CreateTasks(t.Context(), made)
		require.NoError(t, err)
		d.send(map[string]any{"do": "work", "action": "slow", "concurrency": 4, "ttl": 30})
		awaitResolved(t, api, tasks/4)
		ownerOf(t, members).kill()
		awaitResolved(t, api, tasks)
		for _, task := range created {
			ended, err := api.Task(t.Context(), task.ID)
			require.NoError(t, err)
			require.Equal(t, "resolved", string(ended.State))
			require.Zero(t, ended.Attempts, "task %s was done twice, or its session was lost", task.ID)
			require.Equal(t, 1, d.count("started", task.ID), "task %s", task.ID)
		}
	})
}

// awaitResolved waits until n tasks are resolved.
func awaitResolved(t *testing.T, api *apiclient.Client, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, _, err := api.Tasks(t.Context(), apiclient.TaskFilter{State: "resolved", Action: "slow"}, -1)
		return err == nil && len(found) >= n
	}, limit, 20*time.Millisecond, "%d tasks are resolved", n)
}

// ownerOf returns the coordinator that serves.
func ownerOf(t *testing.T, members []*coordinator) *coordinator {
	t.Helper()
	for _, m := range members {
		r, err := http.Get(m.url() + "/readyz")
		require.NoError(t, err)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		if !strings.Contains(string(text), "standby") {
			return m
		}
	}
	require.Fail(t, "no coordinator serves")
	return nil
}
