package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/shared/process/tracing"
	"leasehold/shared/process/tracing/tracingtest"
)

func TestEachRequestThatChangesSomethingIsASpan(t *testing.T) {
	c, spans := tracingtest.Start(t)
	h := newFixtureWith(t, func(c *api.Config) { c.Spans = spans })
	h.ok("POST", "/api/v1/tasks", `{"action": "act"}`)
	h.ok("GET", "/api/v1/tasks", "")
	h.refuses("invalid", "POST", "/api/v1/tasks", `{"action": 1}`)
	spans.Close()
	var statuses []int64
	for _, s := range c.Spans() {
		require.Equal(t, "POST /api/v1/tasks", s.GetName())
		for _, a := range s.GetAttributes() {
			if a.GetKey() == "http.response.status_code" {
				statuses = append(statuses, a.GetValue().GetIntValue())
			}
		}
	}
	require.Equal(t, []int64{201, 400}, statuses)
}

// traced sends a body as a request within a span, and returns the answer.
func (h *fixture) traced(parent, path, body string) map[string]any {
	r, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.server.URL+path, strings.NewReader(body))
	require.NoError(h, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", parent)
	status, answer := h.send(r)
	require.Less(h, status, 300, "%v", answer)
	return answer
}

func TestATaskKeepsTheSpanThatCreatedIt(t *testing.T) {
	const trace = "0af7651916cd43dd8448eb211c80319c"
	const caller = "00-" + trace + "-b7ad6b7169203331-01"
	_, spans := tracingtest.Start(t)
	for name, own := range map[string]*tracing.Spans{"without spans": nil, "with spans": spans} {
		t.Run(name, func(t *testing.T) {
			h := newFixtureWith(t, func(c *api.Config) { c.Spans = own })
			kept := h.traced(caller, "/api/v1/tasks", `{"action": "act"}`)["trace"]
			require.Contains(t, kept, trace)
			require.Equal(t, own == nil, kept == caller, "with spans it is the span of the request itself")
			h.traced(caller, "/api/v1/task-batches", `{"tasks": [{"action": "act"}, {"action": "act"}]}`)

			worker := h.openWorker("act")
			claimed := h.ok("POST", worker+"/claims", `{"limit": 3}`)["items"].([]any)
			require.Len(t, claimed, 3)
			for _, item := range claimed {
				require.Contains(t, item.(map[string]any)["trace"], trace, "a worker in any language can go on with it")
			}
		})
	}
	spans.Close()
}

func TestWhatIsNoSpanIsNotKept(t *testing.T) {
	h := newFixture(t)
	for _, parent := range []string{"", "00-zz-1-01", strings.Repeat("x", 2000)} {
		require.NotContains(t, h.traced(parent, "/api/v1/tasks", `{"action": "act"}`), "trace", parent)
	}
}
