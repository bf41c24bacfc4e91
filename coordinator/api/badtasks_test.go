package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/actions"
	"leasehold/models"
	"leasehold/shared/protocol/task"
)

func TestMalformedTasksAreRefusedAndNamed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const tasks = "/api/v1/tasks"
	for _, at := range []string{`"not_before":"2030-01-02T00:00:00Z","expires_at":"2030-01-01T00:00:00Z"`, `"not_before":"9999-12-31T00:00:00Z"`, `"expires_at":"0001-01-02T00:00:00Z"`} {
		h.refuses("conflict", "POST", tasks, `{"action":"a",`+at+`}`) // with the other time, or with the clock
	}
	h.refuses("not_found", "POST", tasks, `{"action":"a","after":["t999"]}`)
	h.refuses("forbidden", "POST", tasks, `{"action":"visit"}`)
	for name, body := range map[string]string{
		"data of half an object":     `{"action":"a","data":{"n":}}`,
		"data not in UTF-8":          "{\"action\":\"a\",\"data\":\"\xff\"}",
		"an action with a newline":   `{"action":"a\nb"}`,
		"a tag with a newline":       `{"action":"a","tags":["x\ny"]}`,
		"a key with a newline":       `{"action":"a","unique_key":"x\ny"}`,
		"a parent with a newline":    `{"action":"a","after":["t1\nt2"]}`,
		"a limit with a newline":     `{"action":"a","limits":["x\n"]}`,
		"a ref with a newline":       `{"tasks":[{"action":"a","ref":"x\n"}]}`,
		"a negative timeout":         `{"action":"a","timeout":-1}`,
		"an absurd timeout":          `{"action":"a","timeout":1e300}`,
		"a timeout of text":          `{"action":"a","timeout":"5m"}`,
		"a negative back-off":        `{"action":"a","backoff":-1e-9}`,
		"an absurd back-off":         `{"action":"a","backoff":1e18}`,
		"an absurd TTL":              `{"action":"a","result_tuple":true,"result_ttl":1e18}`,
		"negative attempts":          `{"action":"a","max_attempts":-1}`,
		"more attempts than 1000":    `{"action":"a","max_attempts":1001}`,
		"attempts beyond int64":      `{"action":"a","max_attempts":9223372036854775808}`,
		"a priority of half":         `{"action":"a","priority":0.5}`,
		"more tasks than a request":  `{"tasks":[` + strings.Repeat(`{"action":"a"},`, 1000) + `{"action":"a"}]}`,
		"an id beside its own field": `{"action":"a","id":"t1"}`,
	} {
		code, problem := h.call("POST", tasks, body)
		require.Equal(t, http.StatusBadRequest, code, name)
		require.Equal(t, "invalid", problem["code"], name)
		require.NotContains(t, problem["detail"], "call task.", name)
	}
	_, problem := h.call("POST", tasks, `{"action":"a","backoff":3e6}`)
	require.Contains(t, problem["detail"], "backoff 3000000: want 0 to 2592000 seconds")
	code, problem := h.call("POST", tasks, `{"action":"a","data":"`+strings.Repeat("x", 600<<10)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, code)
	require.Contains(t, problem["detail"], "524288")
	code, problem = h.call("POST", tasks, `{"action":"a","data":"`+strings.Repeat("x", 2<<20)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, code)
	require.Contains(t, problem["detail"], "1048576", "the limit of a body")
	for _, id := range []string{"t1%0Ab", "%00", "%ff", strings.Repeat("x", 4000), "..%2f.."} {
		code, _ := h.call("GET", tasks+"/"+id, "")
		require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, code, id)
	}
	require.Empty(t, items(h.ok("GET", tasks, "")))
	h.ok("POST", tasks, `{"action":"a","max_attempts":1000}`)
}

// A result that another language could not read must not spoil the answers that carry it.
func TestAResultNotInUTF8IsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w := h.openWorker("a")
	h.ok("POST", "/api/v1/tasks", `{"action":"a"}`)
	path, token := h.claimOne(w)
	h.refuses("invalid", "POST", path+"/resolve", fmt.Sprintf("{\"token\":%d,\"result\":\"\xff\"}", token))
	h.ok("POST", path+"/extend", fmt.Sprintf(`{"token":%d}`, token))
	h.refuses("invalid", "POST", path+"/release", fmt.Sprintf("{\"token\":%d,\"error\":\"\xff\"}", token))
}

// manyNames is a multiple of task.MaxCreate. With 100,000 the test takes 8 s.
const manyNames = 4_000

// Clients choose the names of actions, tags and groups, so that few names of actions make series, and no others.
func TestManyActionsTagsAndGroupsMakeFewSeries(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	before := strings.Count(h.text("/metrics"), "\n")
	client := task.Client{Repo: h.repo}
	for n := 0; n < manyNames; n += task.MaxCreate {
		all := make([]task.New, task.MaxCreate)
		for k := range all {
			name := fmt.Sprint("n", n+k)
			all[k] = task.New{Task: models.Task{Action: name, Timeout: 60, TaskOptions: models.TaskOptions{Group: name, Tags: []string{name}}}}
		}
		_, err := client.CreateAll(t.Context(), all...)
		require.NoError(t, err)
	}
	metrics := h.text("/metrics")
	require.True(t, utf8.ValidString(metrics))
	require.Less(t, strings.Count(metrics, "\n"), before+13*(actions.MaxLabels+1)+200)
	require.NotContains(t, metrics, "n777")
	require.Contains(t, metrics, fmt.Sprintf(`leasehold_space_tuples{space="task",state="visible"} %d`, manyNames))
	last := fmt.Sprint("n", manyNames-1)
	found := items(h.ok("GET", "/api/v1/tasks?tag="+last, ""))
	require.Len(t, found, 1)
}
