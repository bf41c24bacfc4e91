//go:build browser

package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/page"
)

// hung is the time limit for a browser that starts for the first time on a slow machine.
const hung = 5 * time.Minute

// browse opens a tab in the headless Chromium that .ci/tools installs.
func browse(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell")
	require.NoError(t, err, "apt-get install chromium-headless-shell")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(hung))
	all, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	tab, shut := chromedp.NewContext(all)
	t.Cleanup(shut)
	tab, end := context.WithTimeout(tab, hung)
	t.Cleanup(end)
	return tab
}

// until waits until an expression in the page is true.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(hung))
}

// value runs an action and returns its result.
func value[T any](t *testing.T, tab context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(tab, a)
	require.NoError(t, err)
	return v
}

// text waits until an element has a text.
func text(element, want string) chromedp.Action[chromedp.Void] {
	return until(fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, element, want))
}

// is waits until there are n elements.
func is(n int, elements string) chromedp.Action[chromedp.Void] {
	return until(fmt.Sprintf(`document.querySelectorAll(%q).length === %d`, elements, n))
}

// write replaces the text of a box, as a visitor does.
func write(box, content string) chromedp.Action[string] {
	return chromedp.Evaluate[string](fmt.Sprintf(`(() => { const b = document.getElementById(%q); b.value = %q; b.dispatchEvent(new Event("input")); return "" })()`, box, content))
}

// choose selects the example with a title.
func choose(title string) chromedp.Action[string] {
	return chromedp.Evaluate[string](fmt.Sprintf(`(() => { const m = document.getElementById("examples");
		m.value = [...m.options].find((o) => o.textContent === %q).value; m.dispatchEvent(new Event("change")); return "" })()`, title))
}

// do runs actions in a tab.
func do(t *testing.T, tab context.Context, actions ...any) {
	t.Helper()
	for i, a := range actions {
		var err error
		switch a := a.(type) {
		case chromedp.Action[chromedp.Void]:
			_, err = chromedp.Run(tab, a)
		case chromedp.Action[string]:
			_, err = chromedp.Run(tab, a)
		default:
			require.Fail(t, "no action", "%T", a)
		}
		require.NoError(t, err, "action %d", i)
	}
}

func TestALesson(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	do(t, tab, chromedp.Navigate(s.URL), text("#outcome", "violated"), choose("Buffer: the lock before the slot"),
		// The deadlock is found, and its run is loaded with one click.
		text("#outcome", "violated"), text("#counts", "1 stuck, 0 terminated"), text("#finals", "1 of 1 stuck states"),
		chromedp.Click("#verdicts .load"), until(`document.querySelectorAll("#steps .ahead").length > 3`))
	steps := value(t, tab, chromedp.Evaluate[int](`document.querySelectorAll("#steps li").length`))
	do(t, tab, is(steps, "#steps .ahead"), chromedp.Click("#forth"), is(steps-1, "#steps .ahead"),
		chromedp.Click("#forth"), is(steps-2, "#steps .ahead"), chromedp.Click("#back"), is(steps-1, "#steps .ahead"),
		chromedp.Click("#last"), is(0, "#steps .ahead"), text("#choices", "no process can continue"),
		// The processes stand at their lines, and the tuples in their spaces.
		text("#processes", "line 5"), text(".mark.at", "Producer"), is(2, ".editor:has(#program) .mark.at"),
		is(3, "#spaces .space"), is(1, "#spaces code"), is(1, "#states .state.here"), is(steps, "#states .state.on-run"),
		chromedp.Click("#first"), is(steps, "#steps .ahead"), chromedp.Click("#random"), until(`document.querySelectorAll("#steps li:not(.ahead)").length === 1`),
		// The student repairs it: the slot comes before the lock.
		write("program", value(t, tab, chromedp.Evaluate[string](`document.getElementById("program").value.replace(/Lock.get\(0\);\s*Slot.get\(0\);/, "Slot.get(0); Lock.get(0);")`))),
		is(0, "#verdicts div"), is(0, "#steps li"), is(0, "svg"),
		chromedp.Click("#format"), text("#status", "The text was changed"), chromedp.Click("#go"), text("#outcome", "holds"), text("#counts", " 0 stuck"))
}

func TestNothingOfAnotherProgramStays(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	nothing := []any{is(0, "svg"), is(0, "#verdicts div"), is(0, "#finals *"), is(0, "#steps li"), is(0, "#choices *"), is(0, "#spaces *"), is(0, ".mark.at"),
		until(`["counts", "outcome", "shown"].every((id) => document.getElementById(id).textContent === "")`)}
	do(t, tab, chromedp.Navigate(s.URL), text("#finals", "1 of 1 stuck"), is(1, "#states svg"))
	do(t, tab, write("program", "par\n  Fork.get(1)\n[]\n  Fork.gte(1)\nrap"))
	do(t, tab, nothing...)
	do(t, tab, chromedp.Click("#go"), text("#errors", "program, line 4:"), until(`document.querySelector(".mark.error").dataset.line === "4"`))
	do(t, tab, nothing...)
	do(t, tab, write("program", "skip"), write("init", "x = 0,\ny ="), chromedp.Click("#go"), text("#errors", "initialisation, line 2:"), is(1, ".editor:has(#init) .mark.error"))
	do(t, tab, nothing...)
}

func TestAStepDoesNotEndACheck(t *testing.T) {
	release := make(chan struct{})
	p, err := page.New(page.Limits{})
	require.NoError(t, err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/check" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		p.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	tab := browse(t)
	do(t, tab, chromedp.Navigate(s.URL), text("#status", "working: check"), chromedp.Click("#choices button"), is(1, "#steps li"), text("#status", "working: check"))
	close(release)
	do(t, tab, text("#outcome", "violated"), until(`document.getElementById("status").textContent === ""`), is(1, "#steps li"))

	release = make(chan struct{})
	do(t, tab, chromedp.Click("#go"), text("#status", "working: check"), write("program", "skip"), text("#status", "check cancelled"))
	close(release)
}

func TestLinksAndFilesOfSessions(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	do(t, tab, chromedp.Navigate(s.URL), chromedp.Click("#choices button"), is(1, "#steps li"))
	link := value(t, tab, chromedp.Evaluate[string](`location.href`))
	do(t, tab, chromedp.Navigate("about:blank"), chromedp.Navigate(link), is(1, "#steps li"), text("#outcome", "violated"))

	file := filepath.Join(t.TempDir(), "session.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"init":"x = 0","program":"x := 1; x := 2","choices":[0],"ahead":[0]}`), 0o600))
	do(t, tab, chromedp.SetUploadFiles("#open", []string{file}), is(2, "#steps li"), is(1, "#steps .ahead"), text("#variables", "x=1"))
	file = filepath.Join(t.TempDir(), "model.tup")
	require.NoError(t, os.WriteFile(file, []byte("x = 7\n---\nx := 8"), 0o600))
	do(t, tab, chromedp.SetUploadFiles("#open", []string{file}), text("#variables", "x=7"), is(0, "#steps li"))

	// What Save would write and no page could open is refused, and so is such a file.
	tooLong := strings.Repeat("/", 256<<10+1)
	require.NoError(t, os.WriteFile(file, []byte(tooLong), 0o600))
	const refusal = "a box has 262145 characters; want at most 262144"
	do(t, tab, chromedp.SetUploadFiles("#open", []string{file}), text("#status", refusal), text("#variables", "x=7"),
		write("program", "skip"), text("#status", ""), write("program", tooLong), chromedp.Click("#save"), text("#status", refusal))

	for _, hostile := range []string{
		`{"init":"x = 0","program":"y := <img src=x onerror=alert(1)>","choices":[]}`,
		`{"program":{"a":1}}`, `{"program":"<img src=x>","init":[1],"choices":[-1,"<img src=x>",1e99],"ahead":{}}`, `[`, `null`,
	} {
		do(t, tab, chromedp.Navigate("about:blank"), chromedp.Navigate(s.URL+"/#"+url.PathEscape(hostile)), until(`document.querySelector("#errors li") || document.querySelector("#outcome b")`))
		require.Zero(t, value(t, tab, chromedp.Evaluate[int](`document.querySelectorAll("img").length`)), hostile)
	}
}

func TestALargeStateGraphOpensByClicks(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	do(t, tab, chromedp.Navigate(s.URL), text("#outcome", "violated"), choose("Small model of the report, as printed"),
		text("#counts", "857 states"), text("#counts", "3 stuck"), text("#finals", "3 of 3 stuck states"), text("#shown", "the first levels"))
	states := func() int {
		return value(t, tab, chromedp.Evaluate[int](`document.querySelectorAll("#states .state").length`))
	}
	first := states()
	require.LessOrEqual(t, first, 150)
	do(t, tab, chromedp.Evaluate[string](`(() => { document.querySelector("#states .state.open").dispatchEvent(new Event("click")); return "" })()`),
		until(fmt.Sprintf(`document.querySelectorAll("#states .state").length > %d`, first)), until(`document.querySelectorAll("#states .state.on-run").length > 3`))
	opened := states()
	// The path to a stuck state is shown, and what was opened stays open.
	do(t, tab, chromedp.Click("#finals .load"), text("#choices", "no process can continue"),
		until(fmt.Sprintf(`document.querySelectorAll("#states .state").length > %d`, opened)))
	require.Equal(t, "#c00", value(t, tab, chromedp.Evaluate[string](`document.querySelector("#states .state.here rect").getAttribute("stroke")`)))
}

func TestTabsAndSmallScreens(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	trace, err := filepath.Abs("testdata/late.jsonl")
	require.NoError(t, err)
	do(t, tab, chromedp.EmulateViewport(390, 800), chromedp.Navigate(s.URL), text("#outcome", "violated"), is(1, "#states svg"))
	fits := until(`document.documentElement.scrollWidth <= 390`)
	do(t, tab, fits, chromedp.Click("[data-tab=nets]"),
		write("net", ".name \"n\"\n.type PN\n.places\na b\n.transitions\nt\n.flows\nt: {a} -> {b}\n.initial_marking {a}\n"),
		chromedp.Click("#net-go"), text("#net-outcome", "violated"), is(1, "#net-graph svg"), fits,
		write("net", ".name"), is(0, "#net-graph svg"), chromedp.Click("#net-go"), is(1, ".editor:has(#net) .mark.error"),
		chromedp.Click("[data-tab=traces]"), chromedp.SetUploadFiles("#trace-file", []string{trace}),
		text("#deviation", "The first deviation is in line 3"), fits,
		chromedp.Evaluate[string](`(() => { const d = new DataTransfer(); d.items.add(new File(["no trace\n"], "t.jsonl"));
			document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: d })); return "" })()`),
		text("#status", "not a log of a coordinator"), is(0, "#deviation *"))
}

func TestALargeProgramInThePage(t *testing.T) {
	s := serve(t, page.Limits{})
	tab := browse(t)
	large := "x := 1" + strings.Repeat(";\nx := 1", 25_000)
	do(t, tab, chromedp.Navigate(s.URL), text("#outcome", "violated"), write("init", "x = 0"), write("program", large), chromedp.Click("#go"),
		text("#outcome", "holds"), text("#counts", "1 terminated"), text("#processes", "line 1"), is(1, "#states svg"),
		chromedp.Click("#choices button"), text("#processes", "line 2"),
		// The work ends when the text changes.
		chromedp.Click("#go"), text("#status", "working"), write("program", "skip"), text("#status", "cancelled"), is(0, "#verdicts div"),
		// So does a text of 256 KiB, and then the page answers at once.
		write("program", "// "+strings.Repeat("a", 256<<10-9)+"\nskip"), chromedp.Click("#go"), text("#outcome", "holds"),
		write("program", "x := 2"), chromedp.Click("#go"), text("#counts", "1 terminated"))
}
