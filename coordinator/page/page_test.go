package page_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/page"
	"leasehold/models"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/task"
)

func TestThePagesShowEverythingWithoutAScript(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.setState("Working on: research 9c1e")
	id := h.fill("Monday", "no enclosure: not found")
	h.shows("/", "Working on: research 9c1e", "of <b>1</b> worker", "not authenticated", "is dead", "times in")
	h.shows("/workers", h.repo.Session(), "research", "0 of 2 slots in use", "decoded", "6.25")
	h.shows("/spaces", `href="/spaces/task"`, "ordered")
	h.shows("/spaces/dead?template=...", id, "1 match")
	h.shows("/archive", "no enclosure", "Monday", "1:17.19", "0.970", "within The theme", "1.25–31.25 s")
	h.shows("/log", "is dead")
	h.shows("/visits", "No visit waits")
	h.shows("/tasks?state=dead", id, "no enclosure")
	require.Equal(t, http.StatusNotFound, h.get("/nothing").Code)
	require.Equal(t, http.StatusMethodNotAllowed, h.request("PUT", "/", "", nil).Code)
}

func TestTheTasksAreFilteredByTheAddress(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.create(models.Task{Action: "mail", TaskOptions: models.TaskOptions{Tags: []string{"night"}, Group: "acme"}})
	other := h.create(models.Task{Action: "resize"})
	body := h.shows("/tasks?action=mail", "no live worker serves the action mail", `href="/tasks?tag=night"`, `action <b>mail</b> ×`)
	require.NotContains(t, body, other.ID)
	require.NotContains(t, h.shows("/tasks?tag=night"), other.ID)
	require.NotContains(t, h.shows("/tasks?group=acme"), other.ID)
	h.shows("/tasks?older=3600", "No task is selected.", `older=3600`)
	h.shows("/tasks?action=nothing", "No task is selected.")
	h.shows("/tasks?text=.%2B%5B", "No task is selected.") // text, not a regular expression
	h.shows("/tasks?state=asleep", "State &#34;asleep&#34;: invalid: want waiting")
	h.shows("/tasks?cursor=x", "want the next of an earlier page")
	h.shows("/tasks?older=-1", `class="why bad"`)
	h.shows("/tasks?action=%3Cscript%3E", "&lt;script&gt;")
}

// The text is looked for as it is, because people paste errors.
func TestAFilterTakesAnyTextAsItIs(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	odd := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "want (a|b)*[c]: <script>alert(1)</script>"})
	other := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "aaac"})
	for text, found := range map[string]bool{"(a|b)*[c]": true, "<script>": true, ".*": false, "(": true, "[": true, "\\": false, "%": false, "_": false} {
		shown := h.shows("/tasks?state=dead&text=" + url.QueryEscape(text))
		require.Equal(t, found, strings.Contains(shown, ">"+odd+"</a>"), text)
		require.NotContains(t, shown, ">"+other+"</a>", text)
		require.NotContains(t, shown, "<script>alert")
	}
	for _, path := range []string{"/tasks?action=" + url.QueryEscape("<script>alert(1)</script>"), "/tasks?tag=" + url.QueryEscape(strings.Repeat("x", 5000)), "/tasks?older=9999999999", "/tasks?state=none"} {
		w := h.get(path)
		require.Equal(t, http.StatusOK, w.Code, path)
		require.NotContains(t, w.Body.String(), "<script>alert", path)
	}
}

func TestLongListsOfTasksHavePages(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for range 60 {
		h.create(models.Task{Action: "mail"})
	}
	body := h.shows("/tasks?action=mail", "next page")
	require.Equal(t, 50, strings.Count(body, "<tr data-key"))
	require.Less(t, len(body), 150_000)
	_, rest, _ := strings.Cut(body, `<p class="pages"><a class="btn" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	body = h.shows(strings.ReplaceAll(next, "&amp;", "&"), "first page")
	require.Equal(t, 10, strings.Count(body, "<tr data-key"))
	require.NotContains(t, body, "next page")
}

func TestATaskTellsWhyItIsNotRunningAndWhatHappened(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	parent := h.create(models.Task{Action: "fetch"})
	child := h.create(models.Task{Action: "import", Data: json.RawMessage(`{"n":61}`), TaskOptions: models.TaskOptions{After: []string{parent.ID}, UniqueKey: "part-61", Group: "acme", Tags: []string{"sales"}, MaxAttempts: 4}})
	h.shows("/tasks/"+child.ID, "Waits for task "+parent.ID, `href="/tasks/`+parent.ID, "part-61", "acme", "sales", "&#34;n&#34;: 61", "4 more attempts are left", `class="box warn"`)
	h.shows("/tasks/"+parent.ID, "No live worker serves the action fetch.")
	dead := h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "exit status 2", Output: "panic: index out of range"})
	h.shows("/tasks/"+dead, "Given up after attempt 1: exit status 2.", "panic: index out of range", "Requeue", "Discard …", `class="failed"`)
	claimed := h.claim(models.Task{Action: "mail"})
	h.shows("/tasks/"+claimed.ID, "It is running", "running")
	_, err := task.Client{Repo: h.repo}.Resolve(h.Context(), claimed, map[string]bool{"sent": true})
	require.NoError(t, err)
	w := h.get("/tasks/none")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), "not found")
}

func TestTheOutputOfAnAttemptThatSucceededLooksLikeNoFailure(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	claimed := h.claim(models.Task{Action: "mail"})
	_, err := task.Client{Repo: h.repo}.ResolveWithOutput(h.Context(), claimed, 1, "3 mails sent")
	require.NoError(t, err)
	body := h.shows("/tasks/"+claimed.ID, "<h2>Output</h2>", "3 mails sent", `<span class="soft">0`, "None.")
	for _, failure := range []string{`class="failed"`, `class="attempt"`, "bad text", "1 failed attempt"} {
		require.NotContains(t, body, failure)
	}
}

func TestLargeDataIsCut(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	data, err := json.Marshal(strings.Repeat("<", 80_000))
	require.NoError(t, err)
	made := h.create(models.Task{Action: "import", Data: data})
	body := h.shows("/tasks/"+made.ID, "It is longer.")
	require.Less(t, len(body), 150_000)
}

func TestThePageShowsWhenSchedulesAreDue(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.shows("/schedules", "No schedules.")
	h = newFixture(t)
	client := schedule.Client{Repo: h.repo, Now: func() time.Time { return time.Date(2126, 11, 22, 12, 0, 0, 0, time.UTC) }}
	for name, s := range map[string]models.Schedule{
		"nightly": {Cron: "30 3 * * *", Zone: "Europe/Berlin", Task: models.ScheduledTask{Action: "import"}},
		"poll":    {Every: 900, Task: models.ScheduledTask{Action: "check"}},
		"off":     {Every: 60, Task: models.ScheduledTask{Action: "check"}},
	} {
		_, _, err := client.Set(t.Context(), name, s)
		require.NoError(t, err)
	}
	_, err := client.Pause(t.Context(), "off")
	require.NoError(t, err)
	h.shows("/schedules", "nightly", "30 3 * * * Europe/Berlin", `title="2126-11-23 02:30:00 UTC"`, "every 15 min", "paused", "Resume", "Pause")
}

func TestFault47TextsOfForeignClientsAreEscapedAndThePageLoadsOnlyItsOwnFiles(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	h.setState(evil)
	dead := h.fill(evil, evil)
	data, err := json.Marshal(evil)
	require.NoError(t, err)
	made := h.create(models.Task{Action: "import", Subject: evil, Data: data, TaskOptions: models.TaskOptions{Tags: []string{evil}, Group: evil, UniqueKey: evil}})
	for _, path := range []string{"/", "/tasks", "/tasks?state=dead", "/tasks?text=%22%3E%3Cscript%3Ealert(1)", "/tasks/" + made.ID, "/tasks/" + dead, "/tasks/%3Cscript%3E", "/workers", "/archive", "/log", "/spaces", "/spaces/dead", "/spaces/%22%3E%3Cscript%3E", "/visits", "/schedules"} {
		w := h.get(path)
		body := w.Body.String()
		require.NotContains(t, body, "<script>alert", path)
		require.NotContains(t, body, "<img", path)
		require.NotRegexp(t, `(?i)<[^>]*\son[a-z]+=|<style|<[^>]*\sstyle=|<script>`, body, "nothing is inline: %s", path)
		csp := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			require.Contains(t, csp, want)
		}
		require.NotContains(t, csp, "unsafe")
		require.Equal(t, "DENY", w.Header().Get("X-Frame-Options"))
	}
	h.shows("/tasks/"+made.ID, "&lt;script&gt;alert(1)")
	for _, asset := range []string{"page.js", "page.css", "icon.svg"} {
		require.Equal(t, http.StatusOK, h.get("/assets/"+asset).Code)
	}
}

func TestAProxyMayStripThePrefixOrLeaveIt(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *page.Config) { c.Prefix = "/queue" })
	made := h.create(models.Task{Action: "mail"})
	for _, path := range []string{"/tasks", "/queue/tasks"} {
		h.shows(path, `href="/queue/tasks/`+made.ID, `href="/queue/assets/page.css"`, `data-prefix="/queue"`, `data-page="/tasks"`)
	}
	h.shows("/queue/", `action="/queue/tasks"`)
	w := h.post("admin", "do", "cancel", "of", made.ID, "back", "/tasks/"+made.ID)
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/queue/tasks/"+made.ID+"?did=cancel", w.Header().Get("Location"))
	require.Contains(t, h.post("admin", "do", "cancel", "of", made.ID, "back", "/tasks").Body.String(), `<a href="/queue/tasks">Back</a>`)
	require.Equal(t, "/queue/", h.get("/queue").Header().Get("Location"))
	require.Equal(t, http.StatusOK, h.get("/queue/api/v1/tasks").Code)
}
