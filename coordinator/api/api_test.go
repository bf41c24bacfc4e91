package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const v1 = "/api/v1"

func TestAnOriginIsAddedVisitedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	feed := `{"kind":"feed","uri":"https://example.org/feed.xml","priority":3}`
	status, o := h.call("POST", v1+"/origins", feed)
	require.Equal(t, http.StatusCreated, status)
	id := o["id"].(string)
	require.Equal(t, models.NewID("feed", "https://example.org/feed.xml"), id)
	status, _ = h.call("POST", v1+"/origins", strings.Replace(feed, "3", "4", 1))
	require.Equal(t, http.StatusOK, status, "it is known")
	require.EqualValues(t, 4, h.ok("GET", v1+"/origins/"+id, "")["priority"])
	require.EqualValues(t, 9, h.ok("PATCH", v1+"/origins/"+id, `{"priority":9}`)["priority"])
	require.EqualValues(t, 9, first(h.ok("GET", v1+"/origins", ""))["priority"])
	require.EqualValues(t, 9, h.ok("POST", v1+"/origins", strings.Replace(feed, `,"priority":3`, "", 1))["priority"], "it keeps its own")

	v, err := visit.Client{Repo: h.repo}.Take(t.Context())
	require.NoError(t, err)
	require.Equal(t, id, v.Origin.ID)
	require.EqualValues(t, 1, h.ok("GET", v1+"/visits?origin="+id, "")["total"])
	again := h.ok("POST", v1+"/visits", `{"origin":"`+id+`"}`)
	require.Equal(t, v.ID, again["id"], "one visit at a time")
	require.Equal(t, "held", again["state"])

	require.Nil(t, h.ok("DELETE", v1+"/origins/"+id, ""))
	h.refuses("not_found", "DELETE", v1+"/origins/"+id, "")
	h.refuses("not_found", "POST", v1+"/visits", `{"origin":"`+id+`"}`)
}

func TestACuratorPutsEpisodesAndClipsWithPriorities(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	put := h.ok("PUT", v1+"/episodes", `{"items":[
		{"name":"low","uri":"https://example.org/1.mp3","version":"1"},
		{"name":"high","title":"High","uri":"https://example.org/2.mp3","priority":5,"aired":"2026-11-01T00:00:00Z"}]}`)
	require.EqualValues(t, 2, put["new"])
	require.Equal(t, "api", put["origin"])
	ids := put["ids"].([]any)
	h.ok("PUT", v1+"/clips", `{"items":[{"name":"jingle","uri":"https://example.org/j.wav","priority":2}]}`)

	r, priority, err := h.catalog.Select(t.Context(), nil, catalog.Limits{Clips: 9})
	require.NoError(t, err)
	require.Equal(t, "High", r.Episode.Title)
	require.EqualValues(t, 5, priority)
	require.EqualValues(t, 7, h.ok("PATCH", v1+"/episodes/"+ids[0].(string), `{"priority":7}`)["priority"])
	r, _, err = h.catalog.Select(t.Context(), nil, catalog.Limits{Clips: 9})
	require.NoError(t, err)
	require.Equal(t, "low", r.Episode.Title)

	clip := first(h.ok("GET", v1+"/clips?origin=api", ""))
	require.EqualValues(t, -1, h.ok("PATCH", v1+"/clips/"+clip["id"].(string), `{"priority":-1}`)["priority"])
	require.EqualValues(t, 2, h.ok("GET", v1+"/episodes?limit=1", "")["total"])
	require.EqualValues(t, 0, h.ok("GET", v1+"/episodes?origin=other", "")["total"])

	gone := h.ok("PUT", v1+"/episodes", `{"complete":true,"items":[{"name":"low","uri":"https://example.org/1.mp3","version":"1"}]}`)
	require.EqualValues(t, 1, gone["gone"], "of the episodes; the clips stay")
	require.Equal(t, map[string]any{"origins": 1.0, "episodes": 1.0, "clips": 1.0, "findings": 0.0, "problems": 0.0, "researched": 0.0},
		h.ok("GET", v1+"/totals", ""))

	h.refuses("conflict", "POST", v1+"/visits", `{"origin":"api"}`)
	h.refuses("not_found", "PATCH", v1+"/episodes/missing", `{"priority":1}`)
}

func TestChangingAPriorityKeepsTheProblemsOfTheOrigin(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, err := h.catalog.AddOrigin(t.Context(), models.Origin{ID: "f", Kind: models.Feed, URI: "u"})
	require.NoError(t, err)
	_, err = h.catalog.Curate(t.Context(), "f", time.Now(), catalog.Listing{
		Episodes: []models.Episode{{Recording: models.Recording{Name: "e"}}},
		Problems: []models.Problem{{Item: "x", Reason: "no enclosure"}},
	})
	require.NoError(t, err)
	before := h.ok("GET", v1+"/problems", "")
	h.ok("PATCH", v1+"/episodes/"+models.NewID("f", "e"), `{"priority":1}`)
	require.Equal(t, before, h.ok("GET", v1+"/problems?origin=f", ""))
}

func TestFindingsAndProblemsAreListedByOriginEpisodeAndClip(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("PUT", v1+"/episodes", `{"items":[{"name":"e","title":"Monday","uri":"https://example.org/1.mp3"}]}`)
	h.ok("PUT", v1+"/clips", `{"items":[{"name":"a","uri":"https://example.org/a.wav"},{"name":"b","uri":"https://example.org/b.wav"}]}`)
	e, a, b := models.NewID("api", "e"), models.NewID("api", "a"), models.NewID("api", "b")
	none := map[string]models.MediaRef{a: {}, b: {}}
	require.NoError(t, h.catalog.Ingest(t.Context(), models.Researched{
		Episode: e, Clips: []string{a}, ClipMedia: none,
		Findings: []models.Finding{{Episode: e, Clip: a, Occurrence: models.Occurrence{Offset: 77.19, Duration: 2, Score: 0.97, PartFrom: 0.5, PartTo: 2.5}}, {Episode: e, Clip: a, Occurrence: models.Occurrence{Offset: 90, Duration: 2, Score: 0.9}}},
	}, time.Now()))
	require.NoError(t, h.catalog.Ingest(t.Context(), models.Researched{
		Episode: e, Clips: []string{b}, ClipMedia: none, Problem: "too long", Scope: models.ScopePair,
	}, time.Now()))

	require.Equal(t, map[string]any{
		"episode": "Monday", "clip": "a", "offset_s": 77.19, "duration_s": 2.0, "score": 0.97, "part_from_s": 0.5, "part_to_s": 2.5,
		"episode_id": e, "clip_id": a, "episode_uri": "https://example.org/1.mp3",
	}, first(h.ok("GET", v1+"/findings?limit=1&episode="+e, "")))
	require.EqualValues(t, 2, h.ok("GET", v1+"/findings?limit=0", "")["total"])
	require.Len(t, items(h.ok("GET", v1+"/findings?offset=1", "")), 1)
	require.Empty(t, items(h.ok("GET", v1+"/findings?clip="+b, "")))
	require.Equal(t, "too long", first(h.ok("GET", v1+"/problems?clip="+b, ""))["reason"])
	require.Empty(t, items(h.ok("GET", v1+"/problems?clip="+a, "")))
}

func TestATupleIsPutFoundAndTaken(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.NoError(t, h.repo.Create(t.Context(), "notes", space.Options{Capacity: 2}))
	put := h.ok("POST", v1+"/spaces/notes/put", `{"tuple":"note 'two words' 42 4.2 true int:1 (a nil)"}`)
	require.Equal(t, "note 'two words' 42 4.2 true int:1 (a nil)", put["line"])
	require.Equal(t, map[string]any{"type": "int64", "value": 42.0}, put["fields"].([]any)[2])
	h.ok("POST", v1+"/spaces/notes/put", `{"tuple":"note x", "ttl_s": 3600}`)
	h.refuses("overloaded", "POST", v1+"/spaces/notes/put", `{"tuple":"note y"}`)

	for template, want := range map[string]int{"": 2, "note+...": 2, "note+%3Fstring": 1, "note+%3Fstring+...": 2, "other+...": 0, "note+'two+words'+42+...": 1} {
		got := h.ok("GET", v1+"/spaces/notes/tuples?template="+template, "")
		require.Len(t, items(got), want, template)
		require.EqualValues(t, want, got["total"])
	}
	require.Equal(t, "note x", h.ok("POST", v1+"/spaces/notes/query", `{"template":"note ?string"}`)["line"])
	require.Equal(t, "note x", h.ok("POST", v1+"/spaces/notes/get", `{"template":"note ?string"}`)["line"])
	h.refuses("not_found", "POST", v1+"/spaces/notes/get", `{"template":"note ?string"}`)
	h.refuses("not_found", "POST", v1+"/spaces/notes/get", `{"template":"note ?string", "wait_s": 0.01}`)
	info := h.ok("GET", v1+"/spaces/notes", "")
	require.EqualValues(t, 1, info["visible"])
	require.Contains(t, items(h.ok("GET", v1+"/spaces", "")), info)
}

func TestAGetOverHTTPMayWait(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.NoError(t, h.repo.Create(t.Context(), "notes", space.Options{}))
	got := make(chan map[string]any, 1)
	go func() {
		r, _ := http.NewRequest("POST", h.server.URL+v1+"/spaces/notes/get", strings.NewReader(`{"template":"late ?int64","wait_s":20}`))
		_, v := h.send(r)
		got <- v
	}()
	// The put may come before the get or after it.
	require.NoError(t, h.repo.Space("notes").Put(t.Context(), tuple.New("late", int64(7)), 0))
	require.Equal(t, "late 7", (<-got)["line"])
}

func TestSpacesOfTheProtocolsCanOnlyBeQueried(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, name := range []string{"lease", "dead"} {
		h.refuses("forbidden", "POST", v1+"/spaces/"+name+"/put", `{"tuple":"x"}`)
		h.refuses("forbidden", "POST", v1+"/spaces/"+name+"/get", `{"template":"x"}`)
		h.refuses("not_found", "POST", v1+"/spaces/"+name+"/query", `{"template":"x"}`)
		require.Equal(t, true, h.ok("GET", v1+"/spaces/"+name, "")["query_only"])
	}
}

func TestATaskIsCreatedAndShownWhileItWaitsAndIsHeld(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	status, created := h.call("POST", v1+"/tasks", `{"action":"count","data":{"n":1},"priority":5,"timeout":60}`)
	require.Equal(t, http.StatusCreated, status)
	id := created["id"].(string)
	require.Equal(t, map[string]any{"n": 1.0}, h.ok("GET", v1+"/tasks/"+id, "")["data"])
	row := first(h.ok("GET", v1+"/tasks?action=count", ""))
	require.Equal(t, "waiting", row["state"])
	require.EqualValues(t, 5, row["priority"])
	require.NotContains(t, row, "data")

	i, err := task.Client{Repo: h.repo}.Claim(t.Context(), "count")
	require.NoError(t, err)
	require.Equal(t, "claimed", h.ok("GET", v1+"/tasks/"+id, "")["state"])
	require.Equal(t, h.repo.Session(), first(h.ok("GET", v1+"/tasks", ""))["session"])
	require.Empty(t, h.ok("GET", v1+"/tasks?state=waiting", "")["items"])
	require.NoError(t, task.Client{Repo: h.repo}.Report(t.Context(), i, "", true, "done"))
	require.Equal(t, "resolved", h.ok("GET", v1+"/tasks/"+id, "")["state"])

	h.refuses("invalid", "POST", v1+"/tasks", `{"action":"no id"}`)
	h.refuses("invalid", "POST", v1+"/tasks", `{"action":"a","timeout":0}`)
	h.refuses("invalid", "POST", v1+"/tasks", `{"action":"a","timeout":1e99}`)
	h.refuses("too_large", "POST", v1+"/tasks", `{"action":"a","data":"`+strings.Repeat("x", 600_000)+`"}`)
}

// kill claims and releases a task until it is dead.
func (h *fixture) kill(action string) {
	for n := range 2 {
		i, err := task.Client{Repo: h.connect()}.Claim(h.Context(), action)
		require.NoError(h, err)
		require.EqualValues(h, n, i.Attempts)
		require.NoError(h, task.Client{Repo: h.last}.Release(h.Context(), i, "cannot"))
	}
}

func TestFault31ADeadLetterIsShownAndRequeued(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/tasks", `{"action":"count","data":{"n":1}}`)
	h.kill("count")
	row := first(h.ok("GET", v1+"/dead?action=count", ""))
	require.Contains(t, row["note"], "cannot")
	require.Len(t, row["history"], 2)
	id := row["id"].(string)
	require.Equal(t, map[string]any{"n": 1.0}, h.ok("GET", v1+"/dead/"+id, "")["data"])
	again := h.ok("POST", v1+"/dead/"+id+"/requeue", "")
	require.Equal(t, false, again["selectable"])
	require.EqualValues(t, 0, again["task"].(map[string]any)["attempts"])
	require.Len(t, h.ok("GET", v1+"/tasks", "")["items"], 1)
	require.Empty(t, h.ok("GET", v1+"/dead", "")["items"])
	h.refuses("not_found", "POST", v1+"/dead/"+id+"/requeue", "")
	h.refuses("not_found", "DELETE", v1+"/dead/"+id, "")
}

func TestDeadResearchIsSelectedAgainOnceItIsRequeued(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("PUT", v1+"/episodes", `{"items":[{"name":"e","uri":"https://example.org/1.mp3"}]}`)
	h.ok("PUT", v1+"/clips", `{"items":[{"name":"c","uri":"https://example.org/c.wav"}]}`)
	client := work.Client{Repo: h.repo}
	research, priority, err := h.catalog.Select(t.Context(), nil, catalog.Limits{Clips: 9})
	require.NoError(t, err)
	_, err = client.Issue(t.Context(), work.InProgress{}, models.Task{
		Action: models.ActionResearch, Subject: research.Episode.ID, Parts: []string{research.Clips[0].ID},
		Data: []byte(marshal(t, research)), Timeout: 60,
	}, priority)
	require.NoError(t, err)
	h.kill(models.ActionResearch)
	id := first(h.ok("GET", v1+"/dead", ""))["id"].(string)
	h.refuses("conflict", "POST", v1+"/dead/"+id+"/requeue", "")

	step, err := client.Next(t.Context(), models.ActionResearch, false)
	require.NoError(t, err)
	require.NoError(t, h.catalog.Ingest(t.Context(), models.Researched{
		Episode: research.Episode.ID, Clips: []string{research.Clips[0].ID}, Problem: "dead", Scope: models.ScopePair,
		EpisodeMedia: research.Episode.Media, ClipMedia: map[string]models.MediaRef{research.Clips[0].ID: research.Clips[0].Media},
	}, time.Now()))
	require.NoError(t, client.Ingested(t.Context(), step.Result))
	require.EqualValues(t, 1, h.ok("GET", v1+"/problems", "")["total"])

	require.Equal(t, true, h.ok("POST", v1+"/dead/"+id+"/requeue", "")["selectable"])
	require.EqualValues(t, 0, h.ok("GET", v1+"/problems", "")["total"])
	again, _, err := h.catalog.Select(t.Context(), nil, catalog.Limits{Clips: 9})
	require.NoError(t, err)
	require.Equal(t, research, again)
}

func TestStatusShowsSessionsAndTheirTasks(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/tasks", `{"action":"count"}`)
	worker := h.connect()
	_, err := worker.Call(t.Context(), space.OpID{}, "status.beat",
		tuple.New("Working on: count", "2026-11-21T06:00:00Z", tuple.New("count", int64(2))))
	require.NoError(t, err)
	i, err := task.Client{Repo: worker}.Claim(t.Context(), "count")
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"id": worker.Session(), "mode": "worker", "state": "Working on: count", "since": "2026-11-21T06:00:00Z",
		"serves": []any{map[string]any{"action": "count", "slots": 2.0}}, "tasks": []any{i.ID},
	}, first(h.ok("GET", v1+"/status", "")))
}

func TestSessionsAreCountedByModeAndForeignOnesTogether(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, mode := range []string{"worker", "manager", "worker", "script", "probe"} {
		repo, err := h.c.Connect(t.Context(), mode, 0)
		require.NoError(t, err)
		_, err = repo.Call(t.Context(), space.OpID{}, "status.beat", tuple.New("idle", "2026-11-21T06:00:00Z"))
		require.NoError(t, err)
	}
	metrics := h.text("/metrics")
	for mode, n := range map[string]int{"worker": 2, "manager": 1, "coordinator": 0, "other": 2} {
		require.Contains(t, metrics, fmt.Sprintf("leasehold_sessions{mode=%q} %d\n", mode, n))
	}
}

// A filter that selects little must keep no request busy until the end of a long list.
func TestAPageOfALongListMayBeEmptyBeforeTheLast(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	client := task.Client{Repo: h.repo}
	for range 3 {
		_, err := client.CreateAll(t.Context(), slices.Repeat([]task.New{{Task: models.Task{Action: "a", Timeout: 60}}}, task.MaxCreate)...)
		require.NoError(t, err)
	}
	pages, next := 0, ""
	for ; pages == 0 || next != ""; pages++ {
		page := h.ok("GET", v1+"/tasks?text=impossible&cursor="+next, "")
		require.Empty(t, items(page))
		next, _ = page["next"].(string)
	}
	require.Greater(t, pages, 1)
	all := items(h.ok("GET", v1+"/tasks?limit=900", ""))
	require.Len(t, all, 900, "of several parts")
}

func TestCostsOfTasksAreListedAndMeasured(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, how := range []string{"known", "decoded", "known"} {
		worker := h.connect()
		require.NoError(t, status.NewHeartbeat(worker, time.Second, map[string]int{"research": 1}).Beat(t.Context()))
		cost := models.Cost{Action: "research", How: how, Tasks: 1, Wall: .5, CPU: .25, Windows: 4}
		require.ErrorIs(t, status.Spend(t.Context(), worker, cost), fault.ErrForbidden, "it has no task")
		h.ok("POST", v1+"/tasks", `{"action": "research"}`)
		_, err := task.Client{Repo: worker}.Claim(t.Context(), "research")
		require.NoError(t, err)
		require.NoError(t, status.Spend(t.Context(), worker, cost))
	}
	require.Equal(t, map[string]any{"total": 2.0, "items": []any{
		map[string]any{"action": "research", "how": "decoded", "tasks": 1.0, "wall_s": .5, "cpu_s": .25, "windows": 4.0},
		map[string]any{"action": "research", "how": "known", "tasks": 2.0, "wall_s": 1.0, "cpu_s": .5, "windows": 8.0},
	}}, h.ok("GET", v1+"/costs", ""))
	require.Contains(t, h.text("/metrics"), `leasehold_cost_cpu_seconds_total{action="research",how="known"} 0.5`)
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/origins", `{"kind":"feed","uri":"https://x.org/`+strings.Repeat("x", 4096-len("https://x.org/"))+`"}`)
	for _, c := range []struct{ code, method, path, body string }{
		{"invalid", "POST", "/origins", `{"kind":"feed","uri":"https://x.org","colour":1}`},
		{"not_found", "POST", "/origins", `{"kind":"ftp","uri":"/x"}`},
		{"conflict", "POST", "/origins", `{"kind":"media","uri":"https://x.org"}`},
		{"conflict", "POST", "/origins", `{"kind":"media","uri":"relative"}`},
		{"conflict", "POST", "/origins", `{"kind":"media","uri":"/a/../b"}`},
		{"conflict", "POST", "/origins", `{"kind":"feed","uri":"file:///etc/passwd"}`},
		{"invalid", "POST", "/origins", `{"kind":"api","uri":""}`},
		{"invalid", "POST", "/origins", ``},
		{"invalid", "POST", "/origins", `{"kind":"feed","uri":"https://x.org/` + strings.Repeat("x", 4097-len("https://x.org/")) + `"}`},
		{"invalid", "POST", "/origins", `{} {}`},
		{"invalid", "POST", "/origins", `[]`},
		{"too_large", "POST", "/origins", `{"uri":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"not_found", "PATCH", "/origins/api", `{"priority":1}`},
		{"invalid", "POST", "/catalog/origins", `{"id":"x","priority":0,"kind":"feed","uri":"https://x.org","every_s":59}`},
		{"invalid", "POST", "/catalog/origins", `{"id":"x","priority":0,"kind":"feed","uri":"https://x.org","hours":""}`},
		{"invalid", "POST", "/catalog/origins", `{"id":"x","priority":0,"kind":"feed","uri":"https://x.org","disabled":"no"}`},
		{"conflict", "POST", "/catalog/origins", `{"id":"x","priority":0,"kind":"pages","uri":"no scheme"}`},
		{"invalid", "POST", "/catalog/outcomes", `{"origin":"x","at":"2026-01-01T00:00:00Z","status":"eventful","listed":{"origins":[{"kind":"","uri":"x"}]}}`},
		{"invalid", "POST", "/catalog/outcomes", `{"origin":"x","at":"2026-01-01T00:00:00Z","status":"eventful","listed":{"origins":[],"next":-1}}`},
		{"invalid", "POST", "/catalog/outcomes", `{"origin":"x","at":"2026-01-01T00:00:00Z","status":"eventful","items":-1}`},
		{"invalid", "POST", "/catalog/outcomes", `{"origin":"x","at":"2026-01-01T00:00:00Z","status":"failed","fault":"no"}`},
		{"not_found", "GET", "/origins/missing", ""},
		{"invalid", "GET", "/origins/no%20id", ""},
		{"invalid", "GET", "/origins/..%2F..%2Fx", ""},
		{"invalid", "GET", "/origins?limit=-1", ""},
		{"invalid", "GET", "/origins?limit=10001", ""},
		{"invalid", "GET", "/origins?limit=1&limit=2", ""},
		{"invalid", "GET", "/origins?colour=1", ""},
		{"invalid", "GET", "/origins?%zz", ""},
		{"invalid", "GET", "/findings?episode=a%20b", ""},
		{"invalid", "GET", "/tasks?held=maybe", ""},
		{"invalid", "PUT", "/episodes", `{"items":[{"name":"e","uri":"file:///etc/passwd"}]}`},
		{"invalid", "PUT", "/episodes", `{"items":[{"uri":"https://x.org/1"}]}`},
		{"conflict", "PUT", "/clips", `{"items":[{"name":"c","uri":"https://x.org/1","aired":"2026-01-01T00:00:00Z"}]}`},
		{"not_found", "PUT", "/clips", `{"origin":"missing","items":[]}`},
		{"not_found", "GET", "/spaces/nowhere", ""},
		{"not_found", "GET", "/spaces/nowhere/tuples", ""},
		{"not_found", "POST", "/spaces/nowhere/put", `{"tuple":"x"}`},
		{"invalid", "GET", "/spaces/task/tuples?template='", ""},
		{"invalid", "GET", "/spaces/task/tuples?limit=1001", ""},
		{"invalid", "POST", "/spaces/task/put", `{"tuple":"not ordered"}`},
		{"invalid", "POST", "/spaces/result/put", `{"tuple":"?string"}`},
		{"invalid", "POST", "/spaces/result/put", `{"tuple":"x","ttl_s":-1}`},
		{"invalid", "POST", "/spaces/result/get", `{"template":"x ..."}`},
		{"invalid", "POST", "/spaces/result/get", `{"template":"x","wait_s":26}`},
		{"not_found", "GET", "/nothing", ""},
		{"usage", "PUT", "/origins", ""},
		{"usage", "PUT", "/spaces/task", ""},
	} {
		t.Run(fmt.Sprintf("%s %s %.60s", c.method, c.path, c.body), func(t *testing.T) {
			h := *h
			h.T = t
			h.refuses(c.code, c.method, v1+c.path, c.body)
		})
	}
}
