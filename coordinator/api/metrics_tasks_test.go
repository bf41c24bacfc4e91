package api_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
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

func TestRequestsThatWaitOrStreamAreNotMeasured(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	task := h.ok("POST", v1+"/tasks", `{"action":"count"}`)["id"].(string)
	h.ok("POST", w+"/claims", `{}`)
	h.ok("POST", w+"/heartbeat", `{}`)
	h.ok("GET", v1+"/tasks/"+task, "")
	text := h.scraped()
	require.Contains(t, text, `leasehold_http_request_seconds_count{route="POST /api/v1/tasks",status="201"} 1`)
	for _, route := range []string{"POST /api/v1/sessions/{session}/claims", "POST /api/v1/sessions/{session}/heartbeat", "GET /api/v1/tasks/{task}"} {
		require.NotContains(t, text, route)
	}
}

// sentence is what the help of a metric must be.
var sentence = regexp.MustCompile(`^(This is|This counts) [^.]*\.$`)

func TestMetricsAreNamedAndExplainedAsPrometheusWants(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", v1+"/tasks", `{"action":"count"}`)
	claimed := first(h.ok("POST", w+"/claims", `{}`))
	h.ok("POST", w+"/claims/"+claimed["id"].(string)+"/release", `{"token":`+marshal(t, claimed["token"])+`,"error":"no"}`)
	id := h.ok("POST", v1+"/origins", `{"kind":"feed","uri":"https://example.org/f"}`)["id"].(string)
	h.ok("POST", v1+"/visits/outcomes", `{"origin":"`+id+`","status":"uneventful","at":"2026-01-02T03:04:05Z"}`)
	text := h.scraped()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
	for line := range strings.Lines(text) {
		if words := strings.SplitN(strings.TrimSpace(line), " ", 4); words[1] == "HELP" && strings.HasPrefix(words[2], "leasehold_") {
			require.Regexp(t, sentence, words[3], words[2])
		}
	}
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
