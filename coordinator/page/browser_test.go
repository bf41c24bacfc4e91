//go:build browser

package page_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator/history"
	"leasehold/internal/browser"
	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// A tab is a tab of a headless Chromium that looks at pages of a fixture.
type tab struct{ *browser.Tab }

// browse opens a tab in a new browser with settings of Blink, such as preferredColorScheme=0 for dark.
func browse(t *testing.T, settings string) *tab {
	t.Helper()
	return &tab{browser.Open(t, settings)}
}

// value evaluates an expression in the page.
func value[T any](b *tab, expression string) T {
	b.Helper()
	return browser.Value[T](b.Tab, expression)
}

// picture writes the whole page to .build.
func (b *tab) picture(name string) {
	b.Helper()
	b.Picture(filepath.Join("../../.build/pages", name+".png"))
}

// accessible requires that the page breaks no rule of WCAG 2.2 AA that axe-core knows.
func (b *tab) accessible(what string) {
	b.Helper()
	script, err := os.ReadFile("../../../shared/axe/axe.min.js") // beside the project's folder
	if errors.Is(err, fs.ErrNotExist) {
		b.Logf("left out: the rules of axe-core, because %v", err)
		return
	}
	require.NoError(b, err)
	value[bool](b, string(script)+";true")
	value[bool](b, `window.found = null; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }).then((r) => {
		window.found = r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary)) }); true`)
	b.Do(browser.Until("window.found !== null"))
	assert.Empty(b, value[[]string](b, "window.found"), what)
}

// narrow are the words that a column breaks after fewer than eight letters.
const narrow = `(() => {
	const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const node = walker.currentNode;
		if (node.parentElement.closest("svg, script, style, dialog, details:not([open]) > :not(summary)")) continue;
		for (const word of node.data.matchAll(/\S{2,}/g)) {
			const range = document.createRange();
			range.setStart(node, word.index);
			range.setEnd(node, word.index + word[0].length);
			const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
			if (lines.size < 2) continue;
			const letter = document.createRange(), tops = [];
			for (let i = 0; i < Math.min(8, word[0].length); i++) {
				letter.setStart(node, word.index + i);
				letter.setEnd(node, word.index + i + 1);
				tops.push(Math.round(letter.getBoundingClientRect().top));
			}
			if (new Set(tops).size > 1 && node.parentElement.getBoundingClientRect().width < 64) found.push(word[0].slice(0, 40));
		}
	}
	return found;
})()`

// fits requires that the page has no horizontal scroll, and that no column of text breaks words after fewer than eight
// letters.
func (b *tab) fits(what string, width int) {
	b.Helper()
	assert.LessOrEqual(b, value[int](b, "document.documentElement.scrollWidth"), width, what)
	assert.Empty(b, value[[]string](b, narrow), what)
}

// addDay adds counts of a day in which the coordinator did not run for two hours, with failures in the last hour.
func (h *fixture) addDay() {
	h.Helper()
	now := time.Now().Truncate(time.Minute)
	for n := range 24 * 6 {
		if n < 30 || n > 42 {
			h.add(now.Add(-time.Duration(n+7)*10*time.Minute), history.Counts{Done: 2000 + int64(n*n%700), Failed: int64(n % 9 * 20)})
		}
	}
	for n := range 59 {
		counts := history.Counts{Done: 260 + int64(n*n%70)}
		if n > 20 && n < 30 {
			counts.Failed = 60 - int64(n)
		}
		h.add(now.Add(-time.Duration(n+1)*time.Minute), counts)
	}
}

// addTuples adds tuples of spaces to the history of a day.
func (h *fixture) addTuples() {
	h.Helper()
	now := time.Now().Truncate(time.Minute)
	for n := range 24 * 6 {
		if n < 30 || n > 42 {
			spaces := map[string]history.Tuples{"task": {Visible: 40 + int64(n*n%90), Held: 3}, "result": {Visible: int64(n % 7)}, "log": {Visible: 1000}}
			require.NoError(h, h.history.Add(h.Context(), now.Add(-time.Duration(n+1)*10*time.Minute), now, history.Sample{Spaces: spaces}))
		}
	}
}

// pages are the addresses that tests look at, of a coordinator with some of everything.
func (h *fixture) pages() (server *httptest.Server, pages map[string]string) {
	return h.pagesOf("The manager who died on a Tuesday", "no enclosure: not found")
}

// pagesOf are the pages of recordings with a title, and of problems with a reason.
func (h *fixture) pagesOf(title, reason string) (server *httptest.Server, pages map[string]string) {
	server = httptest.NewServer(h.handler)
	h.Cleanup(server.Close)
	h.setState("Working on: research 9c1e")
	h.addDay()
	dead := h.fill(title, reason)
	parent := h.create(models.Task{Action: "fetch"})
	child := h.create(models.Task{Action: "import", Subject: "part 61 of 300", Data: json.RawMessage(`{"n":61,"source":"https://archive.example/parts/61.zip"}`), TaskOptions: models.TaskOptions{After: []string{parent.ID}, UniqueKey: "part-61", Group: "acme", Tags: []string{"sales", "nightly"}, MaxAttempts: 4}})
	running := h.claim(models.Task{Action: "research", Subject: title[:min(len(title), 900)]})
	err := task.Client{Repo: h.repo}.Note(h.Context(), running, models.Progress{Fraction: .6, Text: "part 61 of 300, which has a very long name so that it does not fit into its cell"})
	require.NoError(h, err)
	h.kill(models.Task{Action: "resize", Subject: "<script>alert(1)</script>"}, task.Failure{Reason: strings.Repeat("disk quota exceeded: /mnt/thumbs/a-very-long-path-without-any-space/", 4)})
	h.kill(models.Task{Action: "resize"}, task.Failure{Reason: "exit status 2", Output: "panic: index out of range [61]\ngoroutine 1 [running]"})
	h.publishSome(strings.ToValidUTF8(title, ""))
	_, long := h.publish("https://example.org/team/server-with-a-long-name", source{"src/" + strings.Repeat("long-", 40) + ".go", "Go", "func " + strings.Repeat("Long", 200) + "() {}\n// needle " + strings.ReplaceAll(title, "\r\n", " ") + "\n"})
	h.addTuples()
	episode, clip, _ := h.addShow(title[:min(len(title), 4000)], "jingle "+title[len(title)/2:])
	return server, map[string]string{
		"episode": "/archive/episodes/" + episode, "clip": "/archive/clips/" + clip, "episode-plain": "/archive/episodes/" + models.NewID("o", "e"),
		"overview": "/", "tasks": "/tasks", "dead": "/tasks?state=dead&action=resize", "none": "/tasks?action=none", "task": "/tasks/" + child.ID, "running": "/tasks/" + running.ID, "dead-task": "/tasks/" + dead,
		"workers": "/workers", "archive": "/archive", "archive-title": "/archive?title=part+6", "archive-next": "/archive?after=50&from=50", "archive-none": "/archive?title=none", "visits": "/visits", "schedules": "/schedules", "spaces": "/spaces", "space": "/spaces/dead?template=...", "log": "/log",
		"code": "/code", "code-found": "/code?q=needle", "code-next": "/code?q=needle&from=50", "code-narrow": "/code?q=needle&lang=Go&folder=cmd%2F&repo=example.org%2Fteam%2Fserver", "code-symbols": "/code?q=L&kind=definitions", "code-none": "/code?q=lang:pyhton", "code-bad": "/code?q=%2F(%2F",
		"code-report": "/code/report?repo=team/server", "code-report-all": "/code/report", "code-file": "/code/file?oid=" + string(long[0]) + "&path=a.go", "space-history": "/spaces/task", "origin": "/visits/waits", "missing": "/tasks/none",
	}
}

// Themes of the browsers: settings of Blink. In plain, scripts are off.
var themes = map[string]string{"light": "preferredColorScheme=1", "dark": "preferredColorScheme=0", "plain": "preferredColorScheme=1,scriptEnabled=false"}

func TestEachPageInABrowser(t *testing.T) {
	h := newFixture(t)
	server, pages := h.pages()
	for theme, settings := range themes {
		t.Run(theme, func(t *testing.T) {
			b := browse(t, settings)
			for name, path := range pages {
				for _, width := range []int{390, 1280} {
					b.examine(server.URL+path, fmt.Sprintf("%s-%d-%s", name, width, theme), width, theme != "plain")
				}
			}
		})
	}
}

// settled reports that a page is updated, or is one that is not.
const settled = `document.getElementById("live").hidden || document.getElementById("live").textContent === "live"`

// examine looks at a page: it must fit, be accessible, and show no error in the console.
func (b *tab) examine(address, what string, width int, scripts bool) {
	b.Helper()
	b.Do(chromedp.EmulateViewport(int64(width), 900), chromedp.Navigate(address), chromedp.WaitReady("#main"))
	missing := strings.HasPrefix(what, "missing") || strings.HasPrefix(what, "code-bad")
	if scripts && !missing {
		b.Do(browser.Until(settled))
	}
	b.picture(what)
	b.fits(what, width)
	if further := map[int]int{390: 360, 1280: 1600}[width]; further > 0 {
		b.Do(chromedp.EmulateViewport(int64(further), 900))
		b.fits(fmt.Sprintf("%s at %d px", what, further), further)
		b.Do(chromedp.EmulateViewport(int64(width), 900))
	}
	if scripts {
		b.accessible(what)
	}
	if missing { // the console tells of the status
		b.Forget()
	}
	b.Quiet(what)
}

// attentionAnswers are answers of the API for an overview with some of everything.
func attentionAnswers() map[string]any {
	ago := func(minutes int) time.Time { return time.Now().Add(-time.Duration(minutes) * time.Minute) }
	return map[string]any{
		"GET /attention": models.AttentionReport{At: time.Now(), Items: []models.Attention{
			{ID: "a1", Cause: models.CauseNoWorker, Severity: models.StopsWork, About: "transcode", Text: "No worker serves transcode", Detail: "214 tasks wait. Last served by w4 on mill-3, lost 43 min ago.", Since: ago(41), Count: 214, Command: "leasehold worker --actions transcode"},
			{ID: "a2", Cause: models.CauseDead, Severity: models.Degrades, About: "resize", Text: "70 dead letters of resize: disk quota exceeded: /mnt/thumbs/…", Detail: "First t17, last t1190.", Since: ago(30), Count: 70, Command: "leasehold dead requeue --action resize", Remedy: &models.Remedy{Label: "Requeue 70", Operation: "requeueDead", Count: 70, Request: "POST /api/v1/bulk/requeue"}},
			{ID: "a3", Cause: models.CausePaused, Severity: models.ToKnow, About: "mail", Text: "mail is paused", Detail: "by anna, “SMTP moves to the new host”. 1,903 tasks wait.", Since: ago(71), Count: 1903, Command: "leasehold task resume mail", Remedy: &models.Remedy{Label: "Resume", Operation: "resumeAction", Request: "POST /api/v1/actions/mail/resume"}},
		}},
		"POST /actions/mail/resume": map[string]any{},
		"GET /actions": map[string]any{"total": 3, "items": []any{
			map[string]any{"action": "mail", "paused": true, "paused_by": "anna", "tasks": map[string]int{"paused": 1903}, "workers": 1, "slots": 4, "median": .021, "p95": .06},
			map[string]any{"action": "research", "tasks": map[string]int{"waiting": 38}, "workers": 1, "slots": 4, "slots_in_use": 2, "oldest_claimable": 12, "ended_per_minute": 332, "failed_per_minute": 4, "median": 2.2, "p95": 9.8},
			map[string]any{"action": "transcode", "tasks": map[string]int{"waiting": 214, "dead": 2}, "oldest_claimable": 2460},
		}},
	}
}

func TestTheOverviewWithAttentionInABrowser(t *testing.T) {
	h, _ := newFixtureWithAnswers(t, attentionAnswers())
	server, _ := h.pages()
	for theme, settings := range themes {
		t.Run(theme, func(t *testing.T) {
			b := browse(t, settings)
			for _, width := range []int{390, 1280} {
				b.examine(server.URL+"/", fmt.Sprintf("attention-%d-%s", width, theme), width, theme != "plain")
			}
			b.Do(chromedp.Click(`[data-key=a2] details.drop summary`))
			b.picture("attention-open-" + theme)
			b.fits("open", 1280)
		})
	}
}
