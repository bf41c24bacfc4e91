package page_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator"
	"leasehold/coordinator/actions"
	"leasehold/coordinator/api"
	codeindex "leasehold/coordinator/code"
	"leasehold/coordinator/database"
	"leasehold/coordinator/history"
	"leasehold/coordinator/page"
	"leasehold/coordinator/sound"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/catalog"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a coordinator with its API and its page. The header Test-Role has the roles of a request; without it, a
// visitor is everybody.
type fixture struct {
	*testing.T
	core    *coordinator.Coordinator
	repo    space.Repository
	store   catalog.Catalog
	index   *codeindex.Index
	history *history.Store
	handler http.Handler
}

// identify returns the identity that the header Test-Role names.
func identify(r *http.Request) (access.Identity, error) {
	name := r.Header.Get("Test-Role")
	if name == "" {
		return access.Everybody, nil
	}
	roles, err := access.ParseRoles(name)
	return access.Identity{ID: "token-" + name, Name: "anna", Roles: roles}, err
}

func newFixture(t *testing.T) *fixture { return newFixtureWith(t, func(*page.Config) {}) }

func newFixtureWith(t *testing.T, with func(*page.Config)) *fixture {
	t.Helper()
	db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", rules.DefaultRules())
	require.NoError(t, err)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	c, err := coordinator.New(t.Context(), coordinator.Config{
		Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Visit: visit.Policy{Timeout: time.Hour}, Log: quiet,
		Work: work.Policy{Task: task.Policy{MaxAttempts: 1, Backoff: time.Second}, LeaseTTL: time.Hour, QueueTTL: time.Minute, Ingest: time.Minute},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- c.Run(ctx, func() { close(ready) }) }()
	<-ready
	t.Cleanup(func() { stop(); require.NoError(t, <-done); require.NoError(t, db.Close()) })
	repo, err := c.Connect(t.Context(), "worker", 0)
	require.NoError(t, err)
	conn, err := c.Engine().Connect(t.Context(), "api-1", 0)
	require.NoError(t, err)
	h := &fixture{T: t, core: c, repo: repo, store: db.Catalog, history: db.History}
	h.openIndex(t.TempDir())
	fetcher, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fetcher.Close()) })
	config := page.Config{Repo: repo, Actions: true, Code: h.index, Sound: sound.New(fetcher, db.Catalog), Lost: c.Watcher().Lost, Log: quiet, API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) })}
	with(&config)
	h.handler = api.New(api.Config{Index: h.index, Conn: conn, Catalog: db.Catalog, Visits: c.Visits, Engine: c.Engine(), History: db.History, Identify: identify, Page: page.New(config), Prefix: config.Prefix, Log: quiet,
		Attention: c.Watcher(), Actions: actions.NewSource(space.Over(conn), c.Tracker())})
	return h
}

// setState puts the state of the session.
func (h *fixture) setState(state string) { h.serve(h.repo, state, "research") }

// serve puts the record of a worker that serves an action with two slots.
func (h *fixture) serve(repo space.Repository, state, action string) {
	heart := status.NewHeartbeat(repo, time.Hour, map[string]int{action: 2})
	heart.SetState(state)
	require.NoError(h, heart.Beat(h.Context()))
}

// fill adds recordings, a problem, findings, and a dead letter, which it returns.
func (h *fixture) fill(title, reason string) (dead string) {
	_, err := h.store.AddOrigin(h.Context(), models.Origin{ID: "o", Kind: models.API, URI: "api:", AddedAt: time.Now()})
	require.NoError(h, err)
	_, err = h.store.Curate(h.Context(), "o", time.Now(), catalog.Listing{
		Episodes: []models.Episode{{Recording: models.Recording{Name: "e", Title: title}}},
		Clips: []models.Clip{
			{Recording: models.Recording{Name: "c", Title: title}}, {Recording: models.Recording{Name: "t", Title: "The theme"}},
		},
		Problems: []models.Problem{{Item: "x", Reason: reason}},
	})
	require.NoError(h, err)
	e, c, long := models.NewID("o", "e"), models.NewID("o", "c"), models.NewID("o", "t")
	require.NoError(h, h.store.Ingest(h.Context(), models.Researched{
		Episode: e, Clips: []string{c, long}, ClipMedia: map[string]models.MediaRef{c: {}, long: {}},
		Findings: []models.Finding{{Episode: e, Clip: c, Occurrence: models.Occurrence{Offset: 77.19, Score: 0.97}}, {Episode: e, Clip: long, Occurrence: models.Occurrence{Offset: 70, Duration: 30, Score: 0.8, PartFrom: 1.25, PartTo: 31.25, Coverage: 0.7}}},
	}, time.Now()))
	claimed := h.claim(models.Task{Action: "research"})
	require.NoError(h, status.Spend(h.Context(), h.repo, models.Cost{Action: "research", How: "decoded", Tasks: 3, Wall: 6.25, CPU: 5, Windows: 71}))
	require.NoError(h, task.Client{Repo: h.repo}.Fail(h.Context(), claimed, task.Failure{Reason: reason, Output: title, GiveUp: true}))
	return claimed.ID
}

// create creates a task.
func (h *fixture) create(t models.Task) task.Item {
	t.Timeout = 60
	made, err := task.Client{Repo: h.repo}.Create(h.Context(), t, 0)
	require.NoError(h, err)
	return made
}

// claim creates a task and claims it.
func (h *fixture) claim(t models.Task) task.Item {
	h.create(t)
	claimed, err := task.Client{Repo: h.repo}.Claim(h.Context(), t.Action)
	require.NoError(h, err)
	return claimed
}

// kill makes a task a dead letter after one attempt.
func (h *fixture) kill(t models.Task, f task.Failure) (id string) {
	claimed := h.claim(t)
	f.GiveUp = true
	require.NoError(h, task.Client{Repo: h.repo}.Fail(h.Context(), claimed, f))
	return claimed.ID
}

func (h *fixture) request(method, path, role string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(h.Context(), method, path, strings.NewReader(form.Encode()))
	r.Host = "localhost"
	if role != "" {
		r.Header.Set("Test-Role", role)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w
}

// get returns a page as everybody sees it.
func (h *fixture) get(path string) *httptest.ResponseRecorder {
	return h.request(http.MethodGet, path, "", nil)
}

// shows requires that a page has texts, and returns it.
func (h *fixture) shows(path string, texts ...string) string {
	h.Helper()
	w := h.get(path)
	require.Equal(h, http.StatusOK, w.Code, "%s: %s", path, w.Body)
	for _, want := range texts {
		require.Contains(h, w.Body.String(), want, path)
	}
	return w.Body.String()
}

// post sends a form as a role.
func (h *fixture) post(role string, fields ...string) *httptest.ResponseRecorder {
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return h.request(http.MethodPost, "/do", role, form)
}
