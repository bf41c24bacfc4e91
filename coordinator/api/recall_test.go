package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
)

const (
	sessionBody = `{"name":"mill/1","ttl":20,"host":"mill","pid":7,"version":"1.2","serves":[{"action":"count","slots":3}]}`
	sessionsAt  = "/api/v1/sessions"
)

// restart starts a coordinator with the spaces of another one, which it ends.
func (h *fixture) restart(with func(*api.Config)) *fixture {
	h.Helper()
	h.stop()
	return newFixtureOn(h.T, h.disk, with)
}

// A client that knows nothing of restarts goes on with its session.
func TestAWorkerGoesOnAfterARestartWithoutResume(t *testing.T) {
	t.Parallel()
	before := newFixture(t)
	w := sessionsAt + "/" + before.ok("POST", sessionsAt, sessionBody)["id"].(string)
	idle := before.openWorker("count")
	for range 2 {
		before.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	}
	claim, token := before.claimOne(w)
	h := before.restart(func(*api.Config) {})

	var beats sync.WaitGroup
	for range 8 { // of them one makes the worker again
		beats.Go(func() {
			resp, err := http.Post(h.server.URL+w+"/heartbeat", "application/json", strings.NewReader(`{}`))
			if err == nil {
				_ = resp.Body.Close()
			}
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("a heartbeat: %v %v", resp, err)
			}
		})
	}
	beats.Wait()
	state := h.ok("POST", w+"/heartbeat", `{}`)
	require.Equal(t, 20.0, state["ttl"])
	require.Len(t, state["claims"], 1)
	for _, s := range items(h.ok("GET", sessionsAt, "")) {
		if s := s.(map[string]any); strings.HasSuffix(w, s["id"].(string)) {
			require.Equal(t, []any{"mill/1", "mill", 7.0, "1.2"}, []any{s["name"], s["host"], s["pid"], s["version"]})
		}
	}
	require.Eventually(t, func() bool { return h.ok("GET", "/api/v1/actions/count", "")["slots"] == 3.0 }, 10*time.Second, 50*time.Millisecond)
	h.ok("POST", claim+"/resolve", fmt.Sprintf(`{"token":%d,"result":1}`, token))
	_, second := h.claimOne(w) // of the action that it serves
	require.NotEqual(t, token, second)

	h.ok("DELETE", w, "")
	h.refuses("closed", "POST", w+"/heartbeat", `{}`)
	id := strings.TrimPrefix(idle, sessionsAt+"/")
	require.Equal(t, id, h.ok("POST", sessionsAt, `{"resume":"`+id+`","serves":[{"action":"count","slots":1}]}`)["id"], "resume is still possible")
	require.Equal(t, id, h.restart(func(*api.Config) {}).ok("POST", idle+"/heartbeat", `{}`)["id"], "after that, too")
}

// An operator may lower the limit between two starts.
func TestARestartWithAShorterLimitShortensTheTTL(t *testing.T) {
	t.Parallel()
	before := newFixture(t)
	w := sessionsAt + "/" + before.ok("POST", sessionsAt, sessionBody)["id"].(string)
	h := before.restart(func(c *api.Config) { c.MaxTTL = 10 * time.Second })
	require.Equal(t, 10.0, h.ok("POST", w+"/heartbeat", `{}`)["ttl"])
}

func TestASessionIsRecalledForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	before := newRolesFixture(t)
	require.Equal(t, http.StatusCreated, before.as("worker", "POST", sessionsAt, `{}`))
	var w string
	for _, s := range before.c.Engine().Sessions() {
		if strings.HasPrefix(s.ID, "worker-") {
			w = sessionsAt + "/" + s.ID
		}
	}
	h := before.restart(func(c *api.Config) { c.Identify = identifyByHeader })
	require.Equal(t, http.StatusForbidden, h.as("other-worker", "POST", w+"/heartbeat", `{}`))
	require.Equal(t, http.StatusForbidden, h.as("other-worker", "DELETE", w, ""))
	require.Equal(t, http.StatusNoContent, h.as("worker", "DELETE", w, ""))
	require.Equal(t, http.StatusNotFound, h.as("worker", "DELETE", w, ""), "it has ended")
}
