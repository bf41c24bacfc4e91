package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/task"
)

// openWorker opens the session of a worker that serves an action, and returns its path.
func (h *fixture) openWorker(action string) string {
	h.Helper()
	opened := h.ok("POST", "/api/v1/sessions", `{"name":"w","ttl":60,"serves":[{"action":"`+action+`","slots":2}]}`)
	require.EqualValues(h, 60, opened["ttl"])
	require.Equal(h, false, opened["draining"])
	return "/api/v1/sessions/" + opened["id"].(string)
}

// claimOne claims a task, and returns its path and its token.
func (h *fixture) claimOne(session string) (path string, token int64) {
	h.Helper()
	t := first(h.ok("POST", session+"/claims", `{}`))
	return session + "/claims/" + t["id"].(string), int64(t["token"].(float64))
}

func TestAWorkerOverHTTPClaimsExtendsAndResolves(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	require.Empty(t, items(h.ok("POST", w+"/claims", `{}`)), "no task yet")
	made := h.ok("POST", "/api/v1/tasks", `{"action":"count","data":{"url":"http://user:secret@host"}}`)
	claimed := first(h.ok("POST", w+"/claims", `{"limit":5}`))
	require.Equal(t, made["id"], claimed["id"])
	require.Equal(t, map[string]any{"url": "http://user:secret@host"}, claimed["data"], "a worker gets the data as it is")
	require.Equal(t, "claimed", claimed["state"])
	require.Equal(t, "w", claimed["current_claimant"])
	path, token := w+"/claims/"+claimed["id"].(string), int64(claimed["token"].(float64))

	beat := h.ok("POST", w+"/heartbeat", "")
	has := beat["claims"].([]any)[0].(map[string]any)
	require.Equal(t, claimed["id"], has["task"])
	require.Equal(t, claimed["token"], has["token"])
	require.NotEmpty(t, has["due"])
	h.ok("POST", path+"/extend", fmt.Sprintf(`{"token":%d}`, token))
	h.ok("POST", path+"/extend", fmt.Sprintf(`{"token":%d,"progress":{"fraction":0.5,"text":"half"}}`, token))
	shown := h.ok("GET", "/api/v1/tasks/"+claimed["id"].(string), "")
	require.Equal(t, "half", shown["progress"].(map[string]any)["text"])

	created := h.ok("POST", path+"/resolve", fmt.Sprintf(`{"token":%d,"result":{"n":1},"create":[{"action":"count"},{"action":"count"}]}`, token))
	require.Len(t, items(created), 2)
	require.Empty(t, h.ok("POST", w+"/heartbeat", "")["claims"])
	require.Len(t, items(h.ok("POST", w+"/claims", `{"limit":64,"actions":["count","other"]}`)), 2)
	h.ok("DELETE", w, "")
	h.refuses("closed", "POST", w+"/heartbeat", "")
	require.Len(t, items(h.ok("GET", "/api/v1/tasks?state=waiting", "")), 2, "what it had came back")
}

func TestTheCreationOfATaskThatHasEndedAtOnceTellsHow(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("PUT", "/api/v1/limits/db", `{"max":1}`)
	h.ok("POST", "/api/v1/tasks", `{"action":"count","limits":["db"]}`)
	h.claimOne(h.openWorker("count"))
	dropped := h.ok("POST", "/api/v1/tasks", `{"action":"count","limits":["db"],"on_limit":"drop"}`)
	require.Equal(t, []any{"cancelled", "dropped, because the limit db was reached"}, []any{dropped["state"], dropped["note"]})
	parent := dropped["id"].(string)
	dead := h.ok("POST", "/api/v1/tasks", `{"action":"count","after":["`+parent+`"]}`)
	require.Equal(t, []any{"dead", "its parent " + parent + " is cancelled"}, []any{dead["state"], dead["note"]})
	batch := first(h.ok("POST", "/api/v1/task-batches", `{"tasks":[{"action":"count","limits":["db"],"on_limit":"drop"}]}`))
	require.Equal(t, "cancelled", batch["state"])
}

func TestAWorkerOverHTTPReleasesAndHandsBack(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	other := "/api/v1/sessions/" + h.ok("POST", "/api/v1/sessions", `{"name":"v","serves":[{"action":"count","slots":1}]}`)["id"].(string)
	h.ok("POST", "/api/v1/tasks", `{"action":"count","max_attempts":2}`)
	path, token := h.claimOne(w)
	h.ok("POST", path+"/hand-back", fmt.Sprintf(`{"token":%d}`, token))
	h.refuses("stale_token", "POST", path+"/hand-back", fmt.Sprintf(`{"token":%d}`, token))
	path, token = h.claimOne(w)
	h.ok("POST", path+"/release", fmt.Sprintf(`{"token":%d,"error":"no disk","output":"df: full"}`, token))
	next := first(h.ok("POST", other+"/claims", `{"wait":20}`))
	require.EqualValues(t, 1, next["attempts"])
	require.Equal(t, []any{"w"}, next["claimants"])
	path, token = other+"/claims/"+next["id"].(string), int64(next["token"].(float64))
	h.ok("POST", path+"/release", fmt.Sprintf(`{"token":%d,"error":"not an image","give_up":true}`, token))
	dead := h.ok("GET", "/api/v1/dead/"+next["id"].(string), "")
	require.Contains(t, dead["note"], "not an image")
	require.Len(t, dead["history"], 2)
}

func TestARequestWithFinishAndTheLimit0ClaimsNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	for range 2 {
		h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	}
	claimed := first(h.ok("POST", w+"/claims", ""))
	body := fmt.Sprintf(`{"limit":0,"finish":[{"task":%q,"resolve":{"token":%v,"result":1}}]}`, claimed["id"], claimed["token"])
	require.Empty(t, items(h.ok("POST", w+"/claims", body)))
	require.Equal(t, "waiting", h.ok("GET", "/api/v1/tasks/t2", "")["state"])
}

// As a stale token, a missing one would tell the worker to stop a task that it has.
func TestACallAboutAClaimWithoutItsTokenIsRefusedAsSuch(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	claimed := first(h.ok("POST", w+"/claims", ""))
	for _, verb := range []string{"extend", "resolve", "release", "hand-back"} {
		h.refuses("invalid", "POST", fmt.Sprintf("%s/claims/%s/%s", w, claimed["id"], verb), `{}`)
	}
	for _, end := range []string{"resolve", "release", "hand_back"} {
		h.refuses("invalid", "POST", w+"/claims", fmt.Sprintf(`{"finish":[{"task":%q,%q:{}}]}`, claimed["id"], end))
	}
	require.Equal(t, "claimed", h.ok("GET", "/api/v1/tasks/t1", "")["state"])
}

func TestAWorkerMayGiveUpWithoutAReason(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	claimed := first(h.ok("POST", w+"/claims", ""))
	h.ok("POST", fmt.Sprintf("%s/claims/%s/release", w, claimed["id"]), fmt.Sprintf(`{"token":%v,"give_up":true}`, claimed["token"]))
	require.Equal(t, "given up after attempt 1", h.ok("GET", "/api/v1/dead/t1", "")["note"])
}

func TestAWorkerThatServesAnActionTwiceIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.refuses("conflict", "POST", "/api/v1/sessions", `{"serves":[{"action":"count","slots":1},{"action":"count","slots":2}]}`)
	h.refuses("conflict", "POST", "/api/v1/sessions", `{"serves":[{"action":"count","slots":16384},{"action":"sum","slots":1}]}`)
}

func TestAWorkerOverHTTPEndsTasksAndClaimsTheNextInOneRequest(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	for range 5 {
		h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	}
	ids, tokens := make([]string, 4), make([]int64, 4)
	for n, claimed := range items(h.ok("POST", w+"/claims", `{"limit":4}`)) {
		ids[n], tokens[n] = claimed.(map[string]any)["id"].(string), int64(claimed.(map[string]any)["token"].(float64))
	}
	body := fmt.Sprintf(`{"finish":[{"task":%q,"resolve":{"token":%d,"result":{"n":4}}},{"task":%q,"resolve":{"token":999}},
		{"task":%q,"release":{"token":%d,"error":"not an image","give_up":true}},{"task":%q,"hand_back":{"token":%d,"delay":60}}]}`,
		ids[0], tokens[0], ids[1], ids[2], tokens[2], ids[3], tokens[3])
	for range 2 { // the second is a repetition of the first
		status, answer := h.keyed("next", "POST", w+"/claims", body)
		require.Equal(t, 200, status, answer)
		require.Equal(t, "t5", first(answer)["id"])
		finished := answer["finished"].([]any)
		require.Equal(t, map[string]any{"task": ids[0]}, finished[0])
		require.Equal(t, "stale_token", finished[1].(map[string]any)["code"])
		require.Contains(t, finished[1].(map[string]any)["detail"], ids[1])
		require.Equal(t, []any{map[string]any{"task": ids[2]}, map[string]any{"task": ids[3]}}, finished[2:])
	}
	require.Equal(t, map[string]any{"n": 4.0}, h.ok("GET", "/api/v1/tasks/"+ids[0], "")["result"])
	require.Equal(t, "claimed", h.ok("GET", "/api/v1/tasks/"+ids[1], "")["state"])
	require.Contains(t, h.ok("GET", "/api/v1/dead/"+ids[2], "")["note"], "not an image")
	for _, bad := range []string{
		`{}`, `{"resolve":{"token":1},"release":{"token":1,"error":""}}`, `{"resolve":{"token":1,"create":[{"action":"a","timeout":-1}]}}`,
		`{"hand_back":{"token":1,"delay":-1}}`, `{"release":{"token":1,"error":"x","delay":-1}}`,
	} {
		h.refuses("invalid", "POST", w+"/claims", `{"finish":[`+bad+`]}`)
	}
	end := fmt.Sprintf(`"finish":[{"task":%q,"resolve":{"token":%d}}]`, ids[1], tokens[1])
	h.refuses("invalid", "POST", w+"/claims", `{"actions":["a b"],`+end+`}`)
	require.Equal(t, "claimed", h.ok("GET", "/api/v1/tasks/"+ids[1], "")["state"], "a request that is refused ends no task")
}

func TestAnEndCreatesTasksAndTheyAreClaimedInTheSameStep(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	path, token := h.claimOne(w)
	id := path[strings.LastIndexByte(path, '/')+1:]
	body := fmt.Sprintf(`{"wait":20,"limit":2,"finish":[{"task":%q,"resolve":{"token":%d,"create":[{"action":"count"},{"action":"later","after":[%q]}]}},
		{"task":"t99","resolve":{"token":7,"create":[{"action":"count"}]}}]}`, id, token, id)
	for range 2 {
		status, answer := h.keyed("k", "POST", w+"/claims", body)
		require.Equal(t, 200, status, answer)
		made := answer["finished"].([]any)[0].(map[string]any)["created"].([]any)
		require.Len(t, made, 2)
		require.Equal(t, "stale_token", answer["finished"].([]any)[1].(map[string]any)["code"])
		require.Len(t, items(answer), 1, "the refused end has created nothing")
		require.Equal(t, made[0].(map[string]any)["id"], first(answer)["id"])
		require.Equal(t, "waiting", h.ok("GET", "/api/v1/tasks/"+made[1].(map[string]any)["id"].(string), "")["state"], "its parent has ended")
	}
	h.ok("POST", w+"/claims", fmt.Sprintf(`{"wait":20,"finish":[{"task":%q,"resolve":{"token":%d}}]}`, id, token)) // a wait would last longer than the test may
}

func TestEndsOfARequestWhoseClaimCannotBeWrittenHappenOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	path, token := h.claimOne(w)
	id := path[strings.LastIndexByte(path, '/')+1:]
	next := func(rec http.ResponseWriter) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1"+w+"/claims",
			strings.NewReader(fmt.Sprintf(`{"finish":[{"task":%q,"resolve":{"token":%d}}]}`, id, token)))
		r.Header.Set("Idempotency-Key", "next")
		h.server.Config.Handler.ServeHTTP(rec, r)
	}
	next(brokenWriter{httptest.NewRecorder()})
	require.Len(t, items(h.ok("GET", "/api/v1/tasks?state=waiting", "")), 1, "the claim came back")
	require.Equal(t, "resolved", h.ok("GET", "/api/v1/tasks/"+id, "")["state"])
	rec := httptest.NewRecorder()
	next(rec)
	require.Contains(t, rec.Body.String(), `"finished":[{"task":"`+id+`"}]`)
	require.Contains(t, rec.Body.String(), `"id":"t2"`)
}

func TestAWorkerOverHTTPGetsTheResultsOfParents(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", "/api/v1/task-batches", `{"tasks":[{"action":"count","ref":"a"},{"action":"count","after":["a"]}]}`)
	path, token := h.claimOne(w)
	h.ok("POST", path+"/resolve", fmt.Sprintf(`{"token":%d,"result":[1,2]}`, token))
	child := first(h.ok("POST", w+"/claims", `{}`))
	parent := child["parents"].([]any)[0].(map[string]any)
	require.Equal(t, "resolved", parent["state"])
	require.Equal(t, []any{1.0, 2.0}, parent["result"])
}

func TestAWorkerCannotAnswerForTheTaskOfAnother(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, other := h.openWorker("count"), h.openWorker("count")
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	path, token := h.claimOne(w)
	id := path[strings.LastIndexByte(path, '/')+1:]
	for _, verb := range []string{"extend", "resolve", "release", "hand-back"} {
		extra := ""
		if verb == "release" {
			extra = `,"error":"x"`
		}
		for _, forged := range []string{other + "/claims/" + id, w + "/claims/t999"} {
			h.refuses("stale_token", "POST", forged+"/"+verb, fmt.Sprintf(`{"token":%d%s}`, token, extra))
		}
		h.refuses("stale_token", "POST", path+"/"+verb, fmt.Sprintf(`{"token":%d%s}`, token+1, extra))
		h.refuses("invalid", "POST", path+"/"+verb, `not JSON`)
		h.refuses("invalid", "POST", path+"/"+verb, fmt.Sprintf(`{"token":%d,"unknown":1}`, token))
		h.refuses("invalid", "POST", path+"/"+verb, `{"token":"1"}`)
		h.refuses("too_large", "POST", path+"/"+verb, `{"token":1,"x":"`+strings.Repeat("x", 2<<20)+`"}`)
		h.refuses("closed", "POST", "/api/v1/sessions/worker-0/claims/t1/"+verb, fmt.Sprintf(`{"token":%d%s}`, token, extra))
	}
	h.ok("POST", path+"/resolve", fmt.Sprintf(`{"token":%d}`, token))
	h.refuses("not_found", "GET", "/api/v1/tasks/t999", "")
}

func TestInvalidSessionsClaimsAndDelaysAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	for _, body := range []string{
		`{"ttl":61}`, `{"ttl":-1}`, `{"ttl":0.01}`, `{"name":"a\nb"}`, `{"serves":[{"action":"a b","slots":1}]}`, `{"serves":[{"action":"a","slots":0}]}`, `[]`, ` `,
	} {
		h.refuses("invalid", "POST", "/api/v1/sessions", body)
	}
	h.refuses("closed", "POST", "/api/v1/sessions", `{"resume":"worker-1"}`)
	h.refuses("conflict", "POST", "/api/v1/sessions", `{"resume":"`+w[strings.LastIndexByte(w, '/')+1:]+`"}`)
	for _, body := range []string{`{"limit":65}`, `{"limit":-1}`, `{"wait":26}`, `{"wait":-1}`, `{"actions":["a b"]}`, `{"actions":"a"}`} {
		h.refuses("invalid", "POST", w+"/claims", body)
	}
	without := "/api/v1/sessions/" + h.ok("POST", "/api/v1/sessions", `{}`)["id"].(string)
	h.refuses("conflict", "POST", without+"/claims", `{}`)
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	path, token := h.claimOne(w)
	for _, delay := range []string{"-1", "1e300"} {
		h.refuses("invalid", "POST", path+"/release", fmt.Sprintf(`{"token":%d,"error":"x","delay":%s}`, token, delay))
		h.refuses("invalid", "POST", path+"/hand-back", fmt.Sprintf(`{"token":%d,"delay":%s}`, token, delay))
	}
	h.refuses("invalid", "POST", path+"/extend", fmt.Sprintf(`{"token":%d,"progress":{"fraction":1.5}}`, token))
}

// claimAs returns a request to claim a task that waits for 20 s.
func claimAs(ctx context.Context, session string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1"+session+"/claims", strings.NewReader(`{"wait":20}`))
	r.Header.Set("Idempotency-Key", "claim")
	return r
}

func TestAClaimThatCannotBeWrittenComesBackAtOnceAndItsKeyClaimsAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	for _, broken := range []http.ResponseWriter{brokenWriter{httptest.NewRecorder()}, unflushed{httptest.NewRecorder()}} {
		h.server.Config.Handler.ServeHTTP(broken, claimAs(t.Context(), w))
		waiting := items(h.ok("GET", "/api/v1/tasks?state=waiting", ""))
		require.Len(t, waiting, 1)
		require.EqualValues(t, 0, waiting[0].(map[string]any)["attempts"])
	}
	for range 2 { // the second is a repetition of the first
		rec := httptest.NewRecorder()
		h.server.Config.Handler.ServeHTTP(rec, claimAs(t.Context(), w))
		require.Contains(t, rec.Body.String(), `"id":"t`)
		require.Len(t, items(h.ok("GET", "/api/v1/tasks?state=claimed", "")), 1)
	}
}

func TestAClientThatGoesWhileItsClaimWaitsHasNoTask(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), claimAs(ctx, w))
	}()
	leave()
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	<-ended // whether it was served at the same moment or not
	require.Len(t, items(h.ok("GET", "/api/v1/tasks?state=waiting", "")), 1)
}

// post is record for a path with a body, and returns the response's body too.
func (h *fixture) post(path, body string) (int, string) {
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(h.Context(), "POST", "http://localhost"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	h.server.Config.Handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestATaskOfASessionThatIsLostOrEndedIsOfferedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.server.Close()
		open := func() string {
			code, body := h.post("/api/v1/sessions", `{"ttl":10,"serves":[{"action":"count","slots":1}]}`)
			require.Equal(t, 201, code, body)
			return "/api/v1/sessions/" + body[len(`{"id":"`):strings.Index(body, `","`)]
		}
		code, _ := h.post("/api/v1/tasks", `{"action":"count"}`)
		require.Equal(t, 201, code)
		silent, beating := open(), open()
		code, body := h.post(silent+"/claims", `{}`)
		require.Equal(t, 200, code)
		require.Contains(t, body, `"id":"t`)
		for range 8 { // a claim that waits is a sign of life, too
			<-time.After(time.Second)
			require.Equal(t, 200, h.record("POST", beating+"/heartbeat", ""))
		}
		code, body = h.post(beating+"/claims", `{"wait":25}`)
		require.Equal(t, 200, code)
		require.Contains(t, body, `"attempts":1`)
		require.Equal(t, 404, h.record("POST", silent+"/heartbeat", ""))
		code, _ = h.post(silent+"/claims", `{}`)
		require.Equal(t, 404, code)
		began := time.Now()
		code, body = h.post(beating+"/claims", `{"wait":25}`)
		require.Equal(t, 200, code)
		require.Equal(t, "{\"items\":[]}\n", body)
		require.InDelta(t, 25, time.Since(began).Seconds(), 0.1)
		require.Equal(t, 200, h.record("POST", beating+"/heartbeat", ""), "the wait kept the session")
	})
}

func TestAWorkerOverHTTPIsToldToDrainAndThatATaskWasCancelled(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)
	path, _ := h.claimOne(w)
	require.Len(t, h.ok("POST", w+"/heartbeat", "")["claims"], 1)
	h.ok("POST", "/api/v1/tasks/"+path[strings.LastIndexByte(path, '/')+1:]+"/cancel", `{}`)
	require.Empty(t, h.ok("POST", w+"/heartbeat", "")["claims"])
	require.Equal(t, false, h.ok("POST", w+"/heartbeat", "")["draining"])
	h.ok("POST", w+"/drain", "")
	for range 2 {
		require.Equal(t, true, h.ok("POST", w+"/heartbeat", "")["draining"])
	}
}

// A thousand claims wait at once and take none of the slots of other requests; further ones
// are refused.
func TestManyClaimsMayWaitAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.server.Close()
		code, body := h.post("/api/v1/sessions", `{"serves":[{"action":"count","slots":1}]}`)
		require.Equal(t, 201, code)
		w := "/api/v1/sessions/" + body[len(`{"id":"`):strings.Index(body, `","`)]
		var mu sync.Mutex
		answers := map[int]int{}
		var waiting sync.WaitGroup
		claim := func(address string) {
			rec, r := httptest.NewRecorder(), claimAs(t.Context(), w)
			r.Header.Del("Idempotency-Key")
			r.RemoteAddr = address
			h.server.Config.Handler.ServeHTTP(rec, r)
			mu.Lock()
			defer mu.Unlock()
			answers[rec.Code]++
			if rec.Code == 429 {
				require.Equal(t, "1", rec.Header().Get("Retry-After"))
				require.Contains(t, rec.Body.String(), `"code":"overloaded"`)
			}
		}
		for range 1_001 {
			waiting.Go(func() { claim("192.0.2.1:9") })
		}
		synctest.Wait()
		require.Equal(t, map[int]int{429: 1}, answers, "one machine has 1000")
		require.Equal(t, 200, h.record("GET", v1+"/origins", ""))
		for range 3_001 {
			waiting.Go(func() { claim("127.0.0.1:9") })
		}
		synctest.Wait()
		require.Equal(t, map[int]int{429: 2}, answers, "all have 4000")
		for range 10 {
			code, _ := h.post("/api/v1/tasks", `{"action":"count"}`)
			require.Equal(t, 201, code)
		}
		waiting.Wait()
		require.Equal(t, map[int]int{200: 4_000, 429: 2}, answers)
		n, err := h.repo.Space(task.Space).Count(t.Context(), task.Any())
		require.NoError(t, err)
		require.Zero(t, n, "all ten were claimed")
	})
}

func TestAHeartbeatThatWaitsAnswersAtOnceWhenTheSessionLosesATaskOrShallDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.server.Close()
		code, body := h.post("/api/v1/sessions", `{"ttl":10,"serves":[{"action":"count","slots":1}]}`)
		require.Equal(t, 201, code)
		id := body[len(`{"id":"`):strings.Index(body, `","`)]
		w := "/api/v1/sessions/" + id
		beat := func() chan string {
			answer := make(chan string, 1)
			go func() {
				code, body := h.post(w+"/heartbeat", `{"wait":25}`)
				require.Equal(t, 200, code)
				answer <- body
			}()
			synctest.Wait()
			return answer
		}
		claim := func(timeout int) string {
			code, _ := h.post("/api/v1/tasks", fmt.Sprintf(`{"action":"count","timeout":%d}`, timeout))
			require.Equal(t, 201, code)
			code, body := h.post(w+"/claims", `{}`)
			require.Equal(t, 200, code)
			return body[len(`{"items":[{"id":"`):strings.Index(body, `","action"`)]
		}
		began := time.Now()
		waiting := beat()
		cancelled := claim(60)
		synctest.Wait()
		require.Empty(t, waiting, "only a loss ends the wait")
		code, _ = h.post("/api/v1/tasks/"+cancelled+"/cancel", `{}`)
		require.Equal(t, 204, code)
		require.Contains(t, <-waiting, `"claims":[]`)
		require.Less(t, time.Since(began), time.Second)

		waiting = beat()
		claim(5)
		require.Contains(t, <-waiting, `"claims":[]`)
		require.InDelta(t, 5, time.Since(began).Seconds(), 1, "it timed out")

		waiting = beat()
		require.Contains(t, <-waiting, id)
		require.InDelta(t, 30, time.Since(began).Seconds(), 1, "nothing happened, and the wait kept the session")

		waiting = beat()
		require.Equal(t, 200, h.record("POST", w+"/heartbeat", ""))
		require.Contains(t, <-waiting, id, "another heartbeat ends the wait")

		waiting = beat()
		require.Equal(t, 202, h.record("POST", w+"/drain", ""))
		require.Contains(t, <-waiting, `"draining":true`)
		require.Contains(t, <-beat(), `"draining":true`, "and from then on at once")
		code, _ = h.post(w+"/heartbeat", `{"wait":26}`)
		require.Equal(t, 400, code)
	})
}
