package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/actions"
)

// scraped returns the metrics as text.
func (h *fixture) scraped() string {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), http.MethodGet, h.server.URL+"/metrics", nil)
	require.NoError(h, err)
	resp, err := h.server.Client().Do(r)
	require.NoError(h, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(h, err)
	require.Equal(h, http.StatusOK, resp.StatusCode, "%s", data)
	return string(data)
}

func TestTheTasksOfEachActionAreMetrics(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	for range 3 {
		h.ok("POST", v1+"/tasks", `{"action":"count"}`)
	}
	h.ok("POST", v1+"/tasks", `{"action":"later","not_before":"2035-01-01T00:00:00Z"}`)
	claimed := first(h.ok("POST", w+"/claims", `{}`))
	h.ok("POST", w+"/claims/"+claimed["id"].(string)+"/resolve", `{"token":`+marshal(t, claimed["token"])+`}`)
	text := h.scraped()
	for _, line := range []string{
		`leasehold_tasks{action="count",state="waiting"} 2`, `leasehold_tasks{action="later",state="delayed"} 1`,
		`leasehold_tasks_created_total{action="count"} 3`, `leasehold_tasks_ended_total{action="count",outcome="resolved"} 1`,
		`leasehold_task_wait_seconds_count{action="count"} 1`, `leasehold_task_seconds_count{action="count",outcome="resolved"} 1`,
		`leasehold_worker_slots{action="count",state="free"} 2`, `leasehold_action_paused{action="count"} 0`,
		`leasehold_sessions_lost_total 0`, `leasehold_build_info{`, `leasehold_task_oldest_claimable_seconds{action="count"} `,
		`leasehold_task_seconds_bucket{action="count",outcome="resolved",le="1.5"} 1`,
	} {
		require.Contains(t, text, line)
	}
	require.NotContains(t, text, `leasehold_task_oldest_claimable_seconds{action="later"}`, "what is not there is absent, and not 0")
	require.NotContains(t, text, `outcome="dead"`)
}

func TestMetricsOfManyActionsAreSummedUp(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var all []string
	for n := range 3 * actions.MaxLabels {
		all = append(all, fmt.Sprintf(`{"action":"a%03d"}`, n))
	}
	h.ok("POST", v1+"/task-batches", `{"tasks":[`+strings.Join(all, ",")+`]}`)
	text := h.scraped()
	require.Equal(t, actions.MaxLabels+1, strings.Count(text, `state="waiting"`))
	require.Contains(t, text, fmt.Sprintf(`leasehold_tasks{action="other",state="waiting"} %d`, 2*actions.MaxLabels))
	require.Contains(t, text, fmt.Sprintf(`leasehold_tasks_created_total{action="other"} %d`, 2*actions.MaxLabels))
}
