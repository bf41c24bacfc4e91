package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
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
		{"invalid", "notes", `{"template":"note","hold_s":5}`}, {"invalid", "notes", `{"template":"note ...","ack":true}`},
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

func TestASessionOfAnyKindCannotChangeASpaceOfTheProtocols(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, name := range []string{"lease", "dead", "schedule", "status", "batch", "hold", "idempotency", "taskdata", "alert", "taskends"} {
		in := h.repo.Space(name)
		require.ErrorIs(t, in.Put(t.Context(), tuple.New("forged"), 0), fault.ErrForbidden, name)
		_, _, err := in.GetP(t.Context(), tuple.Match(tuple.AnyString))
		require.ErrorIs(t, err, fault.ErrForbidden, name)
		_, err = in.GetAll(t.Context(), tuple.Match(tuple.AnyString))
		require.ErrorIs(t, err, fault.ErrForbidden, name)
		_, err = h.repo.Call(t.Context(), space.OpID{}, "interop.find", tuple.New(name, int64(1), []byte{}))
		require.ErrorIs(t, err, fault.ErrForbidden, name)
		_, err = in.QueryAll(t.Context(), tuple.Match(tuple.AnyString))
		require.NoError(t, err, "it can be queried")
	}
}
