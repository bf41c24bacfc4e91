package page_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/page"
)

const (
	forks   = "Fork = (R, 2, {(1), (2)})"
	diners  = "par Fork.get(1); Fork.get(2); Fork.put(1); Fork.put(2)\n[] Fork.get(2); Fork.get(1); Fork.put(2); Fork.put(1)\nrap"
	counter = "x = 0\n---\nloop true -> x := x + 1 pool"
)

func serve(t *testing.T, l page.Limits) *httptest.Server {
	t.Helper()
	p, err := page.New(l)
	require.NoError(t, err)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s
}

func Example() {
	p, err := page.New(page.Limits{States: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequest("POST", "http://127.0.0.1/run", strings.NewReader(`{"init": "S = (R, INF, {})", "program": "S.put(1)"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	var run struct {
		State   string
		Choices []struct{ Process, Text string }
	}
	fmt.Println(json.NewDecoder(w.Body).Decode(&run))
	fmt.Println(run.State, run.Choices)
	// Output:
	// <nil>
	// extendable [{P1 S.put(1)}]
}

// post requests a view of a program and returns the decoded answer.
func post(t *testing.T, s *httptest.Server, what, start, program string, choices ...int) map[string]any {
	t.Helper()
	body, err := json.Marshal(map[string]any{"init": start, "program": program, "choices": choices})
	require.NoError(t, err)
	r, err := http.Post(s.URL+"/"+what, "application/json", strings.NewReader(string(body)))
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, 200, r.StatusCode, string(text))
	var v map[string]any
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

func TestADeadlockIsFoundAndDrawn(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	require.Contains(t, post(t, s, "graph", forks, diners)["svg"], "Fork.get(1)")

	run := post(t, s, "run", forks, diners)
	require.Equal(t, "extendable", run["state"])
	require.Len(t, run["choices"], 2)
	run = post(t, s, "run", forks, diners, 0, 1)
	require.Equal(t, "stuck", run["state"])
	require.Len(t, run["steps"], 2)
	end := run["end"].(map[string]any)
	require.Contains(t, fmt.Sprint(end["processes"]), "position:map[column:17 line:2]")
	require.Contains(t, fmt.Sprint(end["spaces"]), "tuples:<nil>")
	require.Contains(t, run["sequence"], "get (1)")

	states := post(t, s, "states", forks, diners)
	require.Contains(t, states["svg"], "at 1:5 2:4", "positions are those of the box")

	check := post(t, s, "check", forks, diners)
	require.Equal(t, "violated", check["outcome"])
	require.EqualValues(t, 1, check["stuck"])
	require.EqualValues(t, 1, check["terminated"])
	shown := check["runs"].([]any)[0].(map[string]any)
	require.Contains(t, shown["sequence"], "before Fork.get(2)")
	require.Equal(t, []any{1.0, 0.0}, shown["choices"])
	require.NotContains(t, check["verdicts"].([]any)[0], "trace")
}

func TestAMistakeIsInItsBox(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	wrong := func(start, program string) any { return post(t, s, "graph", start, program)["errors"] }
	require.Equal(t, []any{map[string]any{"box": "program", "line": 2.0, "column": 1.0, "text": "expected a number, a variable or (, found the end of the file"}},
		wrong("x = 0\n\n", "x :=\n"))
	require.Contains(t, fmt.Sprint(wrong("x = 0,\ny = ", "skip")), "box:init column:4 line:2")
	require.Contains(t, fmt.Sprint(wrong("", "y := 1")), "line:1")
	require.Equal(t, []any{map[string]any{"box": "init", "line": 1.0, "column": 1.0, "text": "the program has its own declarations: empty this box"}},
		wrong(forks, "// whole\n"+forks+"\n---\n"+diners))
	require.Nil(t, wrong("\n", forks+"\n---\n"+diners))
}

func TestWhatIsTooLargeIsCutAndSaidToBe(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{States: 500, Choices: 3, Drawn: 1})
	check := post(t, s, "check", "", counter)
	require.Contains(t, check["reason"], "more than 500 states")
	require.Equal(t, "incomplete", check["outcome"])
	require.Equal(t, false, check["whole"])
	require.Empty(t, check["finals"])
	require.Equal(t, []any{1.0, 2.0}, post(t, s, "states", forks, diners)["open"])

	quick := serve(t, page.Limits{Time: time.Nanosecond})
	require.Equal(t, "incomplete", post(t, quick, "check", "", counter)["outcome"])
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{Choices: 2})
	const ok = `{"init":"","program":"skip","choices":[]}`
	for _, c := range []struct {
		name, method, path, kind, body, host, site string
		code                                       int
		says                                       string
	}{
		{"another host", "POST", "/run", "application/json", ok, "evil.example", "", 403, "for this machine only"},
		{"another host's page", "GET", "/", "", "", "evil.example:7413", "", 403, "for this machine only"},
		{"another site", "POST", "/run", "application/json", ok, "", "cross-site", 403, "Only requests from the page itself"},
		{"a form", "POST", "/run", "text/plain", ok, "", "", 400, "want the content type application/json"},
		{"no JSON", "POST", "/run", "application/json", "{", "", "", 400, "unexpected EOF"},
		{"a field that is none", "POST", "/run", "application/json", `{"x":1}`, "", "", 400, "unknown field"},
		{"too large", "POST", "/check", "application/json", `{"program":"` + strings.Repeat(" ", page.MaxRequest) + `"}`, "", "", 413, "at most 524288 bytes"},
		{"too many choices", "POST", "/run", "application/json", `{"program":"skip","choices":[0,0,0]}`, "", "", 400, "at most 2 are allowed"},
		{"no such choice", "POST", "/run", "application/json", `{"program":"skip","choices":[7]}`, "", "", 400, "step 1 has no choice 7"},
		{"a view by GET", "GET", "/run", "", "", "", "", 405, ""},
		{"nothing", "GET", "/nothing", "", "", "", "", 404, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", c.kind)
		if c.host != "" {
			r.Host = c.host
		}
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err, c.name)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, c.code, answer.StatusCode, "%s: %s", c.name, text)
		require.Contains(t, string(text), c.says, c.name)
	}
}

// stalled is a body that reports the first read and ends when it is released.
type stalled struct {
	entered chan<- struct{}
	release <-chan struct{}
}

func (s stalled) Read([]byte) (int, error) {
	s.entered <- struct{}{}
	<-s.release
	return 0, io.EOF
}

func TestTooManyAtOnceAreRefused(t *testing.T) {
	t.Parallel()
	p, err := page.New(page.Limits{AtOnce: 1})
	require.NoError(t, err)
	ask := func(body io.Reader) int {
		r := httptest.NewRequest("POST", "http://localhost/run", body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w.Code
	}
	entered, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 17 {
		all.Go(func() { ask(stalled{entered, release}) })
	}
	for range 17 {
		<-entered
	}
	require.Equal(t, 503, ask(strings.NewReader(`{"program":"skip"}`)))
	close(release)
	all.Wait()
	require.Equal(t, 200, ask(strings.NewReader(`{"program":"skip"}`)))
}

func TestThePageIsOfflineAndHasNothingInline(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	get := func(path string) (string, http.Header) {
		r, err := http.Get(s.URL + path)
		require.NoError(t, err)
		defer r.Body.Close()
		require.Equal(t, 200, r.StatusCode, path)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return string(text), r.Header
	}
	html, header := get("/")
	require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'")
	require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
	require.NotRegexp(t, regexp.MustCompile(`(?i)https?://|<style|style=|\son\w+=|<script>`), html)
	assets := regexp.MustCompile(`/assets/[^"]+`).FindAllString(html, -1)
	for i := 0; i < len(assets); i++ {
		text, _ := get(assets[i])
		require.NotContains(t, text, "://", assets[i])
		require.NotContains(t, text, "innerHTML", assets[i])
		for _, imported := range regexp.MustCompile(`from "\./([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if path := "/assets/" + imported[1]; !slices.Contains(assets, path) {
				assets = append(assets, path)
			}
		}
	}
	require.Greater(t, len(assets), 8)
}

func TestNamesAreEscapedInDrawings(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	program := `S.put("<script>alert(1)</script>")`
	for what, of := range map[string]string{"graph": "svg", "states": "svg", "run": "sequence"} {
		v := post(t, s, what, "S = (R, INF, {})", program, map[string][]int{"run": {0}, "states": {0}}[what]...)
		require.Contains(t, v[of], "&lt;script&gt;", what)
		require.NotContains(t, v[of], "<script>", what)
	}
}
