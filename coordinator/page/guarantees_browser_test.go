//go:build browser

package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator/page"
	"leasehold/internal/browser"
	"leasehold/models"
)

// Titles and errors come from feeds and programs of others.
func TestHostileTextsStayTextAndInTheirPlace(t *testing.T) {
	const script = `<script>window.broken = 1</script><img src=x onerror="window.broken = 1">`
	for name, text := range map[string]string{
		"script": script, "letters": strings.Repeat("x", 5000), "lines": strings.Repeat("a\r\n\tb ", 100),
		"right to left": "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd \u200f" + script, "close": `"'></td></table></main></svg>` + script,
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			server, pages := h.pagesOf(text, text)
			b := browse(t, "preferredColorScheme=1")
			for page, path := range pages {
				if page == "missing" || page == "code-bad" {
					continue
				}
				what := name + " on " + page
				b.Do(chromedp.EmulateViewport(390, 900), chromedp.Navigate(server.URL+path), browser.Until(settled))
				b.fits(what, 390)
				if page == "episode" || page == "overview" || page == "clip" {
					b.picture("hostile-" + strings.ReplaceAll(name, " ", "-") + "-" + page)
				}
				require.True(t, value[bool](b, `window.broken === undefined && document.querySelectorAll("main").length === 1 && document.querySelector("main footer") !== null`), what)
				b.Quiet(what)
			}
		})
	}
}

func TestBehindAProxyWithAPrefix(t *testing.T) {
	for name, strip := range map[string]bool{"strips": true, "leaves": false} {
		t.Run(name, func(t *testing.T) {
			h := newFixtureWith(t, func(c *page.Config) { c.Prefix = "/queue" })
			inner := httptest.NewServer(h.handler)
			t.Cleanup(inner.Close)
			target, err := url.Parse(inner.URL)
			require.NoError(t, err)
			proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(target)
				r.Out.Host = r.In.Host
				if strip {
					r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/queue")
				}
			}}
			outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, "/queue/") {
					http.NotFound(w, r)
					return
				}
				proxy.ServeHTTP(w, r)
			}))
			t.Cleanup(outer.Close)
			episode, _, _ := h.addShow("The show", "jingle")
			made := h.create(models.Task{Action: "mail"})
			b := browse(t, "preferredColorScheme=1,autoplayPolicy=0")
			b.open(outer.URL + "/queue/")
			b.Do(chromedp.Click(`nav a[data-key="t"]`))
			b.Arrives(fmt.Sprintf(`location.pathname === "/queue/tasks" && Boolean(document.querySelector('tr[data-key="%s"]'))`, made.ID))
			b.open(outer.URL + "/queue/tasks/" + made.ID)
			b.Do(chromedp.Click("details.drop summary"), chromedp.Click("details.drop[open] form button"))
			b.Arrives(`location.pathname.startsWith("/queue/tasks/") && Boolean(document.querySelector(".did")?.textContent.includes("was cancelled"))`)
			b.open(outer.URL + "/queue/archive/episodes/" + episode)
			b.Do(chromedp.Click(`a.play[data-hear="19"]`), browser.Until(`document.getElementById("sound").currentTime > 19`))
			b.Quiet(name)
		})
	}
}

// A browser opens six connections to a host. A tab that comes to the front hides the one before it.
func TestEightTabsLoad(t *testing.T) {
	h := newFixture(t)
	server := httptest.NewServer(h.handler)
	t.Cleanup(server.Close)
	first := browse(t, "preferredColorScheme=1")
	first.open(server.URL + "/workers")
	for n := range 7 {
		value[bool](first, `Object.defineProperty(document, "hidden", { configurable: true, get: () => true }); document.dispatchEvent(new Event("visibilitychange")); true`)
		next := &tab{first.Another()}
		next.open(fmt.Sprintf("%s/tasks?tab=%d", server.URL, n))
		next.Quiet("tab")
		first = next
	}
}
