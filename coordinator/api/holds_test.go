package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// A Go client that decodes an answer and closes its body ends the connection once the JSON is parsed.
func TestATupleComesOnceIfTheClientClosesTheConnectionAfterTheAnswer(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/spaces", `{"name":"notes"}`)
	const all = 200
	for n := range all {
		h.ok("POST", v1+"/spaces/notes/put", fmt.Sprintf(`{"tuple":"note %d"}`, n))
	}
	got := map[string]int{}
	for {
		resp, err := http.Post(h.server.URL+v1+"/spaces/notes/get", "application/json", strings.NewReader(`{"template":"note ?int64"}`))
		require.NoError(t, err)
		if resp.StatusCode == http.StatusNotFound {
			require.NoError(t, resp.Body.Close())
			break
		}
		require.Positive(t, resp.ContentLength, "an answer has its length")
		var found struct{ Line string }
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&found))
		require.NoError(t, resp.Body.Close())
		got[found.Line]++
	}
	require.Len(t, got, all)
	for line, n := range got {
		require.Equal(t, 1, n, line)
	}
}

func TestAClaimStaysIfTheClientClosesTheConnectionAfterTheAnswer(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	session := h.ok("POST", v1+"/sessions", `{"serves":[{"action":"count","slots":1}]}`)["id"].(string)
	for n := range 50 {
		h.ok("POST", v1+"/tasks", fmt.Sprintf(`{"action":"count","data":%d}`, n))
		resp, err := http.Post(h.server.URL+v1+"/sessions/"+session+"/claims", "application/json", strings.NewReader(`{}`))
		require.NoError(t, err)
		var claimed struct {
			Items []struct {
				ID    string
				Token int64
			}
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&claimed))
		require.NoError(t, resp.Body.Close())
		require.Len(t, claimed.Items, 1)
		c := claimed.Items[0]
		h.ok("POST", v1+"/sessions/"+session+"/claims/"+c.ID+"/resolve", fmt.Sprintf(`{"token":%d}`, c.Token))
	}
}

func TestAGetOverHTTPIsAcknowledged(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/spaces", `{"name":"notes"}`)
	h.ok("POST", v1+"/spaces/notes/put", `{"tuple":"note 1"}`)
	held := h.ok("POST", v1+"/spaces/notes/get", `{"template":"note ?int64","ack":true}`)
	require.Equal(t, "note 1", held["line"])
	at := v1 + "/spaces/notes/holds/" + held["hold"].(string)
	h.refuses("not_found", "POST", v1+"/spaces/notes/get", `{"template":"note ?int64"}`)
	require.Nil(t, h.ok("POST", at+"/back", ""))
	h.refuses("stale_token", "POST", at+"/back", "")
	h.refuses("stale_token", "POST", at+"/ack", "")

	held = h.ok("POST", v1+"/spaces/notes/get", `{"template":"note ?int64","ack":true,"hold_s":600,"wait_s":1}`)
	require.Nil(t, h.ok("POST", v1+"/spaces/notes/holds/"+held["hold"].(string)+"/ack", ""))
	h.refuses("not_found", "POST", v1+"/spaces/notes/get", `{"template":"note ?int64"}`)
	for _, c := range []struct{ code, space, body string }{
		{"invalid", "notes", `{"template":"note","ack":true,"hold_s":0.5}`}, {"invalid", "notes", `{"template":"note","ack":true,"hold_s":601}`},
		{"invalid", "notes", `{"template":"note","hold_s":5}`}, {"invalid", "notes", `{"template":"note","ack":false,"hold_s":0.5}`}, {"invalid", "notes", `{"template":"note ...","ack":true}`},
		{"not_found", "none", `{"template":"note","ack":true}`}, {"forbidden", "lease", `{"template":"note","ack":true}`},
		{"forbidden", "task", `{"template":"note","ack":true}`},
	} {
		h.refuses(c.code, "POST", v1+"/spaces/"+c.space+"/get", c.body)
	}
	resp, err := http.Post(h.server.URL+v1+"/spaces/task/get", "application/json", strings.NewReader(`{"template":"note","ack":true}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "claims")
}

// The server learns of a client that has ended its sending half as of one that has gone.
func TestAClientThatEndsItsSendingHalfGetsNoEmptyAnswer(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/spaces", `{"name":"notes"}`)
	for n := range 20 {
		h.ok("POST", v1+"/spaces/notes/put", fmt.Sprintf(`{"tuple":"note %d"}`, n))
	}
	delivered := 0
	for range 20 {
		c, err := net.Dial("tcp", h.server.Listener.Addr().String())
		require.NoError(t, err)
		const body = `{"template":"note ?int64"}`
		_, err = fmt.Fprintf(c, "POST %s/spaces/notes/get HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", v1, h.server.Listener.Addr(), len(body), body)
		require.NoError(t, err)
		require.NoError(t, c.(*net.TCPConn).CloseWrite())
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		if strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
			require.Contains(t, string(answer), `"line":"note`)
			delivered++
		} else {
			require.Contains(t, string(answer), `"code":"unavailable"`)
		}
	}
	require.EqualValues(t, 20-delivered, h.ok("GET", v1+"/spaces/notes", "")["visible"])
}

// What a session puts into the open spaces of the protocols is checked as if a procedure had put it.
func TestASessionPutsOnlyTasksThatCouldBeCreatedAndResultsOfTasksThatItHolds(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	tasks, results := h.repo.Space(task.Space), h.repo.Space(task.Result)
	newTask := func(action, id, lease string, token int64, data string) tuple.Tuple {
		return tuple.New("task", action, id, lease, token, int64(0), data)
	}
	for name, c := range map[string]struct {
		t    tuple.Tuple
		want error
	}{
		"no task":            {tuple.New("forged"), fault.ErrInvalid},
		"an action":          {newTask("not an id", "a1", "", 0, "{}"), fault.ErrInvalid},
		"an id":              {newTask("count", "", "", 0, "{}"), fault.ErrInvalid},
		"data":               {newTask("count", "a1", "", 0, "{"), fault.ErrInvalid},
		"too much data":      {newTask("count", "a1", "", 0, `"`+strings.Repeat("x", 600<<10)+`"`), fault.ErrTooLarge},
		"a lease":            {newTask("count", "a1", "l1", 0, "{}"), fault.ErrForbidden},
		"an attempt's token": {newTask("count", "a1", "", 7, "{}"), fault.ErrForbidden},
	} {
		require.ErrorIs(t, tasks.Put(ctx, c.t, 0), c.want, name)
	}
	require.NoError(t, tasks.Put(ctx, newTask("count", "a1", "", 0, `{"n": 1}`), 0))
	require.ErrorIs(t, tasks.Put(ctx, newTask("count", "a1", "", 0, "{}"), 0), fault.ErrConflict)

	claimed, err := h.connect().Space(task.Space).Get(ctx, task.AnyOf("count"))
	require.NoError(t, err)
	holder := h.last.Space(task.Result)
	i, err := task.DecodeEntry(space.Entry{Tuple: claimed})
	require.NoError(t, err)
	require.ErrorIs(t, tasks.Put(ctx, newTask("count", "a1", "", 0, "{}"), 0), fault.ErrConflict, "while it runs")
	result := task.ResultTuple{Action: "count", Token: i.Token, Final: true, Body: "1"}
	require.ErrorIs(t, results.Put(ctx, task.EncodeResult(result), 0), fault.ErrStaleToken, "another session holds it")
	require.NoError(t, holder.Put(ctx, task.EncodeResult(result), 0))
	for _, forged := range []task.ResultTuple{
		{Action: "count", Token: i.Token + 1, Body: "1"},
		{Action: "other", Token: i.Token, Body: "1"}, {Action: "count", Lease: "l1", Token: i.Token, Body: "1"},
	} {
		require.ErrorIs(t, holder.Put(ctx, task.EncodeResult(forged), 0), fault.ErrStaleToken, forged)
	}
	result.Body = "{"
	require.ErrorIs(t, holder.Put(ctx, task.EncodeResult(result), 0), fault.ErrInvalid)
	require.NoError(t, holder.Put(ctx, tuple.New("note"), 0), "no manager takes it")
}
