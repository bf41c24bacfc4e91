//go:build browser

package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"leasehold/internal/browser"
	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// open opens a page and waits until it is live.
func (b *tab) open(address string) {
	b.Helper()
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address), browser.Until(`document.getElementById("live").textContent === "live"`))
}

func TestUpdatesKeepWhatTheViewerDoes(t *testing.T) {
	h := newFixture(t)
	server := httptest.NewServer(h.handler)
	t.Cleanup(server.Close)
	first := h.create(models.Task{Action: "mail"})
	b := browse(t, "preferredColorScheme=1")
	b.open(server.URL + "/tasks/" + first.ID)
	b.Do(chromedp.Click("details.drop summary"), browser.Until(`document.querySelector("details.drop").open`))
	value[bool](b, `window.box = document.querySelector("input[name=reason]"); box.focus(); box.value = "no longer"; box.setSelectionRange(3, 9); window.shownBefore = document.getElementById("main"); true`)
	for n := range 10 { // three updates each, at most one a second
		claimed, err := task.Client{Repo: h.repo}.Claim(t.Context(), "mail")
		require.NoError(t, err)
		b.Do(browser.Until(`document.querySelector(".why").textContent.includes("running")`))
		require.NoError(t, task.Client{Repo: h.repo}.Note(t.Context(), claimed, models.Progress{Fraction: .05 * float64(n), Text: fmt.Sprintf("part %d", n)}))
		b.Do(browser.Until(fmt.Sprintf(`document.querySelector(".why").textContent.includes("part %d")`, n)))
		require.NoError(t, task.Client{Repo: h.repo}.HandBack(t.Context(), claimed))
		b.Do(browser.Until(`!document.querySelector(".why").textContent.includes("running")`))
	}
	require.True(t, value[bool](b, `document.activeElement === box && box.isConnected && box.value === "no longer" && box.selectionStart === 3 && box.selectionEnd === 9`))
	require.True(t, value[bool](b, `document.querySelector("details.drop").open && shownBefore === document.getElementById("main")`))
	b.Quiet("updates")

	// The form works, the page tells so once, and a reload does not repeat it.
	b.Do(chromedp.Click("details.drop[open] form button"))
	b.Arrives(`Boolean(document.querySelector(".did")?.textContent.includes("was cancelled") && !location.href.includes("did="))`)
}

func TestRowsAreReplacedByKey(t *testing.T) {
	h := newFixture(t)
	server := httptest.NewServer(h.handler)
	t.Cleanup(server.Close)
	var all []task.Item
	for range 3 {
		all = append(all, h.create(models.Task{Action: "mail"}))
	}
	b := browse(t, "preferredColorScheme=1")
	b.open(server.URL + "/tasks?action=mail")
	value[bool](b, fmt.Sprintf(`window.row = document.querySelector('tr[data-key="%s"]'); row.querySelector("a").focus(); window.link = document.activeElement; true`, all[2].ID))
	require.NoError(t, task.Client{Repo: h.repo}.Cancel(t.Context(), all[0].ID, ""))
	b.Do(browser.Until(`document.querySelectorAll("tbody tr").length === 2`))
	added := h.create(models.Task{Action: "mail"})
	b.Do(browser.Until(fmt.Sprintf(`document.querySelector('tr[data-key="%s"]')`, added.ID)))
	require.True(t, value[bool](b, `row.isConnected && document.activeElement === link`))
	b.Quiet("rows")
}

func TestAPageThatIsCutOffTurnsGrey(t *testing.T) {
	h := newFixture(t)
	var cut atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		h.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b := browse(t, "preferredColorScheme=1")
	b.open(server.URL + "/workers")
	require.False(t, value[bool](b, `document.body.classList.contains("stale")`))
	cut.Store(true)
	server.CloseClientConnections()
	b.Do(browser.Until(`document.body.classList.contains("stale") && document.getElementById("live").textContent.startsWith("no news for ")`))
	require.NotContains(t, value[string](b, `document.getElementById("live").textContent`), " 9 s", "it takes ten seconds")
	b.picture("stale")
	cut.Store(false)
	b.Do(browser.Until(`!document.body.classList.contains("stale") && document.getElementById("live").textContent === "live"`))
}

func TestTheClockOfTheViewerDoesNotCount(t *testing.T) {
	h := newFixture(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/assets/page.js" { // a clock that is a day ahead
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprintln(w, `const real = Date.now; Date.now = () => real() + 86_400_000;`)
			w = bodyOnly{w}
		}
		h.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	made := h.create(models.Task{Action: "mail"})
	b := browse(t, "preferredColorScheme=1")
	b.open(server.URL + "/tasks/" + made.ID)
	require.Regexp(t, `^\d+ s$`, value[string](b, `document.querySelector("time[data-kind=ago]").textContent`))
}

// bodyOnly leaves out the header of an answer that goes on.
type bodyOnly struct{ http.ResponseWriter }

func (bodyOnly) Header() http.Header { return http.Header{} }
func (bodyOnly) WriteHeader(int)     {}

func TestKeys(t *testing.T) {
	h := newFixture(t)
	server := httptest.NewServer(h.handler)
	t.Cleanup(server.Close)
	b := browse(t, "preferredColorScheme=1")
	b.open(server.URL + "/")
	b.Do(chromedp.KeyEvent("?"), browser.Until(`document.getElementById("keys").open`))
	b.accessible("keys")
	b.Do(chromedp.KeyEvent("\x1b"), browser.Until(`!document.getElementById("keys").open`))
	b.Do(chromedp.KeyEvent("g"), chromedp.KeyEvent("w"))
	b.Arrives(`location.pathname === "/workers" && document.getElementById("live").textContent === "live"`)
	b.Do(chromedp.KeyEvent("/"), browser.Until(`document.activeElement.name === "text"`))
	b.Quiet("keys")
}

// A browser opens six connections to a host, so an eighth tab loads only if hidden ones have none.
func TestAHiddenTabHasNoStream(t *testing.T) {
	h := newFixture(t)
	var streams atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			streams.Add(1)
			defer streams.Add(-1)
		}
		h.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b := browse(t, "preferredColorScheme=1")
	b.open(server.URL + "/workers")
	require.EqualValues(t, 1, streams.Load())
	value[bool](b, `Object.defineProperty(document, "hidden", { configurable: true, get: () => true }); document.dispatchEvent(new Event("visibilitychange")); true`)
	require.Eventually(t, func() bool { return streams.Load() == 0 }, browser.Hung, browser.Hung/3000)
	value[bool](b, `Object.defineProperty(document, "hidden", { configurable: true, get: () => false }); document.dispatchEvent(new Event("visibilitychange")); true`)
	require.Eventually(t, func() bool { return streams.Load() == 1 }, browser.Hung, browser.Hung/3000)
	b.Quiet("hidden")
}
