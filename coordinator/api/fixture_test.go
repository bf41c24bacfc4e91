package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator"
	"leasehold/coordinator/actions"
	"leasehold/coordinator/api"
	"leasehold/coordinator/database"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

func TestMain(m *testing.M) {
	if err := catalogtest.FewHistories(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// fixture is a coordinator with its API.
type fixture struct {
	*testing.T
	repo    space.Repository
	catalog catalog.Catalog
	server  *httptest.Server
	c       *coordinator.Coordinator
	disk    *disk
	last    space.Repository // of the latest connect
	stop    func()
}

// connect opens a session of a worker.
func (h *fixture) connect() space.Repository {
	h.Helper()
	repo, err := h.c.Connect(h.Context(), "worker", 0)
	require.NoError(h, err)
	h.last = repo
	return repo
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

var policy = work.Policy{
	Task:     task.Policy{MaxAttempts: 1, Backoff: time.Millisecond},
	LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: time.Minute,
}

// disk is a journal in memory whose disk can be full.
type disk struct {
	journal.Memory
	full  atomic.Bool // Full reports true
	spent atomic.Bool // every commit fails, if the disk is of refusingDisk
}

// refusingDisk returns a disk that refuses every commit while spent is set.
func refusingDisk() *disk {
	d := &disk{}
	d.Before = func(context.Context, []journal.Record) error {
		if d.spent.Load() {
			return journal.ErrFull
		}
		return nil
	}
	return d
}

func (d *disk) Full() bool { return d.full.Load() }

func newFixture(t *testing.T) *fixture { return newFixtureWith(t, func(*api.Config) {}) }

func newFixtureWith(t *testing.T, with func(*api.Config)) *fixture {
	t.Helper()
	return newFixtureOn(t, &disk{}, with)
}

// newFixtureOn starts a coordinator with the spaces of a journal.
func newFixtureOn(t *testing.T, disk *disk, with func(*api.Config)) *fixture {
	t.Helper()
	db, err := database.Open(t.Context(), database.Memory, "value", rules.DefaultRules())
	require.NoError(t, err)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	c, err := coordinator.New(t.Context(), coordinator.Config{
		Journal: disk, Catalog: db.Catalog, Visits: db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour}, Log: quiet,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- c.Run(ctx, func() { close(ready) }) }()
	<-ready
	conn, err := c.Engine().Connect(t.Context(), "api-1", 0)
	require.NoError(t, err)
	repo := space.Over(conn)
	acks := retry.NewLater("repeating", quiet)
	repeating, stopAcks := context.WithCancel(context.Background())
	acksDone := make(chan error, 1)
	go func() { acksDone <- acks.Run(repeating) }()
	config := api.Config{Acks: acks, Conn: conn, Catalog: db.Catalog, Visits: c.Visits, Engine: c.Engine(), Actions: actions.NewSource(repo, c.Tracker()), Log: quiet}
	with(&config)
	h := &fixture{T: t, c: c, disk: disk, repo: repo, catalog: db.Catalog, server: httptest.NewServer(api.New(config))}
	h.stop = sync.OnceFunc(func() {
		h.server.Close()
		stopAcks()
		require.NoError(t, <-acksDone)
		stop()
		require.NoError(t, <-done)
		require.NoError(t, db.Close())
	})
	t.Cleanup(h.stop)
	return h
}

// call sends a request, and returns the status and the JSON object of the response.
func (h *fixture) call(method, path, body string) (int, map[string]any) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, h.server.URL+path, strings.NewReader(body))
	require.NoError(h, err)
	return h.send(r)
}

// octets sends bytes as they are, and returns the status of the answer.
func (h *fixture) octets(path, body string) int {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), "POST", h.server.URL+path, strings.NewReader(body))
	require.NoError(h, err)
	r.Header.Set("Content-Type", types.OctetType)
	status, _ := h.send(r)
	return status
}

func (h *fixture) send(r *http.Request) (int, map[string]any) {
	h.Helper()
	resp, err := h.server.Client().Do(r)
	require.NoError(h, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(h, err)
	if len(data) == 0 {
		return resp.StatusCode, nil
	}
	var v map[string]any
	require.NoError(h, json.Unmarshal(data, &v), "%s", data)
	if resp.StatusCode >= 400 {
		require.Equal(h, "application/problem+json", resp.Header.Get("Content-Type"))
	} else {
		declared(h.T).check(h.T, r, resp.StatusCode, v)
	}
	return resp.StatusCode, v
}

// ok is call for a request that must succeed.
func (h *fixture) ok(method, path, body string) map[string]any {
	h.Helper()
	status, v := h.call(method, path, body)
	require.Less(h, status, 300, "%s %s: %v", method, path, v)
	return v
}

// refuses is call for a request that must fail with a code.
func (h *fixture) refuses(code, method, path, body string) {
	h.Helper()
	status, v := h.call(method, path, body)
	require.Equal(h, code, v["code"], "%s %s %.200s: %v", method, path, body, v)
	require.EqualValues(h, status, v["status"])
	require.NotEmpty(h, v["detail"])
	require.Equal(h, "urn:leasehold:problem:"+code, v["type"])
}

func items(v map[string]any) []any { return v["items"].([]any) }

func first(v map[string]any) map[string]any { return items(v)[0].(map[string]any) }
