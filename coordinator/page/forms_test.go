package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/page"
	"leasehold/models"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/task"
)

func TestFormsDoWhatTheySayAndShowThePageAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	dead := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "full"})
	w := h.post("", "do", "requeue", "of", dead, "back", "/tasks?state=dead")
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	require.Equal(t, "/tasks?did=requeue&state=dead", w.Header().Get("Location"))
	h.shows("/tasks?did=requeue&state=dead", "The task was queued again.", "No task is selected.")
	h.shows("/tasks/"+dead, "waiting", "Cancel …")

	w = h.post("", "do", "cancel", "of", dead, "reason", "not needed", "back", "/tasks/"+dead)
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	w = h.post("", "do", "cancel", "of", dead, "back", "/tasks/"+dead) // another person did it before
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), "is cancelled")
	require.Contains(t, w.Body.String(), `href="/tasks/`+dead)

	require.Equal(t, http.StatusSeeOther, h.post("", "do", "pause", "of", "resize", "reason", "disk full").Code)
	paused, err := task.Client{Repo: h.repo}.PausedActions(t.Context())
	require.NoError(t, err)
	require.Len(t, paused, 1)
	require.Equal(t, http.StatusSeeOther, h.post("", "do", "resume", "of", "resize").Code)

	_, _, err = schedule.Client{Repo: h.repo}.Set(t.Context(), "poll", models.Schedule{Every: 900, Task: models.ScheduledTask{Action: "check"}})
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, h.post("", "do", "pause-schedule", "of", "poll", "back", "/schedules").Code)
	h.shows("/schedules", "paused")
	require.Equal(t, http.StatusSeeOther, h.post("", "do", "resume-schedule", "of", "poll", "back", "/schedules").Code)
	h.shows("/schedules", "Pause", "Run now")
	require.Equal(t, http.StatusSeeOther, h.post("", "do", "run-schedule", "of", "poll", "back", "/schedules").Code)
	h.shows("/tasks?tag=schedule:poll", "check", "waiting")
}

func TestTwoPeopleRequeueTheSameDeadLetters(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	dead := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "full"})
	require.Equal(t, http.StatusSeeOther, h.post("", "do", "requeue", "of", dead).Code)
	w := h.post("", "do", "requeue", "of", dead, "back", "/tasks/"+dead)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), dead)

	for range 3 {
		h.kill(models.Task{Action: "mail"}, task.Failure{Reason: "full"})
	}
	for _, want := range []string{"3 tasks were queued again", "0 tasks were queued again"} {
		w := h.post("", "do", "bulk", "verb", "requeue", "state", "dead", "action", "mail", "count", "3")
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Contains(t, w.Body.String(), want)
	}
}

// Each form about a task that has ended while its page was open is refused, and the answer says that it has ended.
func TestATaskThatEndedMeanwhileTellsSo(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	claimed := h.claim(models.Task{Action: "mail"})
	h.shows("/tasks/"+claimed.ID, "Cancel …")
	_, err := task.Client{Repo: h.repo}.Resolve(t.Context(), claimed, nil)
	require.NoError(t, err)
	w := h.post("", "do", "cancel", "of", claimed.ID, "back", "/tasks/"+claimed.ID)
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), "is resolved")
	require.NotContains(t, h.shows("/tasks/"+claimed.ID, `class="why good"`), "Cancel …")
}

func TestThePageOffersWhatTheRoleAllowsAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	dead := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "full"})
	reader := h.request(http.MethodGet, "/tasks/"+dead, "reader", nil).Body.String()
	require.NotContains(t, reader, "Requeue")
	require.Contains(t, reader, "token-reader (anna)")
	require.NotContains(t, reader, "not authenticated")
	require.Contains(t, h.request(http.MethodGet, "/tasks/"+dead, "admin", nil).Body.String(), "Requeue")
	w := h.post("reader", "do", "requeue", "of", dead, "back", "/tasks/"+dead)
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Contains(t, w.Body.String(), "it needs the role admin, and token-reader (anna) has reader")
	require.Equal(t, http.StatusSeeOther, h.post("admin", "do", "requeue", "of", dead).Code)

	waiting := h.create(models.Task{Action: "mail"})
	require.Equal(t, http.StatusSeeOther, h.post("producer", "do", "cancel", "of", waiting.ID, "reason", "late").Code)
	h.shows("/tasks/"+waiting.ID, "late (token-producer (anna))")
}

func TestWithoutActionsThePageOnlyShows(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *page.Config) { c.Actions = false })
	h.setState("idle")
	dead := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "full"})
	for _, path := range []string{"/", "/workers", "/tasks", "/tasks/" + dead, "/schedules", "/visits", "/archive"} {
		require.NotContains(t, h.get(path).Body.String(), `action="/do"`, path)
	}
	w := h.post("", "do", "requeue", "of", dead)
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Contains(t, w.Body.String(), "http-actions is false")
	h.shows("/tasks/"+dead, "dead")
}

func TestFormsOfOtherSitesAndUnknownOnesAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	dead := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "full"})
	form := url.Values{"do": {"discard"}, "of": {dead}}.Encode()
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/do", strings.NewReader(form))
		require.NoError(t, err)
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(name, value)
		w := &answer{header: http.Header{}}
		h.handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusForbidden, w.status, name)
	}
	require.Equal(t, http.StatusBadRequest, h.post("", "do", "<script>", "of", dead).Code)
	require.Equal(t, http.StatusMethodNotAllowed, h.get("/do").Code)
	h.shows("/tasks/"+dead, "dead")
	for _, back := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "", "javascript:alert(1)"} {
		id := h.create(models.Task{Action: "mail"}).ID
		w := h.post("", "do", "cancel", "of", id, "back", back)
		require.Equal(t, "/?did=cancel", w.Header().Get("Location"), back)
	}
}

// answer keeps the status of an answer.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }
