package page_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
)

// itemOf returns the part of the overview that has an attention item with a text, and the fields of the form of its
// remedy.
func (h *fixture) itemOf(text string) (item string, fields []string) {
	h.Helper()
	require.Eventually(h, func() bool {
		for _, part := range strings.Split(h.get("/?fresh=1").Body.String(), `<li data-key="`) {
			if part, _, _ = strings.Cut(part, "</li>"); strings.Contains(html.UnescapeString(part), text) {
				item = part
			}
		}
		return item != ""
	}, 20*time.Second, 50*time.Millisecond, text)
	for _, f := range regexp.MustCompile(`name="([a-z]+)" value="([^"]*)"`).FindAllStringSubmatch(item, -1) {
		fields = append(fields, f[1], html.UnescapeString(f[2]))
	}
	return item, fields
}

// itemEnds waits until the overview has no attention item with a text.
func (h *fixture) itemEnds(text string) {
	h.Helper()
	require.Eventually(h, func() bool { return !strings.Contains(html.UnescapeString(h.get("/?fresh=1").Body.String()), text) }, 20*time.Second, 50*time.Millisecond, text)
}

func TestTheOverviewNamesEachCauseAndItsFormFixesIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	client := task.Client{Repo: h.repo}
	require.NoError(t, status.NewHeartbeat(h.repo, time.Hour, map[string]int{"mail": 1, "resize": 1}).Beat(t.Context()))

	h.create(models.Task{Action: "mail"})
	require.NoError(t, client.Pause(t.Context(), "mail"))
	for _, reason := range []string{"disk full on 1", "disk full on 2", "no route"} {
		h.kill(models.Task{Action: "resize"}, task.Failure{Reason: reason})
	}
	for range 3 {
		h.create(models.Task{Action: "transcode"})
	}

	item, fields := h.itemOf("mail is paused")
	require.Contains(t, item, "leasehold task resume mail")
	require.Equal(t, http.StatusForbidden, h.post("reader", fields...).Code)
	require.Equal(t, http.StatusSeeOther, h.post("", fields...).Code)
	h.itemEnds("mail is paused")

	item, fields = h.itemOf("2 dead letters of resize: disk full on N")
	require.Contains(t, item, "Requeue 2")
	require.Contains(t, item, `href="/tasks?action=resize&amp;state=dead"`)
	w := h.post("", fields...)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.Contains(t, w.Body.String(), "2 tasks were queued again")
	h.itemEnds("disk full on N")
	h.itemOf("1 dead letter of resize: no route")

	item, fields = h.itemOf("No worker serves transcode, and 3 tasks wait")
	require.Contains(t, item, "leasehold worker --exec transcode=PROGRAM")
	require.Contains(t, item, "Cancel 3 tasks")
	h.create(models.Task{Action: "transcode"})
	require.Equal(t, http.StatusConflict, h.post("", fields...).Code, "the person saw fewer")
	_, fields = h.itemOf("No worker serves transcode, and 4 tasks wait")
	w = h.post("", fields...)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.Contains(t, w.Body.String(), "4 tasks were cancelled")
	h.itemEnds("No worker serves transcode")
	require.Equal(t, http.StatusConflict, h.post("", fields...).Code, "the cause has ended")
}

func TestThePageTellsThatNothingAuthenticatesItsVisitors(t *testing.T) {
	t.Parallel()
	open := models.Attention{ID: "a1", Cause: models.CauseOpen, Severity: models.ToKnow, Text: "Everybody who reaches 10.0.0.1:7412 may do everything", Since: time.Now(), Count: 1, Command: "leasehold coordinator --auth"}
	h, _ := newFixtureWithAnswers(t, map[string]any{"GET /attention": models.AttentionReport{At: time.Now(), Items: []models.Attention{open}}})
	body := h.shows("/")
	require.Contains(t, body, open.Text)
	require.Contains(t, body, open.Command)
	require.Contains(t, h.shows("/tasks"), ">not authenticated<")
}
