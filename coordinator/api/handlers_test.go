package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func TestAnActionAndALimitShowTheirTasks(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	none := h.ok("GET", v1+"/actions/count", "")
	require.Equal(t, []any{"count", false, 0.0}, []any{none["action"], none["paused"], none["tasks"].(map[string]any)["waiting"]})
	h.ok("PUT", v1+"/limits/db", `{"max":1}`)
	h.ok("PUT", v1+"/limits/web", `{"rate":5}`)
	for range 3 {
		h.ok("POST", v1+"/tasks", `{"action":"count","limits":["db"]}`)
	}
	h.ok("POST", v1+"/tasks", `{"action":"other"}`)
	h.claimOne(w)
	require.Empty(t, items(h.ok("POST", w+"/claims", `{}`)), "one at a time")
	all := h.ok("GET", v1+"/limits", "")
	require.EqualValues(t, 2, all["total"])
	db := first(all)
	require.Equal(t, []any{"db", 1.0, 1.0}, []any{db["name"], db["max"], db["running"]})
	require.Len(t, items(h.ok("GET", v1+"/limits?offset=1", "")), 1)

	h.ok("POST", v1+"/actions/other/pause", "")
	shown := h.ok("GET", v1+"/actions/count", "")
	require.Equal(t, false, shown["paused"], "another action is")
	require.EqualValues(t, 1, shown["tasks"].(map[string]any)["claimed"])
	paused := h.ok("POST", v1+"/actions/count/pause", "")
	require.Equal(t, true, paused["paused"])
	require.NotEmpty(t, paused["since"])
	require.Equal(t, "count", paused["action"])
	require.Equal(t, paused["since"], h.ok("GET", v1+"/actions/count", "")["since"])
	require.NotContains(t, h.ok("POST", v1+"/actions/count/resume", ""), "since")
	h.ok("DELETE", v1+"/limits/db", "")
	require.Equal(t, "web", first(h.ok("GET", v1+"/limits", ""))["name"])
	h.claimOne(w)
}

func TestTasksAreListedByTheirFields(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/tasks", `{"action":"a","tags":["x"],"group":"g"}`)
	h.ok("POST", v1+"/tasks", `{"action":"b","tags":["y"],"group":"h"}`)
	h.ok("POST", v1+"/tasks", `{"action":"b"}`)
	for query, want := range map[string]int{
		"": 3, "action=a": 1, "action=b": 2, "tag=x": 1, "tag=z": 0, "group=h": 1, "text=none": 0, "older=3600": 0, "younger=3600": 3, "older=0": 3, "limit=2": 2, "limit=0": 0, "limit=3": 3,
		"state=waiting": 3, "state=claimed": 0, "state=dead": 0, "state=resolved": 0,
	} {
		require.Len(t, items(h.ok("GET", v1+"/tasks?"+query, "")), want, query)
	}
	h.refuses("invalid", "GET", v1+"/tasks?state=lost", "")
	h.refuses("invalid", "GET", v1+"/tasks?cursor=x", "")
	h.refuses("not_found", "GET", v1+"/tasks/t999", "")
	page := h.ok("GET", v1+"/tasks?limit=2", "")
	rest := h.ok("GET", v1+"/tasks?limit=2&cursor="+page["next"].(string), "")
	require.Len(t, items(rest), 1)
	require.Empty(t, rest["next"])
	ids := map[any]bool{}
	for _, x := range append(items(page), items(rest)...) {
		ids[x.(map[string]any)["id"]] = true
	}
	require.Len(t, ids, 3)
}

func TestRecordingsAreOfTheirOriginAndKeepAPriorityThatAUserSet(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, id := range []string{"mine", "other"} {
		_, err := h.catalog.AddOrigin(t.Context(), models.Origin{ID: id, Kind: models.API, URI: "api:" + id})
		require.NoError(t, err)
	}
	_, err := h.catalog.AddOrigin(t.Context(), models.Origin{ID: "feed", Kind: models.Feed, URI: "https://example.org/f"})
	require.NoError(t, err)
	for _, sort := range []string{"episodes", "clips"} {
		put := func(origin, names string) map[string]any {
			var all []string
			for _, name := range strings.Fields(names) {
				all = append(all, fmt.Sprintf(`{"name":%q,"uri":"https://example.org/%s","priority":3}`, name, name))
			}
			return h.ok("PUT", v1+"/"+sort, `{"origin":"`+origin+`","complete":true,"items":[`+strings.Join(all, ",")+`]}`)
		}
		require.Equal(t, []any{models.NewID("mine", "a"), models.NewID("mine", "b")}, put("mine", "a b")["ids"])
		put("other", "c")
		h.refuses("conflict", "PUT", v1+"/"+sort, `{"origin":"feed","items":[]}`)
		require.Equal(t, "api", h.ok("PUT", v1+"/"+sort, `{"origin":"api","items":[]}`)["origin"])
		require.EqualValues(t, 2, h.ok("GET", v1+"/"+sort+"?origin=mine", "")["total"], sort)
		require.EqualValues(t, 3, h.ok("GET", v1+"/"+sort, "")["total"], sort)
		path := v1 + "/" + sort + "/" + models.NewID("mine", "a")
		require.Equal(t, "a", h.ok("GET", path, "")["name"])
		require.EqualValues(t, 9, h.ok("PATCH", path, `{"priority":9}`)["priority"])
		put("mine", "a b")
		require.EqualValues(t, 9, h.ok("GET", path, "")["priority"], "the next list does not change it")
		require.EqualValues(t, 3, h.ok("DELETE", path+"/priority", "")["priority"])
		h.refuses("invalid", "PATCH", path, `{}`)
		h.refuses("not_found", "DELETE", v1+"/"+sort+"/missing/priority", "")
		h.refuses("not_found", "GET", v1+"/"+sort+"/missing", "")
		require.EqualValues(t, 1, put("mine", "a")["gone"], sort)
		require.EqualValues(t, 1, h.ok("GET", v1+"/"+sort+"?origin=mine", "")["total"], sort)
		put("mine", "a b")
	}
	require.EqualValues(t, 2, h.ok("GET", v1+"/episodes?origin=mine", "")["total"], "clips that are complete leave the episodes")
}

func TestAnAnswerNamesTheAddressOfWhatWasMade(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	location := func(method, path, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), method, h.server.URL+v1+path, strings.NewReader(body))
		require.NoError(t, err)
		answer, err := h.server.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.Header.Get("Location")
	}
	const origin = `{"kind":"feed","uri":"https://example.org/f"}`
	require.Equal(t, v1+"/origins/"+models.NewID("feed", "https://example.org/f"), location("POST", "/origins", origin))
	require.Empty(t, location("POST", "/origins", origin), "it is known")
	require.Equal(t, v1+"/tasks/t1", location("POST", "/tasks", `{"action":"a"}`))
	require.Equal(t, v1+"/schedules/daily", location("PUT", "/schedules/daily", `{"every":60,"task":{"action":"a"}}`))
	require.Empty(t, location("GET", "/origins", ""))
}

func TestTheLogOfTheControlEndpointsIsItsLatestLinesInOrder(t *testing.T) {
	t.Parallel()
	h, compat := newCompat(t)
	_, text := compatCall(t, compat, "GET", "/log?limit=1000", "")
	before := strings.Count(text, `"message"`)
	for _, minute := range []int{2, 1, 3} {
		at := time.Date(2126, 1, 2, 3, minute, 5, 0, time.UTC)
		require.NoError(t, status.Write(t.Context(), h.repo, status.Line{At: at, ID: h.repo.Session(), Level: "warn", Message: fmt.Sprint("minute ", minute)}))
	}
	code, text := compatCall(t, compat, "GET", "/log?limit=2", "")
	require.Equal(t, 200, code)
	require.NotContains(t, text, "minute 1")
	require.Less(t, strings.Index(text, "minute 2"), strings.Index(text, "minute 3"))
	require.Contains(t, text, fmt.Sprintf(`"total":%d`, before+3))
	require.Contains(t, text, `"session":"api-1","level":"warn"`)
	_, text = compatCall(t, compat, "GET", "/log?limit=1000", "")
	require.Equal(t, before+3, strings.Count(text, `"message"`), "all of fewer lines")

	longest := "https://example.org/" + strings.Repeat("a", 4096-len("https://example.org/"))
	code, text = compatCall(t, compat, "POST", "/add", longest)
	require.Equal(t, 201, code, text)
	code, _ = compatCall(t, compat, "POST", "/add", longest+"a")
	require.Equal(t, 400, code)
	code, _ = compatCall(t, compat, "POST", "/add", "ssh://git@example.org/x.git")
	require.Equal(t, 201, code)
	id := models.NewID("git", "ssh://git@example.org/x.git")
	now := time.Now().UTC()
	h.ok("POST", v1+"/visits/outcomes", marshal(t, models.Outcome{Origin: id, Status: models.Eventful, At: now, Digest: "a"}))
	code, _ = compatCall(t, compat, "POST", "/add", "ssh://git@example.org/x.git")
	require.Equal(t, 200, code)
	shown := h.ok("GET", v1+"/origins/"+id+"/schedule", "")
	require.True(t, shown["asked"] == true || shown["why"] == "in flight", "it is visited again: %v", shown)
}

func TestTheSlotsOfAllManagersAreTheCapacity(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.EqualValues(t, 0, h.ok("GET", v1+"/visits/capacity", "")["slots"])
	for i, serves := range []tuple.Tuple{tuple.New("visit", int64(3)), tuple.New("visit", int64(2)), tuple.New("count", int64(9))} {
		repo, err := h.c.Connect(t.Context(), []string{"manager", "manager", "worker"}[i], 0)
		require.NoError(t, err)
		_, err = repo.Call(t.Context(), space.OpID{}, "status.beat", tuple.New("idle", "2026-11-21T06:00:00Z", serves))
		require.NoError(t, err)
	}
	require.EqualValues(t, 5, h.ok("GET", v1+"/visits/capacity", "")["slots"])
	require.EqualValues(t, 7, h.ok("GET", v1+"/visits/capacity?slots=7", "")["slots"])
}

// droppingIndex keeps which repositories are dropped.
type droppingIndex struct {
	fixedIndex
	dropped []string
}

func (x *droppingIndex) DropRepo(_ context.Context, id string) error {
	x.dropped = append(x.dropped, id)
	return x.err
}

func TestTheFilesOfAnOriginGoWithItAlsoAfterARemovalThatWasCutOff(t *testing.T) {
	t.Parallel()
	index := &droppingIndex{}
	h := newFixtureWith(t, func(c *api.Config) { c.Index = index })
	id := h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git"}`)["id"].(string)
	h.ok("DELETE", v1+"/origins/"+id, "")
	h.refuses("not_found", "DELETE", v1+"/origins/"+id, "")
	require.Equal(t, []string{id, id}, index.dropped)
	h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git"}`)
	index.err = fault.ErrUnavailable
	h.refuses("unavailable", "DELETE", v1+"/origins/"+id, "")
}

func TestABulkRequestMayBeLargerThanOthers(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, err := h.catalog.AddOrigin(t.Context(), models.Origin{ID: "o", Kind: models.API, URI: "api:o"})
	require.NoError(t, err)
	title := strings.Repeat("x", 2<<20)
	h.ok("POST", v1+"/catalog/curate", `{"origin":"o","at":"2026-01-01T00:00:00Z","clips":[{"id":"","origin":"o","name":"c","priority":0,"media":{"uri":"u"},"first_curated":"2026-01-01T00:00:00Z","last_curated":"2026-01-01T00:00:00Z","title":"`+title+`"}]}`)
	h.refuses("too_large", "PUT", v1+"/clips", `{"items":[{"name":"c","title":"`+title+`","uri":"https://example.org/c.wav"}]}`)
}

// templateOfTask returns a template that matches the task that waits.
func (h *fixture) templateOfTask() string {
	h.Helper()
	var template []string
	for n, f := range first(h.ok("GET", v1+"/spaces/task/tuples", ""))["fields"].([]any) {
		field := f.(map[string]any)
		if n < 2 {
			template = append(template, field["value"].(string))
		} else {
			template = append(template, "?"+field["type"].(string))
		}
	}
	return strings.Join(template, " ")
}

// A get of a task is a claim, which must not stay if its response cannot be written.
func TestATaskThatIsTakenFromItsSpaceComesBackIfTheResponseCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/tasks", `{"action":"count"}`)
	template := h.templateOfTask()
	get := func(w http.ResponseWriter) {
		body := strings.NewReader(`{"template":"` + template + `"}`)
		h.server.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1"+v1+"/spaces/task/get", body))
	}
	claims := func() int {
		n, err := h.repo.Space(lease.Space).Count(t.Context(), task.AnyClaim())
		require.NoError(t, err)
		return n
	}
	get(brokenWriter{httptest.NewRecorder()})
	require.Zero(t, claims())
	waiting := items(h.ok("GET", v1+"/tasks?state=waiting", ""))
	require.Len(t, waiting, 1)
	require.EqualValues(t, 0, waiting[0].(map[string]any)["attempts"])
	w := httptest.NewRecorder()
	get(w)
	require.Equal(t, 200, w.Code, w.Body)
	require.Equal(t, 1, claims())
}
