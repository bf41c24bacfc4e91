package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"leasehold/coordinator/api"
)

// A reader asks every route that reads, about tasks that wait, are claimed, have ended and are dead. The data and results
// of tasks are in none of the answers.
func TestAReaderSeesTheDataOfTasksNowhere(t *testing.T) {
	t.Parallel()
	const marker = "rosebud"
	h := newRolesFixture(t)
	ids := h.tasksWith(marker)
	text, err := api.OpenAPI(api.WholeDocument)
	require.NoError(t, err)
	var document described
	require.NoError(t, yaml.Unmarshal(text, &document))
	asked := 0
	for path, methods := range document.Paths {
		for method := range methods {
			if method != "get" {
				continue
			}
			for _, id := range ids {
				for _, name := range []string{"task", "result", "dead", "alert", "taskdata", "taskends", "idempotency", "log", "status"} {
					at := strings.NewReplacer("{task}", id, "{dead}", id, "{space}", name, "{action}", "mail", "{", "", "}", "").Replace(path)
					status, answer := h.answerAs("reader", "GET", at, "")
					require.NotContains(t, answer, marker, at)
					if status == http.StatusOK {
						asked++
					}
					if at == path || !strings.Contains(path, "{space}") {
						break
					}
				}
				if !strings.Contains(path, "{") {
					break
				}
			}
		}
	}
	require.Greater(t, asked, 30)
	for _, name := range []string{"task", "result", "dead"} {
		_, answer := h.answerAs("reader", "POST", "/api/v1/spaces/"+name+"/query", `{"template": "..."}`)
		require.NotContains(t, answer, marker)
	}
	_, shown := h.answerAs("producer", "GET", "/api/v1/tasks/"+ids[0], "")
	require.Contains(t, shown, marker, "a producer sees it")
}

// tasksWith creates tasks with a text in their data, and returns their ids: one that waits, one that is claimed, one that
// has ended with the text in its result, and one that is dead with it in its reason's output.
func (h *fixture) tasksWith(text string) (ids []string) {
	h.Helper()
	create := func(action string) string {
		status, answer := h.answerAs("producer", "POST", "/api/v1/tasks", `{"action": "`+action+`", "data": {"to": "`+text+`"}}`)
		require.Equal(h, http.StatusCreated, status, answer)
		var task struct{ ID string }
		require.NoError(h, json.Unmarshal([]byte(answer), &task))
		return task.ID
	}
	status, opened := h.answerAs("worker", "POST", "/api/v1/sessions", `{"serves":[{"action":"mail","slots":4}],"ttl":60}`)
	require.Equal(h, http.StatusCreated, status, opened)
	var session struct{ ID string }
	require.NoError(h, json.Unmarshal([]byte(opened), &session))
	claim := func() (path string, token json.Number) {
		_, answer := h.answerAs("worker", "POST", "/api/v1/sessions/"+session.ID+"/claims", `{}`)
		var claimed struct {
			Items []struct {
				ID    string
				Token json.Number
			}
		}
		require.NoError(h, json.Unmarshal([]byte(answer), &claimed), answer)
		require.Len(h, claimed.Items, 1, answer)
		return "/api/v1/sessions/" + session.ID + "/claims/" + claimed.Items[0].ID, claimed.Items[0].Token
	}
	ended := create("mail")
	path, token := claim()
	status, answer := h.answerAs("worker", "POST", path+"/resolve", `{"token": `+token.String()+`, "result": {"sent": "`+text+`"}}`)
	require.Less(h, status, 300, answer)
	dead := create("mail")
	path, token = claim()
	status, answer = h.answerAs("worker", "POST", path+"/release", `{"token": `+token.String()+`, "error": "no post", "output": "`+text+`", "give_up": true}`)
	require.Less(h, status, 300, answer)
	claimed := create("mail")
	_, _ = claim()
	return []string{create("later"), claimed, ended, dead}
}
