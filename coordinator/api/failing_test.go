package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

// countdown lets the n-th call to the spaces fail of requests with its context.
type countdown struct {
	left   int
	failed bool
}

type countdownKey struct{}

// failingConn is a connection to the spaces that looks for a countdown.
type failingConn struct{ space.Conn }

var errCall = fmt.Errorf("this call fails for a test: %w", fault.ErrUnavailable)

func (c failingConn) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if countDown(ctx) {
		return space.Reply{}, errCall
	}
	return c.Conn.Do(ctx, r)
}

// countDown counts a call to the spaces, and reports whether it must fail.
func countDown(ctx context.Context) bool {
	n, ok := ctx.Value(countdownKey{}).(*countdown)
	if !ok {
		return false
	}
	n.left--
	if n.left == 0 {
		n.failed = true
	}
	return n.left == 0
}

// failingEngine opens sessions that look for a countdown.
type failingEngine struct{ api.Engine }

func (e failingEngine) OpenGateSession(ctx context.Context, o engine.Opening) (engine.GateSession, error) {
	if countDown(ctx) {
		return nil, errCall
	}
	s, err := e.Engine.OpenGateSession(ctx, o)
	return failingSession{s}, err
}

type failingSession struct{ engine.GateSession }

func (s failingSession) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if countDown(ctx) {
		return space.Reply{}, errCall
	}
	return s.GateSession.Do(ctx, r)
}

// requested is a request of a test.
type requested struct{ method, path, body string }

// allRequests are of most routes that read or write the database or the spaces; id is of an origin.
func allRequests(id string) []requested {
	now := time.Now().UTC().Format(time.RFC3339)
	episode, clip := models.NewID("api", "a"), models.NewID("api", "a")
	return []requested{
		{"POST", "/origins", `{"kind":"git","uri":"https://example.org/x.git"}`},
		{"GET", "/origins", ""},
		{"GET", "/origins/" + id, ""},
		{"PATCH", "/origins/" + id, `{"priority":3}`},
		{"GET", "/origins/" + id + "/schedule", ""},
		{"POST", "/origins/" + id + "/schedule", `{"action":"save-now"}`},
		{"POST", "/origins/" + id + "/changed", ""},
		{"POST", "/listers", `{"kind":"urls","uri":"https://example.org/list.txt"}`},
		{"GET", "/listers", ""},
		{"POST", "/visit-types", `{"type":"pages"}`},
		{"GET", "/visit-types", ""},
		{"POST", "/visits/claims", `{"type":"pages","limit":2}`},
		{"GET", "/visits", ""},
		{"POST", "/visits", `{"origin":"` + id + `"}`},
		{"GET", "/visits/next", ""},
		{"GET", "/visits/capacity", ""},
		{"GET", "/visits/capacity?slots=3", ""},
		{"POST", "/visits/outcomes", `{"visit":"v","origin":"` + id + `","status":"eventful","items":1,"at":"` + now + `","took_s":1}`},
		{"PUT", "/episodes", `{"items":[{"name":"a","uri":"https://example.org/1.mp3"}]}`},
		{"GET", "/episodes", ""},
		{"PUT", "/clips", `{"complete":true,"items":[{"name":"a","uri":"https://example.org/1.wav"}]}`},
		{"GET", "/clips", ""},
		{"GET", "/episodes/" + episode, ""},
		{"PATCH", "/episodes/" + episode, `{"priority":3}`},
		{"DELETE", "/episodes/" + episode + "/priority", ""},
		{"GET", "/clips/" + clip, ""},
		{"PATCH", "/clips/" + clip, `{"priority":3}`},
		{"DELETE", "/clips/" + clip + "/priority", ""},
		{"POST", "/catalog/origins", `{"priority":0,"id":"o","kind":"feed","uri":"https://example.org/f","added_at":"` + now + `"}`},
		{"POST", "/catalog/origins", `{"priority":0,"id":"p","kind":"pages","uri":"pages://example.org","added_at":"` + now + `"}`},
		{"GET", "/catalog/origins/o", ""},
		{"POST", "/catalog/outcomes", `{"origin":"o","status":"failed","error":"x","at":"` + now + `"}`},
		{"POST", "/catalog/curate", `{"origin":"o","at":"` + now + `","complete":true}`},
		{"POST", "/catalog/audio", `{"at":"` + now + `","items":[{"episode":"` + episode + `","uri":"https://example.org/1.mp3"}]}`},
		{"POST", "/catalog/ingest", `{"at":"` + now + `","result":{"episode":"` + episode + `","clips":["` + clip + `"],"episode_media":{"uri":""},"clip_media":{"` + clip + `":{"uri":""}},"problem":"x","scope":"pair"}}`},
		{"POST", "/catalog/lift", `{"episode":"` + episode + `","clips":["` + clip + `"]}`},
		{"GET", "/findings", ""},
		{"GET", "/problems", ""},
		{"GET", "/totals", ""},
		{"GET", "/status", ""},
		{"GET", "/costs", ""},
		{"GET", "/spaces", ""},
		{"POST", "/spaces", `{"name":"mine"}`},
		{"POST", "/spaces/mine/put", `{"tuple":"a int:1"}`},
		{"GET", "/spaces/mine", ""},
		{"GET", "/spaces/mine/tuples", ""},
		{"POST", "/spaces/mine/query", `{"template":"a ?int"}`},
		{"POST", "/spaces/mine/query", `{"template":"a ?int","wait_s":20}`},
		{"POST", "/transactions", `{"operations":[{"kind":"query","space":"mine","template":"a ?int"}]}`},
		{"DELETE", "/spaces/mine?force=true", ""},
		{"POST", "/tasks", `{"action":"dig","timeout":60}`},
		{"POST", "/task-batches", `{"tasks":[{"action":"dig","timeout":60}]}`},
		{"GET", "/tasks", ""},
		{"GET", "/tasks/t1", ""},
		{"GET", "/sessions", ""},
		{"GET", "/actions/dig", ""},
		{"POST", "/actions/dig/pause", ""},
		{"POST", "/actions/dig/resume", ""},
		{"PUT", "/limits/one", `{"max":1}`},
		{"GET", "/limits", ""},
		{"DELETE", "/limits/one", ""},
		{"PUT", "/schedules/daily", `{"cron":"0 3 * * *","task":{"action":"dig","timeout":60}}`},
		{"GET", "/schedules", ""},
		{"GET", "/schedules/daily", ""},
		{"POST", "/schedules/daily/pause", ""},
		{"POST", "/schedules/daily/resume", ""},
		{"DELETE", "/schedules/daily", ""},
		{"GET", "/dead", ""},
		{"POST", "/catalog/select", `{"limit":3}`},
		{"GET", "/catalog/audio?origin=" + id, ""},
		{"DELETE", "/origins/" + id, ""},
	}
}

// failEach sends each request with a failure at its first statement of the database, its second and so on,
// until none fails, and then in the same way with a failure of each call to the spaces.
func (h *fixture) failEach(all []requested) {
	inner := h.server.Config.Handler
	var statement, call int // that fails of the request; 0: none
	var failed func() bool
	h.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := &countdown{left: call}
		ctx, statementFailed := sqldb.FailAt(context.WithValue(r.Context(), countdownKey{}, n), statement)
		failed = func() bool { return n.failed || statementFailed() }
		inner.ServeHTTP(w, r.WithContext(ctx))
	})
	defer func() { h.server.Config.Handler = inner }()
	for _, r := range all {
		for _, at := range []*int{&statement, &call} {
			for *at = 1; ; *at++ {
				status, answer := h.call(r.method, v1+r.path, r.body)
				if !failed() {
					if at == &statement {
						require.Less(h, status, 300, "%s %s: %v", r.method, r.path, answer)
					}
					break
				}
				require.GreaterOrEqual(h, status, 500, "%s %s: statement %d, call %d: %v", r.method, r.path, statement, call, answer)
			}
			*at = 0
		}
	}
}

// A request during which the database or a space fails must not be answered as a success: the
// program that sent it would not repeat it.
func TestARequestDuringWhichTheDatabaseOrASpaceFailsIsNoSuccess(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) { c.Conn = failingConn{c.Conn} })
	id := fmt.Sprint(h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git"}`)["id"])
	h.failEach(allRequests(id))
}

// A worker that got the answer of a success would not repeat what did not happen.
func TestARequestOfAWorkerDuringWhichACallFailsIsNoSuccessAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) { c.Engine, c.Conn = failingEngine{c.Engine}, failingConn{c.Conn} })
	w := strings.TrimPrefix(h.openWorker("count"), v1)
	for n, end := range []requested{
		{"POST", "/resolve", `,"create":[{"action":"other"}]`}, {"POST", "/release", `,"error":"x"`}, {"POST", "/hand-back", `,"delay":60`}, {"POST", "/extend", ""},
	} {
		h.ok("POST", v1+"/tasks", `{"action":"count","max_attempts":9}`)
		path, token := h.claimOne(v1 + w)
		h.failCalls(requested{end.method, strings.TrimPrefix(path, v1) + end.path, fmt.Sprintf(`{"token":%d%s}`, token, end.body)})
		require.Len(t, h.ok("POST", v1+w+"/heartbeat", "")["claims"], n/3, "after %s", end.path)
	}
	beat := h.ok("POST", v1+w+"/heartbeat", "")["claims"].([]any)[0].(map[string]any)
	h.ok("POST", v1+"/tasks", `{"action":"count"}`)
	h.failCalls(
		requested{"POST", "/sessions", `{"serves":[{"action":"count","slots":1}]}`},
		requested{"POST", w + "/heartbeat", ""},
		requested{"POST", w + "/claims", fmt.Sprintf(`{"finish":[{"task":%q,"resolve":{"token":%v}}],"limit":2}`, beat["task"], beat["token"])},
		requested{"POST", w + "/drain", ""},
	)
	require.NotEmpty(t, h.ok("POST", v1+w+"/heartbeat", "")["claims"])
	isDraining := func() bool { return h.ok("POST", v1+w+"/heartbeat", "")["draining"] == true } // a busy machine may miss the message once
	require.Eventually(t, isDraining, time.Minute, time.Millisecond)
	require.Equal(t, "resolved", h.ok("GET", v1+"/tasks/"+beat["task"].(string), "")["state"])
}

// failCalls sends each request with a failure of its first call to the spaces, its second and so on, until
// none fails: then it must succeed.
func (h *fixture) failCalls(all ...requested) {
	inner := h.server.Config.Handler
	n := &countdown{}
	h.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), countdownKey{}, n)))
	})
	defer func() { h.server.Config.Handler = inner }()
	for _, r := range all {
		for call := 1; ; call++ {
			*n = countdown{left: call}
			status, answer := h.call(r.method, v1+r.path, r.body)
			if !n.failed {
				require.Less(h, status, 300, "%s %s: %v", r.method, r.path, answer)
				require.Greater(h, call, 1, "%s %s makes no call", r.method, r.path)
				break
			}
			require.GreaterOrEqual(h, status, 500, "%s %s: call %d: %v", r.method, r.path, call, answer)
		}
	}
}
