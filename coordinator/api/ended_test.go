package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func TestATaskIsAwaitedShownAndListedAfterItsEnd(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	worker := task.Client{Repo: h.connect()}
	made, err := worker.Create(t.Context(), models.Task{Action: "a", Timeout: 60, TaskOptions: models.TaskOptions{Tags: []string{"x"}}}, 0)
	require.NoError(t, err)
	code, body := h.call("GET", "/api/v1/tasks/"+made.ID, "")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "waiting", body["state"])
	_, list := h.call("GET", "/api/v1/tasks", "")
	require.Equal(t, "no_worker", list["items"].([]any)[0].(map[string]any)["why"].(map[string]any)["code"])

	awaited := make(chan map[string]any, 1)
	go func() {
		_, body := h.call("GET", "/api/v1/tasks/"+made.ID+"?wait=20", "")
		awaited <- body
	}()
	i, err := worker.Claim(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, worker.Report(t.Context(), i, "", true, map[string]int{"n": 1}))
	body = <-awaited
	require.Equal(t, "resolved", body["state"])
	require.Equal(t, map[string]any{"n": 1.0}, body["result"])
	require.Nil(t, body["current_claimant"])
	require.NotEmpty(t, body["ended_at"])
	require.NotNil(t, body["duration"])
	require.Equal(t, i.CurrentClaimant, body["worker"])
	for query, want := range map[string]int{"resolved": 1, "resolved&tag=x": 1, "resolved&tag=y": 0, "ended": 1, "cancelled": 0, "dead": 0} {
		code, list = h.call("GET", "/api/v1/tasks?state="+query, "")
		require.Equal(t, http.StatusOK, code, query)
		require.Len(t, list["items"], want, query)
	}
	code, _ = h.call("GET", "/api/v1/tasks/t999?wait=1", "")
	require.Equal(t, http.StatusNotFound, code)
	code, _ = h.call("GET", "/api/v1/tasks/"+made.ID+"?wait=3600", "")
	require.Equal(t, http.StatusBadRequest, code)
}

func TestATaskThatDoesNotEndInTimeIsShownAsItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.server.Close()
		code, _ := h.post("/api/v1/tasks", `{"action":"a"}`)
		require.Equal(t, 201, code)
		show := func(ctx context.Context) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.server.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/api/v1/tasks/t1?wait=25", nil))
			return w
		}
		began := time.Now()
		w := show(t.Context())
		require.Equal(t, 200, w.Code)
		require.Contains(t, w.Body.String(), `"state":"waiting"`)
		require.Equal(t, 25*time.Second, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w = show(ctx)
		require.Equal(t, 503, w.Code, "the request has ended before")
		require.Equal(t, 26*time.Second, time.Since(began))
	})
}

// A foreign client may report any text.
func TestAResultThatIsNotJSONIsShownAsAString(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	repo := h.connect()
	worker := task.Client{Repo: repo}
	made, err := worker.Create(t.Context(), models.Task{Action: "a", Timeout: 60}, 0)
	require.NoError(t, err)
	i, err := worker.Claim(t.Context(), "a")
	require.NoError(t, err)
	_, err = repo.Call(t.Context(), space.OpID{}, "task.report",
		tuple.New(i.ID, task.EncodeResult(task.ResultTuple{Action: "a", Token: i.Token, Final: true, Body: "plain"})))
	require.NoError(t, err)
	_, body := h.call("GET", "/api/v1/tasks/"+made.ID, "")
	require.Equal(t, "plain", body["result"], fmt.Sprint(body))
}

// Only the parent had a worker, but both died at some time.
func TestADeadLetterTellsWhenItDied(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	parent := h.ok("POST", "/api/v1/tasks", `{"action":"a"}`)["id"].(string)
	child := h.ok("POST", "/api/v1/tasks", `{"action":"a","after":["`+parent+`"]}`)["id"].(string)
	worker := task.Client{Repo: h.connect()}
	i, err := worker.Claim(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, worker.Fail(t.Context(), i, task.Failure{Reason: "no disk", GiveUp: true}))
	died := h.ok("GET", "/api/v1/tasks/"+parent, "")
	require.Equal(t, i.CurrentClaimant, died["worker"])
	require.NotNil(t, died["duration"])
	orphan := h.ok("GET", "/api/v1/tasks/"+child, "")
	require.NotEmpty(t, died["ended_at"])
	require.NotEmpty(t, orphan["ended_at"])
	require.Nil(t, orphan["worker"])
	require.Nil(t, orphan["duration"])
	require.Contains(t, orphan["note"], "no disk")
}

func TestWhoComesTooLateIsToldTheStateOfTheTask(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := h.ok("POST", "/api/v1/tasks", `{"action":"a"}`)["id"].(string)
	late := func(method, path, body, state string) {
		h.Helper()
		_, problem := h.call(method, path, body)
		require.Equal(h, "not_found", problem["code"])
		require.Contains(h, problem["detail"], "task "+id+" is "+state)
	}
	late("POST", "/api/v1/dead/"+id+"/requeue", "", "waiting")
	h.ok("POST", "/api/v1/tasks/"+id+"/cancel", `{}`)
	late("POST", "/api/v1/tasks/"+id+"/cancel", `{}`, "cancelled")
	late("DELETE", "/api/v1/dead/"+id, "", "cancelled")
	h.refuses("not_found", "POST", "/api/v1/tasks/t999/cancel", `{}`)
}
