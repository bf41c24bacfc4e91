package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSchedulesAreAddedChangedPausedAndRemoved(t *testing.T) {
	h := newFixture(t)
	path := v1 + "/schedules/nightly"
	status, s := h.call("PUT", path, `{"cron":"30 3 * * *","zone":"Europe/Berlin","task":{"action":"import","data":[1]}}`)
	require.Equal(t, http.StatusCreated, status)
	require.Equal(t, []any{1.0}, s["task"].(map[string]any)["data"])
	require.NotEmpty(t, s["next"])
	status, _ = h.call("PUT", path, `{"every":60,"overlap":"wait","task":{"action":"import","data":[1]}}`)
	require.Equal(t, http.StatusOK, status)
	row := first(h.ok("GET", v1+"/schedules", ""))
	require.Equal(t, "nightly", row["name"])
	require.Equal(t, map[string]any{"action": "import"}, row["task"], "a list has no data")

	paused := h.ok("POST", path+"/pause", "")
	require.Equal(t, true, paused["paused"])
	require.NotContains(t, paused, "next")
	require.NotEmpty(t, h.ok("POST", path+"/resume", "")["next"])
	require.Equal(t, "wait", h.ok("GET", path, "")["overlap"])

	h.refuses("not_found", "PUT", path, `{"cron":"30 3 * * *","zone":"Berlin","task":{"action":"import"}}`)
	h.refuses("invalid", "PUT", path, `{"every":-1,"task":{"action":"import"}}`)
	h.refuses("invalid", "PUT", path, `{"every":60,"task":{}}`)
	h.refuses("invalid", "PUT", path, `{"every":60,"task":{"action":"import"},"often":true}`)
	h.refuses("forbidden", "POST", v1+"/spaces/schedule/put", `{"tuple":"a"}`)
	status, _ = h.call("DELETE", path, "")
	require.Equal(t, http.StatusNoContent, status)
	h.refuses("not_found", "GET", path, "")
	h.refuses("not_found", "POST", path+"/pause", "")
}
