package page_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/page"
)

func TestCountsAreOfOneSearch(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	const stops = "x = 0, S = (R, 1, {})\n---\nloop x < 9 -> x := x + 1 [] x < 9 -> x := x + 2 [] x > 2 -> S.get(1) pool"
	check := post(t, s, "check", "", stops)
	require.Equal(t, true, check["whole"])
	states := post(t, s, "states", "", stops)
	require.Len(t, states["ways"], int(check["states"].(float64)), "all states are drawn")
	require.Empty(t, states["open"])
	require.Len(t, check["finals"], int(check["stuck"].(float64)))

	// A stuck state in the last level of an incomplete search is counted.
	s = serve(t, page.Limits{States: 3})
	check = post(t, s, "check", "", "x = 0, S = (R, 1, {})\n---\nif true -> S.get(1) [] true -> loop true -> x := x + 1 pool fi")
	require.Equal(t, "violated", check["outcome"])
	require.EqualValues(t, 1, check["stuck"])
}

func TestStuckStatesAreListedWithTheirRuns(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	const start, program = "x = 0, S = (R, 1, {})", "par\n do x < 30 -> x := x + 1 od\n[] S.get(7) rap"
	check := post(t, s, "check", start, program)
	require.EqualValues(t, 1, check["stuck"])
	final := check["finals"].([]any)[0].(map[string]any)
	var choices []int
	for _, c := range final["choices"].([]any) {
		choices = append(choices, int(c.(float64)))
	}
	run := post(t, s, "run", start, program, choices...)
	require.Equal(t, "stuck", run["state"])

	check = post(t, s, "check", "", "x = 0, S = (R, 1, {})\n---\nif true -> S.get(1) "+strings.Repeat("[] true -> S.get(2); skip ", 24)+"fi")
	require.EqualValues(t, 25, check["stuck"])
	require.Len(t, check["finals"], 20)
}

func TestARunGoesBackAndForth(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	v := ask(t, s.URL+"/run", "application/json", `{"init": "`+forks+`", "program": "`+strings.ReplaceAll(diners, "\n", `\n`)+`", "choices": [0], "ahead": [1]}`)
	run := v.(map[string]any)
	require.Len(t, run["steps"], 1)
	require.Len(t, run["ahead"], 1)
	require.Equal(t, "extendable", run["state"])
	states := ask(t, s.URL+"/states", "application/json", `{"init": "`+forks+`", "program": "`+strings.ReplaceAll(diners, "\n", `\n`)+`", "choices": [0], "ahead": [1]}`).(map[string]any)
	require.Len(t, states["run"], 3)
	require.EqualValues(t, 1, states["at"])
}

func TestALargeStateGraphIsOpenedStepByStep(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{Drawn: 5})
	ask := func(expanded string) map[string]any {
		return ask(t, s.URL+"/states", "application/json", `{"program": "x = 0\n---\nloop true -> x := x + 1 pool", "expanded": `+expanded+`}`).(map[string]any)
	}
	require.Len(t, ask("[]")["ways"], 5)
	require.Equal(t, []any{4.0}, ask("[]")["open"])
	require.Equal(t, []any{6.0}, ask("[[0,0,0,0,0]]")["open"])
	require.Len(t, ask("[[" + strings.Repeat("0,", 99) + "0]]")["ways"], 20, "four times as many are drawn at most")
}

func TestBoxesAreFormatted(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	v := post(t, s, "format", "x=0", "x:=1;skip")
	require.Equal(t, "x = 0\n", v["init"])
	require.Equal(t, "x := 1;\nskip\n", v["program"])
	require.Contains(t, fmt.Sprint(post(t, s, "format", "x=", "skip")["errors"]), "box:init")
	require.Contains(t, fmt.Sprint(post(t, s, "check", "x = 0", "")["errors"]), "box:program column:1 line:1")
}

// ask posts a body and returns the decoded answer.
func ask(t *testing.T, url, kind, body string) any {
	t.Helper()
	r, err := http.Post(url, kind, strings.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, 200, r.StatusCode, string(text))
	var v any
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

func TestExamplesAreWhatTheirTitlesSay(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	r, err := http.Get(s.URL + "/examples")
	require.NoError(t, err)
	defer r.Body.Close()
	var all []struct{ Title, Init, Program string }
	require.NoError(t, json.NewDecoder(r.Body).Decode(&all))
	outcomes := map[string]string{
		"Two philosophers": "violated", "Philosophers with tickets": "holds", "Buffer: the lock before the slot": "violated",
		"Buffer: the slot before the lock": "holds", "Readers and a writer": "holds", "Queue with two workers": "holds",
		"Small model of the report, as printed": "violated", "Small model of the report, repaired": "holds",
		"Large model of the report, repaired (one manager, two workers)": "holds",
		"Large model of the report, as printed":                          "", "Lease": "", "Lease: a late result shows no token": "",
	}
	require.Len(t, all, len(outcomes))
	for _, e := range all {
		want, ok := outcomes[e.Title]
		require.True(t, ok, e.Title)
		require.Nil(t, post(t, s, "graph", e.Init, e.Program)["errors"], e.Title)
		if want != "" {
			require.Equal(t, want, post(t, s, "check", e.Init, e.Program)["outcome"], e.Title)
		}
	}
}

func TestNetsAreChecked(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	petri := func(net, final string) map[string]any {
		body, err := json.Marshal(map[string]string{"net": net, "final": final})
		require.NoError(t, err)
		return ask(t, s.URL+"/petri", "application/json", string(body)).(map[string]any)
	}
	const net = ".name \"n\"\n.type PN\n.places\na b\n.transitions\nt\n.flows\nt: {a} -> {b}\n.initial_marking {a}\n"
	v := petri(net, "{b}")
	require.Contains(t, v["svg"], "<svg")
	require.Contains(t, fmt.Sprint(v["findings"]), "property:completes")
	require.Contains(t, fmt.Sprint(petri(strings.Replace(net, "a b", "a", 1), "")["errors"]), "box:net")
	require.Contains(t, fmt.Sprint(petri(net, "{c}")["errors"]), "box:final")
	require.Contains(t, fmt.Sprint(petri("", "")["errors"]), "box:net")
	require.Nil(t, petri(".name \"n\"\n.type PN\n.places\na\n.transitions\n.flows\n.initial_marking {a}\n", "")["errors"])
}

func TestATraceIsCheckedAgainstAllModels(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	const reload = `{"seq":1,"clock":0,"process":"","operation":"reload"}` + "\n"
	reports := ask(t, s.URL+"/conform", "application/x-ndjson", reload).([]any)
	require.Contains(t, fmt.Sprint(reports), "model:lease")

	foreign, err := os.ReadFile("testdata/late.jsonl")
	require.NoError(t, err)
	reports = ask(t, s.URL+"/conform", "application/x-ndjson", string(foreign)).([]any)
	require.Contains(t, fmt.Sprint(reports), "outcome:violates")

	for i := 0; i < len(foreign); i += 41 {
		r, err := http.Post(s.URL+"/conform", "application/x-ndjson", strings.NewReader(string(foreign[:i])))
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		require.Contains(t, []int{200, 400}, r.StatusCode, "cut at %d", i)
	}

	r, err := http.Post(s.URL+"/conform", "application/x-ndjson", strings.NewReader("no trace\n"))
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, 400, r.StatusCode)
	require.Contains(t, string(text), "line 1: not a log of a coordinator")
}
