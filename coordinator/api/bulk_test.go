package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dies creates n tasks of the action count and makes them dead letters, by a parent that is cancelled.
func (h *fixture) dies(n int, data string) {
	h.Helper()
	parent := h.ok("POST", v1+"/tasks", `{"action":"parent"}`)["id"].(string)
	var all []string
	for range n {
		all = append(all, `{"action":"count","data":`+data+`,"tags":["x"],"after":["`+parent+`"]}`)
	}
	for from := 0; from < n; from += 500 {
		h.ok("POST", v1+"/task-batches", `{"tasks":[`+strings.Join(all[from:min(from+500, n)], ",")+`]}`)
	}
	h.ok("POST", v1+"/tasks/"+parent+"/cancel", "{}")
}

func (h *fixture) count(query string) float64 {
	h.Helper()
	return h.ok("GET", v1+"/bulk/count?"+query, "")["count"].(float64)
}

func TestABulkChangesWhatItsFilterSelectsAndTellsIfThatGrew(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.dies(5, `{"disk":"sda"}`)
	h.dies(3, `{"disk":"sdb"}`)
	require.EqualValues(t, 8, h.count("state=dead"))
	require.EqualValues(t, 8, h.count("state=dead&action=count"))
	require.EqualValues(t, 3, h.count("state=dead&data=sdb"))
	require.EqualValues(t, 8, h.count("state=dead&text="+"CANCELLED"))
	require.Zero(t, h.count("state=dead&text=(.*"), "it is text, not an expression")
	seen := h.ok("GET", v1+"/bulk/count?state=dead&tag=x", "")
	h.dies(1, `{"disk":"sda"}`)
	h.refuses("conflict", "POST", v1+"/bulk/discard", `{"count":8,"tag":"x"}`)
	require.EqualValues(t, 9, h.count("state=dead"), "nothing has happened")
	answer := h.ok("POST", v1+"/bulk/discard", `{"count":8,"tag":"x","before":"`+seen["at"].(string)+`"}`)
	require.Len(t, answer["done"], 8)
	require.NotContains(t, answer, "next")
	require.EqualValues(t, 1, h.count("state=dead"), "the later one is left")
	require.Empty(t, h.ok("POST", v1+"/bulk/discard", `{"count":8,"tag":"x","before":"`+seen["at"].(string)+`"}`)["done"], "a repetition does nothing")
}

func TestABulkOfManyIsDoneInPartsThatGoOn(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for range 3 {
		var all []string
		for range 800 {
			all = append(all, `{"action":"count"}`)
		}
		h.ok("POST", v1+"/task-batches", `{"tasks":[`+strings.Join(all, ",")+`]}`)
	}
	require.EqualValues(t, 2400, h.count("action=count"))
	done, cursor, parts := 0, "", 0
	for {
		answer := h.ok("POST", v1+"/bulk/cancel", fmt.Sprintf(`{"count":2400,"action":"count","reason":"moved","cursor":%q}`, cursor))
		done, parts = done+len(answer["done"].([]any)), parts+1
		next, more := answer["next"]
		if !more {
			break
		}
		cursor = next.(string)
	}
	require.Equal(t, []int{2400, 3}, []int{done, parts})
	require.Zero(t, h.count(""))
	ended := first(h.ok("GET", v1+"/tasks?state=cancelled&limit=1", ""))
	require.Equal(t, "cancelled: moved", ended["note"])
}

func TestABulkReportsWhatItCouldNotChange(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.dies(2, `1`)
	answer := h.ok("POST", v1+"/bulk/requeue", `{"count":2}`)
	require.Empty(t, answer["done"])
	refused := answer["refused"].([]any)
	require.Len(t, refused, 2, "their parent cannot come back")
	require.Equal(t, "conflict", refused[0].(map[string]any)["code"])
	require.EqualValues(t, 2, h.count("state=dead"))
}

func TestBadBulksAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for body, route := range map[string]string{
		`{"count":-1}`:                   "discard",
		`{"count":1,"action":"<b>"}`:     "discard",
		`{"count":1,"state":"dead"}`:     "discard",
		`{"count":1,"state":"resolved"}`: "cancel",
		`{"count":1,"older":-1}`:         "cancel",
		`{"count":1,"cursor":"?"}`:       "requeue",
		`{"count":1,"before":"today"}`:   "requeue",
	} {
		h.refuses("invalid", "POST", v1+"/bulk/"+route, body)
	}
	h.refuses("invalid", "GET", v1+"/bulk/count?state=resolved", "")
	h.refuses("invalid", "GET", v1+"/tasks?before=today", "")
	for _, route := range []string{"requeue", "discard", "cancel"} { // nothing is selected
		require.Empty(t, h.ok("POST", v1+"/bulk/"+route, `{"count":0,"action":"none"}`)["done"])
	}
}

func TestActionsAreListedWithTheirPauseAndTheirOldestTask(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.Empty(t, items(h.ok("GET", v1+"/actions", "")))
	h.openWorker("count")
	h.ok("POST", v1+"/tasks", `{"action":"other"}`)
	h.ok("POST", v1+"/actions/idle/pause", `{"reason":"the disk is full"}`)
	require.Eventually(t, func() bool { return len(items(h.ok("GET", v1+"/actions", ""))) == 3 }, 10*time.Second, 50*time.Millisecond, "a second later")
	all := items(h.ok("GET", v1+"/actions", ""))
	idle := all[1].(map[string]any)
	require.Equal(t, []any{"idle", true, "the disk is full", 0.0}, []any{idle["action"], idle["paused"], idle["why"], idle["workers"]})
	require.NotContains(t, idle, "median", "what was not measured is absent")
	require.NotContains(t, idle, "oldest_claimable")
	other := all[2].(map[string]any)
	require.Contains(t, other, "oldest_claimable")
	require.EqualValues(t, 1, other["tasks"].(map[string]any)["waiting"])
	require.EqualValues(t, 1, all[0].(map[string]any)["workers"])
	require.Empty(t, items(h.ok("GET", v1+"/leases", "")))
}
