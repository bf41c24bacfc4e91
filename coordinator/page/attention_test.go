package page_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/page"
	"leasehold/models"
	"leasehold/shared/api/types"
)

// answers are answers of the API in place of the coordinator's, by method and path, and what was sent there.
type answers struct {
	of   map[string]any
	sent []string
}

// newFixtureWithAnswers returns a fixture whose page gets some answers from a test.
func newFixtureWithAnswers(t *testing.T, of map[string]any, with ...func(*page.Config)) (*fixture, *answers) {
	a := &answers{of: of}
	h := newFixtureWith(t, func(c *page.Config) {
		for _, change := range with {
			change(c)
		}
		coordinator := c.API
		c.API = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			route := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v1")
			answer, known := a.of[route]
			if !known {
				coordinator.ServeHTTP(w, r)
				return
			}
			body, _ := io.ReadAll(r.Body)
			a.sent = append(a.sent, strings.TrimSpace(fmt.Sprintf("%s?%s %s", route, r.URL.RawQuery, body)))
			_ = json.NewEncoder(w).Encode(answer)
		})
	})
	return h, a
}

func TestTheOverviewBeginsWithWhatNeedsAttentionAndFixesIt(t *testing.T) {
	t.Parallel()
	items := []models.Attention{
		{ID: "a1", Cause: models.CauseNoWorker, Severity: models.StopsWork, About: "transcode", Text: "No worker serves <b>transcode</b>", Detail: "214 tasks wait.", Since: time.Now().Add(-time.Hour), Count: 214, Command: "leasehold worker --actions transcode"},
		{ID: "a2", Cause: models.CausePaused, Severity: models.Degrades, About: "mail", Text: "mail is paused", Since: time.Now(), Count: 3, Command: "leasehold task resume mail", Remedy: &models.Remedy{Label: "Resume", Operation: "resumeAction", Request: "POST /api/v1/actions/mail/resume"}},
		{ID: "a3", Cause: models.CauseDead, Severity: models.Degrades, About: "resize", Text: "70 dead letters", Since: time.Now(), Count: 70, Command: "x", Remedy: &models.Remedy{Label: "Requeue 70", Operation: "requeueSelected", Count: 70, Body: json.RawMessage(`{"action":"resize","text":"disk full","count":70}`), Request: "POST /api/v1/bulk/requeue"}},
	}
	h, a := newFixtureWithAnswers(t, map[string]any{
		"GET /attention": models.AttentionReport{At: time.Now(), Items: items}, "POST /actions/mail/resume": map[string]any{}, "POST /bulk/requeue": types.BulkResult{},
		"GET /actions": map[string]any{"total": 2, "items": []any{
			map[string]any{"action": "mail", "paused": true, "paused_by": "anna", "tasks": map[string]int{"paused": 1903}, "workers": 1, "slots": 4, "median": .021, "p95": .06},
			map[string]any{"action": "transcode", "tasks": map[string]int{"waiting": 214, "dead": 2}, "oldest_claimable": 2460, "ended_per_minute": 332, "failed_per_minute": 4},
		}},
	})
	body := h.shows("/", "One thing stops work, two degrade it.", `aria-label="stops work"`, "No worker serves &lt;b&gt;transcode", "leasehold worker --actions transcode", `href="/tasks?action=transcode"`,
		"Requeue 70 …", "<b>2,117</b> tasks wait", "the oldest for", "41 min", "<b>332</b> done in the last minute", "no worker", "paused", "21 ms", `href="/tasks?action=transcode&amp;state=dead"`, `data-attention="3"`)
	require.NotContains(t, body, "<b>transcode")
	h.shows("/tasks", "One thing stops work, two degrade it.")
	reader := h.request(http.MethodGet, "/", "reader", nil).Body.String()
	require.NotContains(t, reader, `action="/do"`)
	require.Contains(t, reader, "No worker serves")

	require.Equal(t, http.StatusSeeOther, h.post("", "do", "remedy", "of", "a2").Code)
	require.Contains(t, a.sent, "POST /actions/mail/resume?")
	w := h.post("", "do", "remedy", "of", "a3", "count", "69")
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "There are 70 now, and you saw 69")
	require.Equal(t, http.StatusOK, h.post("", "do", "remedy", "of", "a3", "count", "70").Code)
	require.Contains(t, a.sent, `POST /bulk/requeue? {"action":"resize","text":"disk full","count":70}`)
	require.Equal(t, http.StatusConflict, h.post("", "do", "remedy", "of", "gone").Code)
	require.Equal(t, http.StatusConflict, h.post("", "do", "remedy", "of", "a1").Code)

	a.of["GET /attention"] = models.AttentionReport{At: time.Now(), Items: []models.Attention{}}
	h.shows("/?fresh=1", "All work goes on.")
}

func TestAllSelectedTasksAreChangedWithTheNumberThatThePersonSaw(t *testing.T) {
	t.Parallel()
	h, a := newFixtureWithAnswers(t, map[string]any{
		"GET /bulk/count":    map[string]any{"count": 70, "at": "2026-11-29T08:00:00.5Z"},
		"POST /bulk/requeue": map[string]any{"done": []string{"t1", "t2"}, "refused": []any{map[string]string{"task": "t3", "code": "conflict", "detail": "<script>"}}},
		"POST /bulk/cancel":  map[string]any{"done": []string{"t1"}, "refused": []any{}},
	})
	h.shows("/bulk?verb=requeue&state=dead&action=resize&older=60", "Requeue all: 70 tasks", `name="count" value="70"`, `name="before" value="2026-11-29T08:00:00.5Z"`, "resize")
	require.Contains(t, a.sent, "GET /bulk/count?action=resize&older=60&state=dead")
	w := h.post("", "do", "bulk", "verb", "requeue", "state", "dead", "action", "resize", "older", "60", "count", "70", "before", "2026-11-29T08:00:00.5Z")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	for _, want := range []string{"2 tasks were queued again", "t3", "&lt;script&gt;"} {
		require.Contains(t, w.Body.String(), want)
	}
	require.Contains(t, a.sent, `POST /bulk/requeue? {"action":"resize","older":60,"before":"2026-11-29T08:00:00.5Z","count":70}`)
	require.Equal(t, http.StatusOK, h.post("", "do", "bulk", "verb", "cancel", "state", "waiting", "count", "1", "reason", "late").Code)
	require.Contains(t, a.sent, `POST /bulk/cancel? {"state":"waiting","count":1,"reason":"late"}`)
	for _, query := range []string{"verb=requeue", "verb=cancel&state=dead", "verb=cancel&state=resolved", "verb=drop", ""} {
		require.Equal(t, http.StatusBadRequest, h.get("/bulk?"+query).Code, query)
	}
	require.Equal(t, http.StatusBadRequest, h.post("", "do", "bulk", "verb", "cancel", "count", "many").Code)
	require.Equal(t, http.StatusBadRequest, h.post("", "do", "bulk", "verb", "cancel", "count", "1", "older", "old").Code)
	require.Equal(t, http.StatusBadRequest, h.post("", "do", "bulk", "verb", "cancel", "count", "1", "before", "now").Code)
}

func TestOtherPagesShowTheItemsThatTheyAreAbout(t *testing.T) {
	t.Parallel()
	rests := models.Attention{ID: "r1", Cause: models.CauseHostRests, Severity: models.Degrades, About: "feeds.example", Text: "feeds.example rests until 03:21, and 12 origins wait", Since: time.Now(), Count: 12,
		Remedy: &models.Remedy{Label: "Try feeds.example now", Operation: "steerOrigin", Request: "POST /api/v1/origins/o/schedule", Body: []byte(`{"action":"force-now"}`)}}
	other := models.Attention{ID: "r2", Cause: models.CausePaused, Severity: models.ToKnow, About: "mail", Text: "mail is paused", Since: time.Now()}
	h, _ := newFixtureWithAnswers(t, map[string]any{"GET /attention": models.AttentionReport{At: time.Now(), Items: []models.Attention{rests, other}}})
	shown := h.shows("/visits", "feeds.example rests until 03:21", "Try feeds.example now")
	require.NotContains(t, shown, "mail is paused")
}

func TestWorkersThatWereLostAreListedWithWhatTheyHeld(t *testing.T) {
	t.Parallel()
	lost := models.LostSession{ID: "worker-9c1e", Name: "w4", Host: "mill-3", At: time.Now().Add(-43 * time.Minute), Tasks: []string{"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"}}
	h := newFixtureWith(t, func(c *page.Config) { c.Lost = func() []models.LostSession { return []models.LostSession{lost} } })
	shown := h.shows("/workers", "w4", "mill-3", `href="/tasks/t8"`, "and 1 more", ">43 min<")
	require.NotContains(t, shown, `href="/tasks/t9"`)
}
