package api_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
)

// The messages of the API name the bounds of its fields. A value at a bound is accepted, and one just
// beyond it is refused.
func TestWhatIsAtABoundIsAcceptedAndBeyondItRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/visit-types", `{"type":"svn"}`)
	recording := func(name, title int) string {
		return fmt.Sprintf(`{"items":[{"name":%q,"title":%q,"uri":"https://example.org/a.mp3"}]}`, strings.Repeat("n", name), strings.Repeat("t", title))
	}
	limit := func(limit int) string { return fmt.Sprintf(`{"type":"svn","limit":%d}`, limit) }
	task := func(option string) string { return `{"action":"a","data":{},` + option + `}` }
	most := strconv.Itoa(int(lease.MaxTTL.Seconds()))
	names := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("n%d", i))
		}
		return marshal(t, all)
	}
	for _, c := range []struct{ method, path, at, beyond string }{
		{"PUT", "/clips", recording(1, 0), recording(0, 0)},
		{"PUT", "/clips", recording(1024, 0), recording(1025, 0)},
		{"PUT", "/episodes", recording(1, 4096), recording(1, 4097)},
		{"POST", "/visits/claims", limit(1), limit(0)},
		{"POST", "/visits/claims", limit(1000), limit(1001)},
		{"PUT", "/limits/a", `{"max":1}`, `{"max":-1}`},
		{"PUT", "/limits/b", `{"rate":0.000001}`, `{"rate":0.0000009}`},
		{"PUT", "/limits/c", `{"rate":1000000}`, `{"rate":1000001}`},
		{"PUT", "/limits/d", `{"max":0,"rate":0}`, `{"max":0,"rate":-1}`},
		{"POST", "/tasks", task(`"max_attempts":1000`), task(`"max_attempts":1001`)},
		{"POST", "/tasks", task(`"max_attempts":0`), task(`"max_attempts":-1`)},
		{"POST", "/tasks", task(`"timeout":` + most), task(`"timeout":` + most + `.1`)},
		{"POST", "/tasks", task(`"timeout":0.001`), task(`"timeout":0`)},
		{"POST", "/tasks", task(`"backoff":` + most), task(`"backoff":` + most + `.1`)},
		{"POST", "/tasks", task(`"backoff":0`), task(`"backoff":-0.001`)},
		{"POST", "/tasks", task(`"result_tuple":true,"result_ttl":` + most), task(`"result_tuple":true`)},
		{"POST", "/tasks", task(`"result_ttl":` + most + `,"result_tuple":true`), task(`"result_ttl":5`)},
		{"POST", "/tasks", task(`"on_failure":"run","after":["t1"]`), task(`"on_failure":"stay","after":["t1"]`)},
		{"POST", "/tasks", task(`"on_failure":"run","after":["t1"]`), task(`"on_failure":"run"`)},
		{"POST", "/tasks", task(`"on_limit":"drop","limits":["l"]`), task(`"on_limit":"hope","limits":["l"]`)},
		{"POST", "/tasks", task(`"on_limit":"drop","limits":["l"]`), task(`"on_limit":"drop"`)},
		{"POST", "/tasks", task(`"on_conflict":"keep","unique_key":"k"`), task(`"on_conflict":"keep"`)},
		{"POST", "/tasks", task(`"on_limit":"drop","limits":[]`), task(`"on_limit":"hope","limits":[]`)},
		{"POST", "/tasks", task(`"on_failure":"run","after":[]`), task(`"on_failure":"stay","after":[]`)},
		{"POST", "/tasks", task(`"on_conflict":"keep","unique_key":""`), task(`"on_conflict":"stay","unique_key":""`)},
		{"PUT", "/schedules/s", `{"every":60,"task":{"action":"a","on_limit":"drop","limits":[]}}`, `{"every":60,"task":{"action":"a","on_limit":"hope","limits":[]}}`},
		{"PUT", "/schedules/s", `{"cron":"@daily","task":{"action":"a"}}`, `{"cron":"@daily","every":60,"task":{"action":"a"}}`},
		{"PUT", "/schedules/s", `{"every":60,"task":{"action":"a","on_limit":"drop","limits":["l"]}}`, `{"every":60,"task":{"action":"a","on_limit":"drop"}}`},
		{"POST", "/tasks", task(`"unique_key":"` + strings.Repeat("k", 200) + `"`), task(`"unique_key":"` + strings.Repeat("k", 201) + `"`)},
		{"POST", "/tasks", task(`"group":"` + strings.Repeat("g", 200) + `"`), task(`"group":"` + strings.Repeat("g", 201) + `"`)},
		{"POST", "/tasks", task(`"tags":` + names(16)), task(`"tags":` + names(17))},
		{"POST", "/tasks", task(`"limits":` + names(8)), task(`"limits":` + names(9))},
		{"POST", "/tasks", task(`"tags":["a","b"]`), task(`"tags":["a","a"]`)},
	} {
		h.ok(c.method, v1+c.path, c.at)
		h.refuses("invalid", c.method, v1+c.path, c.beyond)
	}
	_, problem := h.call("POST", v1+"/tasks", task(`"timeout":`+most+`.1`))
	require.Contains(t, problem["detail"], "timeout "+most+".1")
	for _, path := range []string{"/origins?offset=2147483647", "/origins?limit=10000", "/origins?limit=0", "/visits/capacity?slots=1048576", "/tasks?limit=1000", "/actions/a?target_wait=1", "/actions/a?target_wait=86400"} {
		h.ok("GET", v1+path, "")
	}
	for _, path := range []string{"/origins?offset=2147483648", "/origins?offset=-1", "/origins?limit=10001", "/visits/capacity?slots=1048577", "/tasks?limit=1001", "/actions/a?target_wait=0", "/actions/a?target_wait=86401"} {
		h.refuses("invalid", "GET", v1+path, "")
	}
}

func TestValuesOfSessionsClaimsAndListsAtTheirBoundsAreAcceptedAndTheErrorBeyondNamesThem(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	lister := v1 + "/listers/" + h.ok("POST", v1+"/listers", `{"kind":"lister","uri":"mine"}`)["id"].(string) + "/origins"
	worker := h.openWorker("a")
	serves := func(slots, actions int) string {
		var all []string
		for n := range actions {
			all = append(all, fmt.Sprintf(`{"action":"a%d","slots":%d}`, n, slots))
		}
		return `{"serves":[` + strings.Join(all, ",") + `]}`
	}
	text := func(field string, n int) string { return fmt.Sprintf(`{%q:%q}`, field, strings.Repeat("x", n)) }
	list := func(origins int, more string) string {
		one := `{"kind":"feed","uri":"https://example.org/feed"}`
		return `{"origins":[` + strings.TrimSuffix(strings.Repeat(one+",", origins), ",") + `]` + more + `}`
	}
	for _, c := range []struct{ path, at, beyond, says string }{
		{v1 + "/sessions", `{"ttl":60}`, `{"ttl":60.001}`, "ttl 60.001: invalid: want 1 to 60 seconds"},
		{v1 + "/sessions", `{"ttl":1}`, `{"ttl":0.999}`, "ttl 0.999: invalid: want 1 to 60 seconds"},
		{v1 + "/sessions", text("name", space.MaxName), text("name", space.MaxName+1), "name"},
		{v1 + "/sessions", text("host", space.MaxName), text("host", space.MaxName+1), "host"},
		{v1 + "/sessions", text("version", space.MaxName), text("version", space.MaxName+1), "version"},
		{v1 + "/sessions", serves(1, status.MaxServed), serves(1, status.MaxServed+1), "serves: invalid: 63 actions, at most 62"},
		{v1 + "/sessions", serves(1, 2), serves(0, 2), `serves: action "a0", slots 0`},
		{v1 + "/sessions", serves(status.MaxSlots, 1), serves(status.MaxSlots+1, 1), "1 to 16384 slots"},
		{worker + "/claims", `{"limit":64}`, `{"limit":65}`, "limit 65: invalid: want 0 to 64"},
		{worker + "/claims", `{"limit":0,"wait":25}`, `{"limit":65}`, "limit 65: invalid: want 0 to 64"},
		{worker + "/claims", `{"finish":[{"task":"t1","hand_back":{"token":1}}],"limit":0}`, `{"limit":-1}`, "limit -1"},
		{worker + "/claims", `{"wait":0}`, `{"wait":-0.001}`, "wait -0.001: invalid: want 0 to 25 seconds"},
		{lister, list(models.MaxListed, ""), list(models.MaxListed+1, ""), "at most 5000 origins"},
		{lister, list(0, `,"from":0`), list(0, `,"from":-1`), "from"},
		{lister, list(0, `,"next":0`), list(0, `,"next":-1`), "next"},
		{lister, list(1, `,"next":1`), list(1, `,"next":2`), "next 2: conflict: want 1"},
	} {
		h.ok("POST", c.path, c.at)
		code, problem := h.call("POST", c.path, c.beyond)
		want := 400
		if strings.Contains(c.says, "conflict") {
			want = 409
		}
		require.Equal(t, want, code, c.says)
		require.Contains(t, problem["detail"], c.says)
	}
	longest := 366 * 24 * time.Hour.Seconds()
	for _, end := range []string{"release", "hand-back"} {
		h.ok("POST", v1+"/tasks", `{"action":"a","max_attempts":9}`)
		path, token := h.claimOne(worker)
		for _, beyond := range []float64{-0.001, longest + 0.1} {
			code, problem := h.call("POST", path+"/"+end, fmt.Sprintf(`{"token":%d,"delay":%f}`, token, beyond))
			require.Equal(t, 400, code, end)
			require.Contains(t, problem["detail"], "delay")
		}
		h.ok("POST", path+"/"+end, fmt.Sprintf(`{"token":%d,"delay":%f}`, token, longest))
		require.Empty(t, items(h.ok("POST", worker+"/claims", `{}`)), "it waits for its delay")
	}
}

func TestALongPasswordIsNotInTheErrorOfAURLThatIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	uri := "ftp://bob:" + strings.Repeat("s3cret", 30) + "@example.org/x"
	for _, refused := range []struct{ method, path, body string }{
		{"POST", "/origins", `{"kind":"feed","uri":"` + uri + `"}`},
		{"POST", "/listers", `{"kind":"urls","uri":"` + uri + `"}`},
		{"PUT", "/episodes", `{"items":[{"name":"a","uri":"` + uri + `"}]}`},
	} {
		_, answer := h.call(refused.method, v1+refused.path, refused.body)
		require.Contains(t, answer["detail"], models.Redacted+"@example.org")
		require.NotContains(t, answer["detail"], "s3cret")
	}
}

func TestAnEmptyBodyIsAnEmptyObjectIfEachFieldIsOptional(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.ok("POST", v1+"/tasks", `{"action":"a"}`)["id"].(string)
	h.ok("POST", v1+"/tasks/"+id+"/cancel", "")
	require.Equal(t, "cancelled", h.ok("GET", v1+"/tasks/"+id, "")["state"])
	session := v1 + "/sessions/" + h.ok("POST", v1+"/sessions", "")["id"].(string)
	code, problem := h.call("POST", session+"/claims", "")
	require.Equal(t, 409, code)
	require.Contains(t, problem["detail"], "the session serves none")
	for path, want := range map[string]string{
		"PUT " + v1 + "/limits/a":    "got nothing",
		"PATCH " + v1 + "/origins/a": "got nothing",
		"POST " + v1 + "/tasks":      "got nothing",
		"PUT " + v1 + "/episodes":    "got nothing",
	} {
		method, path, _ := strings.Cut(path, " ")
		code, problem := h.call(method, path, "")
		require.Equal(t, 400, code, path)
		require.Contains(t, problem["detail"], want, path)
	}
}

func TestRecordingsOfOneNameInARequestAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, path := range []string{"/episodes", "/clips"} {
		code, problem := h.call("PUT", v1+path, `{"items":[{"name":"a","uri":"https://example.org/1.mp3"},{"name":"b","uri":"https://example.org/2.mp3"},{"name":"a","uri":"https://example.org/3.mp3"}]}`)
		require.Equal(t, 409, code, path)
		require.Contains(t, problem["detail"], `items: conflict: "a" is listed twice`)
		require.Empty(t, items(h.ok("GET", v1+path, "")), "none is curated")
	}
}
