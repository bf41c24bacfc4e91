package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyed sends a request with an idempotency key.
func (h *fixture) keyed(key, method, path, body string) (int, map[string]any) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, h.server.URL+path, strings.NewReader(body))
	require.NoError(h, err)
	r.Header.Set("Idempotency-Key", key)
	return h.send(r)
}

func TestARequestThatIsRepeatedWithItsKeyHasOneEffect(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	same := func(key, method, path, body string) map[string]any {
		h.Helper()
		status, first := h.keyed(key, method, path, body)
		require.Less(h, status, 300, "%v", first)
		again, second := h.keyed(key, method, path, body)
		require.Equal(h, status, again)
		require.Equal(h, first, second)
		return first
	}
	id := same("create", "POST", "/api/v1/tasks", `{"action":"count"}`)["id"].(string)
	same("create-all", "POST", "/api/v1/task-batches", `{"tasks":[{"action":"count"},{"action":"count"}]}`)
	require.Len(t, items(h.ok("GET", "/api/v1/tasks", "")), 3)
	claimed := first(same("claim", "POST", w+"/claims", `{}`))
	require.Equal(t, id, claimed["id"])
	path, token := w+"/claims/"+id, marshal(t, claimed["token"])
	same("extend", "POST", path+"/extend", `{"token":`+token+`}`)
	same("resolve", "POST", path+"/resolve", `{"token":`+token+`,"create":[{"action":"other"}]}`)
	require.Len(t, items(h.ok("GET", "/api/v1/tasks?action=other", "")), 1)
	next := first(h.ok("POST", w+"/claims", `{}`))
	path, token = w+"/claims/"+next["id"].(string), marshal(t, next["token"])
	same("back", "POST", path+"/hand-back", `{"token":`+token+`}`)
	next = first(h.ok("POST", w+"/claims", `{}`))
	path, token = w+"/claims/"+next["id"].(string), marshal(t, next["token"])
	same("release", "POST", path+"/release", `{"token":`+token+`,"error":"x","give_up":true}`)
	same("requeue", "POST", "/api/v1/dead/"+next["id"].(string)+"/requeue", "")
	same("cancel", "POST", "/api/v1/tasks/"+next["id"].(string)+"/cancel", `{"reason":"x"}`)
}

func TestATaskAfterOneThatHasEndedIsCreatedOnceForItsKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("count")
	id := h.ok("POST", "/api/v1/tasks", `{"action":"count"}`)["id"].(string)
	claimed := first(h.ok("POST", w+"/claims", `{}`))
	h.ok("POST", w+"/claims/"+id+"/resolve", `{"token":`+marshal(t, claimed["token"])+`,"result":7}`)
	for range 2 {
		status, made := h.keyed("after", "POST", "/api/v1/tasks", `{"action":"count","after":["`+id+`"]}`)
		require.Equal(t, 201, status, "%v", made)
	}
	child := first(h.ok("POST", w+"/claims", `{}`))
	require.EqualValues(t, 7, child["parents"].([]any)[0].(map[string]any)["result"])
	body := `{"token":` + marshal(t, child["token"]) + `,"create":[{"action":"count","after":["` + id + `"]}]}`
	for range 2 {
		status, made := h.keyed("resolve", "POST", w+"/claims/"+child["id"].(string)+"/resolve", body)
		require.Equal(t, 200, status, "%v", made)
	}
	require.Len(t, items(h.ok("GET", "/api/v1/tasks", "")), 1)
}

// A repeated request may come late, when another user has done the opposite meanwhile.
func TestAPauseOrALimitThatIsRepeatedWithItsKeyUndoesNoLaterChange(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	action, limit := "/api/v1/actions/count", "/api/v1/limits/db"
	send := func(key, method, path, body string) map[string]any {
		h.Helper()
		status, answer := h.keyed(key, method, path, body)
		require.Less(h, status, 300, "%v", answer)
		return answer
	}
	require.Equal(t, true, send("p", "POST", action+"/pause", "")["paused"])
	require.Equal(t, false, send("r", "POST", action+"/resume", "")["paused"])
	require.Equal(t, false, send("p", "POST", action+"/pause", "")["paused"], "it is the first pause again")
	require.Equal(t, true, send("p2", "POST", action+"/pause", "")["paused"])
	require.Equal(t, true, send("r", "POST", action+"/resume", "")["paused"])
	send("set", "PUT", limit, `{"max":1}`)
	send("remove", "DELETE", limit, "")
	send("set", "PUT", limit, `{"max":1}`)
	require.Empty(t, items(h.ok("GET", "/api/v1/limits", "")))
	send("remove", "DELETE", limit, "")
}

func TestAKeyForAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	status, _ := h.keyed("k", "POST", "/api/v1/tasks", `{"action":"count"}`)
	require.Equal(t, 201, status)
	for _, other := range [][2]string{{"/api/v1/tasks", `{"action":"other"}`}, {"/api/v1/task-batches", `{"tasks":[{"action":"count"}]}`}} {
		status, problem := h.keyed("k", "POST", other[0], other[1])
		require.Equal(t, 409, status)
		require.Equal(t, "key_reused", problem["code"])
	}
	for _, key := range []string{strings.Repeat("k", 129), "a b", "é"} {
		status, problem := h.keyed(key, "POST", "/api/v1/tasks", `{"action":"count"}`)
		require.Equal(t, 400, status, key)
		require.Contains(t, problem["detail"], "Idempotency-Key")
	}
	status, _ = h.keyed("refused", "POST", "/api/v1/tasks", `{"action":"a b"}`)
	require.Equal(t, 400, status)
	status, _ = h.keyed("refused", "POST", "/api/v1/tasks", `{"action":"ab"}`)
	require.Equal(t, 201, status, "what was refused has no effect, so the key is free")
	for _, key := range []string{strings.Repeat("k", 128), "!", "~"} {
		status, _ = h.keyed(key, "POST", "/api/v1/tasks", `{"action":"count"}`)
		require.Equal(t, 201, status, "the longest key, and the first and the last visible character")
	}
	require.Len(t, items(h.ok("GET", "/api/v1/tasks", "")), 5)
}
