package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.NoError(t, h.repo.Create(t.Context(), "notes", space.Options{}))
	conn, err := h.c.Engine().OpenGateSession(t.Context(), engine.Opening{
		ID: "a b/c", TTL: time.Minute, Key: []byte("the secret key"), Process: space.Process{Mode: "client", Host: "mill", PID: 7, Version: "1.2"},
	})
	require.NoError(t, err)
	require.NoError(t, h.repo.Space("notes").Put(t.Context(), tuple.New("x"), 0))
	_, err = conn.Do(t.Context(), space.Request{
		Verb: space.VerbGet, Space: "notes", Template: tuple.Match("x"), Ack: true, Op: space.OpID{Session: "a b/c", Seq: 1},
	})
	require.NoError(t, err)

	code, all := h.call("GET", "/api/v1/sessions", "")
	require.Equal(t, 200, code)
	items := all["items"].([]any)
	require.EqualValues(t, len(items), all["total"])
	first := items[0].(map[string]any)
	for field, want := range map[string]any{"id": "a b/c", "mode": "client", "host": "mill", "pid": 7.0, "version": "1.2", "holds": 1.0, "waits": 0.0, "ttl_s": 60.0} {
		require.Equal(t, want, first[field], field)
	}
	for _, field := range []string{"opened", "last_heartbeat"} {
		at, err := time.Parse(time.RFC3339, first[field].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), at, time.Minute)
	}
	require.NotContains(t, fmt.Sprint(all), "secret")

	code, _ = h.call("DELETE", "/api/v1/sessions/a%20b%2Fc", "")
	require.Equal(t, 204, code)
	n, err := h.repo.Space("notes").Count(t.Context(), tuple.Match("x"))
	require.NoError(t, err)
	require.Equal(t, 1, n, "it is back")
	code, _ = h.call("DELETE", "/api/v1/sessions/a%20b%2Fc", "")
	require.Equal(t, 404, code)
	code, _ = h.call("DELETE", "/api/v1/sessions/api-1", "")
	require.Equal(t, 403, code, "the API's own session")
}

func TestSpacesAreCreatedAndDeleted(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const stack = `{"name":"a/b","kind":"stack","capacity":3,"overflow":"drop_oldest","volatile":true}`
	code, made := h.call("POST", "/api/v1/spaces", stack)
	require.Equal(t, 201, code)
	for field, want := range map[string]any{"name": "a/b", "kind": "stack", "capacity": 3.0, "overflow": "drop_oldest", "volatile": true, "query_only": false} {
		require.Equal(t, want, made[field], field)
	}
	code, _ = h.call("POST", "/api/v1/spaces", stack)
	require.Equal(t, 200, code)
	for body, want := range map[string]int{
		`{"name":"a/b"}`: 409, `{"name":""}`: 400, `{"name":"c","kind":"heap"}`: 400, `{"name":"c","order_by":64}`: 400, `{"name":"c","capacity":-1}`: 400,
	} {
		code, _ = h.call("POST", "/api/v1/spaces", body)
		require.Equal(t, want, code, body)
	}
	require.NoError(t, h.repo.Space("a/b").Put(t.Context(), tuple.New("x"), 0))
	code, problem := h.call("DELETE", "/api/v1/spaces/a%2Fb", "")
	require.Equal(t, 409, code)
	require.Contains(t, problem["detail"], "has 1 tuples or more")
	code, gone := h.call("DELETE", "/api/v1/spaces/a%2Fb?force=true", "")
	require.Equal(t, 200, code)
	require.Equal(t, map[string]any{"name": "a/b", "tuples": 1.0}, gone)
	code, _ = h.call("DELETE", "/api/v1/spaces/a%2Fb", "")
	require.Equal(t, 404, code)
	for _, needed := range []string{"visit", "task", "result", "dead", "lease", "status", "log", "schedule", "idempotency", "batch"} {
		code, _ = h.call("DELETE", "/api/v1/spaces/"+needed+"?force=true", "")
		require.Equal(t, 403, code, needed)
	}
}

// create asks for a space as a machine on the network would.
func create(handler http.Handler, address, name string) int {
	r := httptest.NewRequest("POST", "/api/v1/spaces", strings.NewReader(`{"name":"`+name+`"}`))
	r.RemoteAddr, r.Host = address+":4000", "localhost"
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code
}

func TestSpacesCreatedOverHTTPCountForTheirPeerAndLeaveATenthToTheFleet(t *testing.T) {
	t.Parallel()
	var config api.Config
	newFixtureWith(t, func(c *api.Config) { config = *c })
	handler := api.New(config)
	const quota = 100
	for n := range quota {
		require.Equal(t, 201, create(handler, "192.0.2.1", fmt.Sprint("s-", n)))
	}
	require.Equal(t, 507, create(handler, "192.0.2.1", "surplus"))
	require.Equal(t, 200, create(handler, "192.0.2.1", "s-1"), "it exists")
	require.Equal(t, 201, create(handler, "192.0.2.2", "of another"))
	n, err := config.Engine.DeleteSpace(t.Context(), "s-1", false)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, 201, create(handler, "192.0.2.1", "again"), "a space that was deleted does not count")
	near := 0
	for create(handler, "127.0.0.1", fmt.Sprint("near-", near)) == 201 {
		near++
	}
	infos, err := space.Over(config.Conn).List(t.Context())
	require.NoError(t, err)
	require.Len(t, infos, engine.ClientSpaces)
}

func TestWithoutAnEngineSessionsAndDeletionAreUnavailable(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) { c.Engine = nil })
	for _, request := range []string{"GET /api/v1/sessions", "DELETE /api/v1/sessions/x", "DELETE /api/v1/spaces/x"} {
		method, path, _ := strings.Cut(request, " ")
		code, _ := h.call(method, path, "")
		require.Equal(t, 503, code, request)
	}
}
