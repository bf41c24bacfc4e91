package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
)

// answerOf returns what a coordinator that stands by answers while owner serves.
func answerOf(owner, prefix, method, target string) *httptest.ResponseRecorder {
	h := NewStandby(Standby{Owner: func() string { return owner }, Prefix: prefix, Log: slog.New(slog.DiscardHandler)})
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, "http://localhost"+target, nil))
	return rec
}

func TestACoordinatorThatStandsByIsHealthyAndTellsSo(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{"/healthz": "ok\n", "/readyz": "standby\n"} {
		rec := answerOf("http://b:7412", "", "GET", target)
		require.Equal(t, http.StatusOK, rec.Code, target)
		require.Equal(t, want, rec.Body.String())
	}
	require.Contains(t, answerOf("http://b:7412", "", "GET", "/metrics").Body.String(), "\nleasehold_standby 1\n")
}

func TestACoordinatorThatStandsByNamesTheOneThatServes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, target string }{
		{"GET", "/api/v1/status"}, {"POST", "/api/v1/tasks"}, {"DELETE", "/api/v1/spaces/a"}, {"POST", "/sign-in"}, {"POST", "/healthz"},
		{"GET", "/api/v1/events"}, {"GET", "/hub/1"}, {"GET", "/assets/style.css"}, {"PUT", "/"},
	} {
		for owner, detail := range map[string]string{"http://b:7412": "this coordinator stands by: http://b:7412 serves", "": "this coordinator stands by, and it does not know which one serves; repeat the request"} {
			rec := answerOf(owner, "", c.method, c.target)
			require.Equal(t, http.StatusServiceUnavailable, rec.Code, c)
			require.Equal(t, "1", rec.Header().Get("Retry-After"))
			require.Equal(t, "close", rec.Header().Get("Connection"), "the next connection may be to another member")
			var p types.Problem
			require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &p))
			require.Equal(t, types.Problem{Type: "urn:leasehold:problem:unavailable", Title: "unavailable", Status: 503, Code: "unavailable", Detail: detail, Owner: owner}, p)
		}
	}
}

func TestTheAddressesOfThePageLeadToTheCoordinatorThatServes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prefix, target, want string }{
		{"", "/", "http://b:7412/"},
		{"", "/tasks?state=dead&q=a%2Fb", "http://b:7412/tasks?state=dead&q=a%2Fb"},
		{"", "/episodes/a%2Fb", "http://b:7412/episodes/a%2Fb"},
		{"/work", "/work/tasks", "http://b:7412/work/tasks"},
		{"/work", "/tasks", "http://b:7412/work/tasks"},
	} {
		rec := answerOf("http://b:7412", c.prefix, "GET", c.target)
		require.Equal(t, http.StatusTemporaryRedirect, rec.Code, c.target)
		require.Equal(t, c.want, rec.Header().Get("Location"))
	}
	require.Equal(t, http.StatusServiceUnavailable, answerOf("", "", "GET", "/tasks").Code)
	require.Equal(t, "/evil.example/x", answerOf("http://b:7412", "", "GET", "//evil.example/x").Header().Get("Location"), "on this host")
}
