package api_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/api/client"
)

// shown is a fixed report.
type shown struct {
	report    models.AttentionReport
	dismissed string
}

func (s *shown) Attention() models.AttentionReport { return s.report }
func (s *shown) Took() time.Duration               { return 1500 * time.Millisecond }
func (s *shown) Dismiss(id string) error           { s.dismissed = id; return nil }

func TestAttentionIsShownWithTheRequestsOfItsRemedies(t *testing.T) {
	s := &shown{}
	h := newFixtureWith(t, func(c *api.Config) { c.Attention = s })
	get := func(path string) (int, string) {
		r, err := http.Get(h.server.URL + path)
		require.NoError(t, err)
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(body)
	}
	status, _ := get("/api/v1/attention")
	require.Equal(t, http.StatusServiceUnavailable, status, "before the first report")

	s.report = models.AttentionReport{At: time.Now(), Items: []models.Attention{
		{ID: "3f2a9c1d7e45", Cause: models.CausePaused, Severity: models.StopsWork, About: "<script>", Text: "<script> is paused", Count: 2, Command: "x",
			Remedy: &models.Remedy{Label: "Resume", Operation: "resumeAction", Params: map[string]string{"action": "a b/<script>"}}},
		{ID: "aa2a9c1d7e45", Cause: models.CauseOpen, Severity: models.ToKnow, Text: "open", Count: 1, Command: "x"},
	}}
	status, body := get("/api/v1/attention")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `"request":"POST /api/v1/actions/a%20b%2F%3Cscript%3E/resume"`)
	require.Empty(t, s.report.Items[0].Remedy.Request, "the report is shared")

	_, metrics := get("/metrics")
	require.Contains(t, metrics, `leasehold_attention{cause="action_paused",severity="stops_work"} 1`)
	require.Contains(t, metrics, `leasehold_attention{cause="unauthenticated",severity="to_know"} 1`)
	require.Contains(t, metrics, "leasehold_attention_seconds_total 1.5")

	r, err := http.Post(h.server.URL+"/api/v1/attention/3f2a9c1d7e45/dismiss", "application/json", nil)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusNoContent, r.StatusCode)
	require.Equal(t, "3f2a9c1d7e45", s.dismissed)

	api, err := client.New(h.server.URL)
	require.NoError(t, err)
	all, err := api.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, all.Attention, 2)
}
