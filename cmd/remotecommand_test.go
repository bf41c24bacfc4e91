package cmd

import (
	"context"
	"encoding/json"
	"io"
	"leasehold/coordinator/database"
	"leasehold/shared/process/datadir"
	rules "leasehold/shared/protocol/visit/policy"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// TestRemoteScripts runs the commands that ask a running coordinator:
// testdata/remote/*.txtar. Each script has its own coordinator, whose API is at $HTTP and in
// data/coordinator.json. It has an origin with episodes, a space
// "notes", a worker, and the session $CLIENT. The
// scripts have these commands beside those of TestScripts: `kill-task ACTION` makes a dead
// letter of a waiting task, `stop-coordinator` ends the API.
func TestRemoteScripts(t *testing.T) {
	t.Parallel()
	bin := realBinary(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/remote",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "kill-task": killTask, "stop-coordinator": stopCoordinator,
		},
		Setup: func(e *testscript.Env) error {
			h := startCoordinator(t, e.Defer)
			at := strings.TrimPrefix(h.server.URL, "http://")
			e.Values[coordinatorKey{}] = h
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("HTTP", at)
			e.Setenv("CLIENT", "client-1")
			e.Setenv("EPISODE", models.NewID("shows", "monday"))
			doc, err := json.Marshal(datadir.Addresses{PID: os.Getpid(), Gate: at, HTTP: at})
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(filepath.Join(e.WorkDir, "data"), 0o755))
			return os.WriteFile(filepath.Join(e.WorkDir, "data", datadir.AddressFile), doc, 0o600)
		},
	})
}

type coordinatorKey struct{}

// testCoordinator is a coordinator with an API and no gate, and a session of a worker.
type testCoordinator struct {
	server *httptest.Server
	worker space.Repository
}

// startCoordinator starts one and passes what ends it to atEnd.
func startCoordinator(t *testing.T, atEnd func(func())) *testCoordinator {
	db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", rules.DefaultRules())
	require.NoError(t, err)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	c, err := coordinator.New(t.Context(), coordinator.Config{
		Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Visit: visit.Policy{Timeout: time.Hour}, Log: quiet,
		Work: work.Policy{
			Task:     task.Policy{MaxAttempts: 1, Backoff: time.Millisecond},
			LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: time.Minute,
		},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- c.Run(ctx, func() { close(ready) }) }()
	<-ready
	conn, err := c.Engine().Connect(ctx, "api-1", 0)
	require.NoError(t, err)
	repo := space.Over(conn)
	h := &testCoordinator{server: httptest.NewServer(api.New(api.Config{Conn: conn, Catalog: db.Catalog, Visits: c.Visits, Engine: c.Engine(), Log: quiet}))}
	atEnd(func() {
		h.server.Close()
		stop()
		require.NoError(t, <-done)
		require.NoError(t, db.Close())
	})
	h.worker, err = c.Connect(ctx, "worker", 0)
	require.NoError(t, err)
	require.NoError(t, status.NewHeartbeat(h.worker, time.Second, map[string]int{"count": 2}).Beat(ctx))
	require.NoError(t, repo.Create(ctx, "notes", space.Options{}))
	_, err = c.Engine().OpenGateSession(ctx, engine.Opening{ID: "client-1", TTL: time.Minute})
	require.NoError(t, err)
	fill(t, db.Catalog)
	return h
}

// fill puts episodes and clips into a catalog whose titles are a spreadsheet formula and
// markup.
func fill(t *testing.T, store catalog.Catalog) {
	ctx := context.Background()
	_, err := store.AddOrigin(ctx, models.Origin{ID: "shows", Kind: models.API, URI: "api:shows", AddedAt: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	named := func(name, title string) models.Recording {
		return models.Recording{Name: name, Title: title, Media: models.MediaRef{URI: "https://example.org/" + name}}
	}
	_, err = store.Curate(ctx, "shows", time.Now(), catalog.Listing{
		Episodes: []models.Episode{{Recording: named("monday", "Monday")}, {Recording: named("tuesday", "Tuesday")}, {Recording: named("again", "Tuesday")}},
		Clips:    []models.Clip{{Recording: named("formula", "=1+1")}, {Recording: named("markup", "<b>A & B</b> -->\nthere")}},
	})
	require.NoError(t, err)
	e, formula, markup := models.NewID("shows", "monday"), models.NewID("shows", "formula"), models.NewID("shows", "markup")
	none := map[string]models.MediaRef{formula: {}, markup: {}}
	require.NoError(t, store.Ingest(ctx, models.Researched{
		Episode: e, Clips: []string{formula, markup}, ClipMedia: none,
		Findings: []models.Finding{
			{Episode: e, Clip: formula, Occurrence: models.Occurrence{Offset: 77.19, Duration: 2.5, Score: 0.97, PartFrom: 0.5, PartTo: 3, Coverage: 0.6}},
			{Episode: e, Clip: markup, Occurrence: models.Occurrence{Offset: 3661.0004, Duration: 0, Score: 0.8}},
		},
	}, time.Now()))
	require.NoError(t, store.Ingest(ctx, models.Researched{
		Episode: models.NewID("shows", "tuesday"), Clips: []string{formula}, ClipMedia: none, Problem: "-2 is an invalid length", Scope: models.ScopePair,
	}, time.Now()))
}

func killTask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: kill-task ACTION")
	}
	worker := ts.Value(coordinatorKey{}).(*testCoordinator).worker
	i, err := task.Client{Repo: worker}.Claim(context.Background(), args[0])
	ts.Check(err)
	ts.Check(task.Client{Repo: worker}.Release(context.Background(), i, "cannot"))
	if i.Attempts == 0 {
		// Claimants may claim it again if no other worker serves the action.
		killTask(ts, neg, args)
	}
}

func stopCoordinator(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: stop-coordinator")
	}
	ts.Value(coordinatorKey{}).(*testCoordinator).server.Close()
}
