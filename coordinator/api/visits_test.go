package api_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/api"
	"leasehold/coordinator/database"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
)

func TestTheScheduleOfAnOriginIsShownAndSteered(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	o := h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git"}`)
	id := o["id"].(string)
	v, err := visit.Client{Repo: h.repo}.Take(t.Context())
	require.NoError(t, err)
	require.Equal(t, id, v.Origin.ID)
	s := h.ok("GET", v1+"/origins/"+id+"/schedule", "")
	require.Equal(t, "in flight", s["why"])
	require.Equal(t, v.ID, s["visit"])
	require.Equal(t, "operator", h.ok("POST", v1+"/origins/"+id+"/schedule", `{"action":"disable"}`)["disabled"])
	h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/enabled.git"}`)
	listed := h.ok("GET", v1+"/origins", "")["items"].([]any)
	require.Equal(t, "operator", listed[0].(map[string]any)["disabled"])
	require.Nil(t, listed[1].(map[string]any)["disabled"])
	require.Equal(t, "operator", h.ok("GET", v1+"/origins/"+id, "")["disabled"])
	require.Nil(t, h.ok("POST", v1+"/origins/"+id+"/schedule", `{"action":"enable"}`)["disabled"])
	require.Nil(t, h.ok("GET", v1+"/origins/"+id, "")["disabled"])
	h.ok("DELETE", v1+"/origins/"+listed[1].(map[string]any)["id"].(string), "")
	require.Equal(t, true, h.ok("POST", v1+"/origins/"+id+"/schedule", `{"action":"save-now"}`)["asked"])
	h.refuses("invalid", "POST", v1+"/origins/"+id+"/schedule", `{"action":"burn"}`)
	h.refuses("not_found", "GET", v1+"/origins/missing/schedule", "")
	require.EqualValues(t, 0, h.ok("GET", v1+"/visits/next", "")["total"])
	h.refuses("invalid", "GET", v1+"/visits/next?limit=many", "")
}

func TestOutcomesFromOutsideCountOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.ok("POST", v1+"/origins", `{"kind":"feed","uri":"https://example.org/f"}`)["id"].(string)
	outcome := `{"origin":"` + id + `","status":"eventful","at":"2026-01-02T03:04:05Z","digest":"a","changes":2}`
	require.Nil(t, h.ok("POST", v1+"/visits/outcomes", outcome)["ignored"])
	require.Equal(t, "not newer than the last visit", h.ok("POST", v1+"/visits/outcomes", outcome)["ignored"])
	future := `{"origin":"` + id + `","status":"eventful","at":"2126-01-02T03:04:05Z"}`
	require.Equal(t, "from the future", h.ok("POST", v1+"/visits/outcomes", future)["ignored"])
	s := h.ok("GET", v1+"/origins/"+id+"/schedule", "")
	require.Len(t, s["history"], 1)
	require.Equal(t, "eventful", h.ok("GET", v1+"/origins/"+id, "")["last_outcome"])
	for _, bad := range []string{
		`{"origin":"` + id + `","status":"eventful"}`, `{"origin":"` + id + `","status":"lost","at":"2026-01-02T03:04:06Z"}`,
		`{"origin":"` + id + `","status":"eventful","at":"2026-01-02T03:04:06Z","changes":-1}`,
		`{"origin":"a b","status":"eventful","at":"2026-01-02T03:04:06Z"}`,
	} {
		h.refuses("invalid", "POST", v1+"/visits/outcomes", bad)
	}
	h.refuses("forbidden", "POST", v1+"/visits/outcomes", `{"origin":"`+id+`","status":"eventful","at":"2026-01-02T03:04:06Z","listed":{"origins":[]}}`)
	// The schedule adds up such numbers, so one below zero would spoil it for good.
	for _, field := range []string{"changes", "size", "took_s", "retry_after_s", "crawl_delay_s", "fresh_for_s"} {
		with := func(n int) string {
			return fmt.Sprintf(`{"origin":%q,"status":"eventful","at":"2026-01-02T03:04:06Z","took_s":0,%q:%d}`, id, field, n)
		}
		h.refuses("invalid", "POST", v1+"/visits/outcomes", strings.Replace(with(-1), `"took_s":0,"took_s"`, `"took_s"`, 1))
		h.ok("POST", v1+"/visits/outcomes", strings.Replace(with(0), `"took_s":0,"took_s"`, `"took_s"`, 1))
	}
	times := func(n int) string {
		return `{"origin":"` + id + `","status":"eventful","at":"2026-01-02T03:04:06Z","changed_at":["2026-01-01T00:00:00Z"` + strings.Repeat(`,"2026-01-01T00:00:00Z"`, n-1) + `]}`
	}
	h.ok("POST", v1+"/visits/outcomes", times(models.MaxChanges))
	h.refuses("invalid", "POST", v1+"/visits/outcomes", times(models.MaxChanges+1))
	h.refuses("not_found", "POST", v1+"/visits/outcomes", `{"origin":"missing","status":"eventful","at":"2026-01-02T03:04:06Z"}`)
}

func TestItemsOfAListerBecomeOrigins(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.refuses("invalid", "POST", v1+"/listers", `{"kind":"feed","uri":"https://example.org/f"}`)
	id := h.ok("POST", v1+"/listers", `{"kind":"urls","uri":"https://example.org/list.txt","priority":7}`)["id"].(string)
	require.EqualValues(t, 1, h.ok("GET", v1+"/listers", "")["total"])
	c := visit.Client{Repo: h.repo}
	v, err := c.Take(t.Context())
	require.NoError(t, err)
	named := func(uris ...string) *models.Listed {
		l := &models.Listed{Full: true}
		for _, uri := range uris {
			l.Origins = append(l.Origins, models.ListedOrigin{Kind: models.Feed, URI: uri})
		}
		return l
	}
	require.NoError(t, c.End(t.Context(), models.Outcome{Visit: v.ID, Origin: id, Status: models.Eventful, At: v.Known.At.AddDate(2025, 0, 0),
		Listed: named("https://a.example/feed", "file:///etc/passwd", "/etc", "https://b.example/feed")}))
	first, err := c.Take(t.Context())
	require.NoError(t, err)
	require.True(t, first.Listed)
	require.Contains(t, first.Origin.URI, ".example/feed")
	require.EqualValues(t, 3, h.ok("GET", v1+"/origins", "")["total"], "origins that it may not list are left out")
	origin := h.ok("GET", v1+"/origins/"+first.Origin.ID, "")
	require.EqualValues(t, 7, origin["priority"])
	require.Equal(t, true, origin["listed"], "fetchers do not trust it")
	require.Nil(t, h.ok("GET", v1+"/origins/"+id, "")["listed"])
	listed := 0
	for _, o := range h.ok("GET", v1+"/origins", "")["items"].([]any) {
		if o.(map[string]any)["listed"] == true {
			listed++
		}
	}
	require.Equal(t, 2, listed)
	require.Equal(t, id, h.ok("GET", v1+"/origins/"+first.Origin.ID+"/schedule", "")["lister"])
}

func TestBranchesOfAnOriginAreKeptUntilOthersAreNamed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	add := func(more string) any {
		return h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git"`+more+`}`)["branches"]
	}
	require.Nil(t, add(""))
	both := []any{"main", "release-*"}
	require.Equal(t, both, add(`,"branches":["main","release-*"]`))
	require.Equal(t, both, add(""))
	id := h.ok("GET", v1+"/origins", "")["items"].([]any)[0].(map[string]any)["id"].(string)
	require.Equal(t, both, h.ok("PATCH", v1+"/origins/"+id, `{"priority":3}`)["branches"])
	require.Nil(t, add(`,"branches":[]`))
	require.Equal(t, []any{"v*"}, h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git","tags":["v*"]}`)["tags"])
	require.Equal(t, both, add(`,"branches":["main","release-*"]`))
	require.Equal(t, []any{"v*"}, h.ok("GET", v1+"/origins/"+id, "")["tags"], "they are kept")
	h.refuses("invalid", "POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git","tags":["a b"]}`)
	h.refuses("conflict", "POST", v1+"/origins", `{"kind":"feed","uri":"https://example.org/f","tags":["v1"]}`)
	for _, bad := range []string{`[""]`, `["-f"]`, `["["]`, `["a b"]`, `["a\u0000b"]`, `"main"`, `[` + strings.Repeat(`"b",`, 64) + `"b"]`} {
		h.refuses("invalid", "POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git","branches":`+bad+`}`)
	}
	h.refuses("conflict", "POST", v1+"/origins", `{"kind":"feed","uri":"https://example.org/f","branches":["main"]}`)
}

func TestRepositoriesOfAListerHaveItsBranches(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	addLister := func(uri, branches string) string {
		return h.ok("POST", v1+"/listers", `{"kind":"urls","uri":"`+uri+`","branches":`+branches+`,"tags":["v*"]}`)["id"].(string)
	}
	one, two := addLister("https://example.org/1", `["release-*"]`), addLister("https://example.org/2", `["dev"]`)
	byHand := h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://b.example/x.git"}`)["id"].(string)
	list := func(lister string) {
		require.NoError(t, coordinator.Push(t.Context(), h.catalog, h.c.Visits, lister, models.Listed{Full: true, Origins: []models.ListedOrigin{
			{Kind: models.Git, URI: "https://a.example/x.git"}, {Kind: models.Git, URI: "https://b.example/x.git"}, {Kind: models.Feed, URI: "https://a.example/feed"},
		}}))
	}
	branches := func(kind models.OriginKind, uri string) any {
		return h.ok("GET", v1+"/origins/"+models.NewID(string(kind), uri), "")["branches"]
	}
	list(one)
	require.Equal(t, []any{"release-*"}, branches(models.Git, "https://a.example/x.git"))
	require.Equal(t, []any{"v*"}, h.ok("GET", v1+"/origins/"+models.NewID(string(models.Git), "https://a.example/x.git"), "")["tags"])
	require.Nil(t, branches(models.Feed, "https://a.example/feed"))
	require.Nil(t, h.ok("GET", v1+"/origins/"+byHand, "")["branches"], "the operator added it without")
	list(two)
	require.Equal(t, []any{"release-*"}, branches(models.Git, "https://a.example/x.git"), "its first lister decides")
	addLister("https://example.org/1", `["main"]`)
	list(one)
	require.Equal(t, []any{"main"}, branches(models.Git, "https://a.example/x.git"))
	require.Nil(t, h.ok("GET", v1+"/origins/"+byHand, "")["branches"])
}

func TestMetricsOfVisits(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.ok("POST", v1+"/origins", `{"kind":"feed","uri":"https://example.org/f"}`)["id"].(string)
	for _, at := range []string{"2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z"} {
		h.ok("POST", v1+"/visits/outcomes", `{"origin":"`+id+`","status":"uneventful","at":"`+at+`"}`)
	}
	resp, err := http.Get(h.server.URL + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	for _, line := range []string{
		`leasehold_visit_first_seconds_count 1`, `leasehold_visit_seconds_bucket{le="0.05"} 2`,
		`leasehold_visit_lag_seconds_count 0`,
		`leasehold_visits_total{outcome="uneventful"} 1`, `leasehold_visit_useless_ratio 0.5`, "leasehold_complete 1",
		`leasehold_visit_origins{group="A",kind="feed",lister="0",never="false"} 1`,
	} {
		require.Contains(t, string(text), line+"\n")
	}
	require.NotContains(t, string(text), "leasehold_visit_oldest_new_seconds", "each origin has an outcome")
}

func TestAChangeIsReportedAndAnIntervalFixed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	add := `{"kind":"feed","uri":"https://example.org/f"`
	id := h.ok("POST", v1+"/origins", add+`,"every_s":86400}`)["id"].(string)
	require.EqualValues(t, 86400, h.ok("GET", v1+"/origins/"+id+"/schedule", "")["every_s"])
	h.ok("POST", v1+"/origins", add+`}`)
	require.EqualValues(t, 86400, h.ok("GET", v1+"/origins/"+id+"/schedule", "")["every_s"], "it is kept")
	h.refuses("invalid", "POST", v1+"/origins", add+`,"every_s":1}`)
	h.ok("POST", v1+"/origins", add+`,"every_s":0}`)
	require.Nil(t, h.ok("GET", v1+"/origins/"+id+"/schedule", "")["every_s"])

	require.NotNil(t, h.ok("POST", v1+"/origins/"+id+"/changed", "")["last_update"])
	h.refuses("not_found", "POST", v1+"/origins/missing/changed", "")
}

func TestAllVisitsThatWouldBeNextAreListedTheBestFirst(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "other.db"), "roundrobin", rules.DefaultRules())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	h := newFixtureWith(t, func(c *api.Config) { c.Visits = db.Visits }) // from which no coordinator claims
	begun := time.Now().Add(-time.Hour)
	for i := range 3 {
		o := models.Origin{ID: fmt.Sprint("o", i), Kind: models.Media, URI: fmt.Sprint("/srv/", i)}
		require.NoError(t, db.Visits.List(t.Context(), begun.Add(time.Duration(i)*time.Minute), visits.Listing{Origins: []visits.Named{{Origin: o}}}))
	}
	listed := func(path string) (ids []any) {
		for _, x := range items(h.ok("GET", v1+path, "")) {
			ids = append(ids, x.(map[string]any)["origin"])
		}
		return ids
	}
	require.Equal(t, []any{"o0", "o1", "o2"}, listed("/visits/next"))
	require.Equal(t, []any{"o0", "o1"}, listed("/visits/next?limit=2"))
	require.Equal(t, []any{"o0", "o1", "o2"}, listed("/visits/next"), "listing takes none")
}

func TestAScheduleTellsUntilWhenAnEnabledOriginRests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why, disabled string
		want          bool
	}{"rests": {"absolute cooldown", "", true}, "eligible": {rules.Eligible, "", false}, "disabled": {rules.Disabled, "operator", false}} {
		o := visits.OriginSchedule{Why: c.why, Until: 1_800_000_000}
		o.Disabled = rules.Reason(c.disabled)
		shown := marshal(t, api.ScheduleOf(o))
		require.Equal(t, c.want, strings.Contains(shown, `"until":"2027-01-15T08:00:00Z"`), "%s: %s", name, shown)
	}
}

func TestTheHoursOfAnOriginAreSetOverTheAPI(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	add := `{"kind":"feed","uri":"https://hours.example/feed.xml"`
	id := h.ok("POST", v1+"/origins", add+`,"hours":"22:00-06:00@Europe/Berlin"}`)["id"].(string)
	require.Equal(t, "22:00-06:00@Europe/Berlin", h.ok("GET", v1+"/origins/"+id+"/schedule", "")["hours"])
	h.ok("PATCH", v1+"/origins/"+id, `{"hours":"01:00-02:00","every_s":3600}`)
	shown := h.ok("GET", v1+"/origins/"+id+"/schedule", "")
	require.Equal(t, "01:00-02:00@UTC", shown["hours"])
	require.EqualValues(t, 3600, shown["every_s"])
	h.ok("PATCH", v1+"/origins/"+id, `{"hours":"any"}`)
	require.Nil(t, h.ok("GET", v1+"/origins/"+id+"/schedule", "")["hours"])
	for _, bad := range []string{`{"hours":""}`, `{"hours":"25:00-06:00"}`, `{"every_s":1}`, `{}`} {
		h.refuses("invalid", "PATCH", v1+"/origins/"+id, bad)
	}
	h.refuses("not_found", "PATCH", v1+"/origins/"+id, `{"hours":"22:00-06:00@Nowhere"}`)
	h.refuses("conflict", "PATCH", v1+"/origins/"+id, `{"hours":"22:00-22:00"}`)
	h.refuses("invalid", "POST", v1+"/origins", add+`,"hours":"22"}`)
	h.refuses("not_found", "PATCH", v1+"/origins/feed-0", `{"hours":"any"}`)
}
