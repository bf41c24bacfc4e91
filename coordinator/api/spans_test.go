package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
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
