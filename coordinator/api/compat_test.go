package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/shared/protocol/status"
)

// newCompat serves the control endpoints beside the API of a fixture.
func newCompat(t *testing.T) (*fixture, *httptest.Server) {
	var compat *httptest.Server
	h := newFixtureWith(t, func(c *api.Config) { compat = httptest.NewServer(api.NewCompat(*c)) })
	t.Cleanup(compat.Close)
	return h, compat
}

// compatCall returns the status and the body of an answer.
func compatCall(t *testing.T, server *httptest.Server, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	answer, err := server.Client().Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

func TestTheOriginalControlEndpointsAddRepositoriesAndShowTheWork(t *testing.T) {
	t.Parallel()
	h, compat := newCompat(t)
	code, text := compatCall(t, compat, "POST", "/add", "https://example.org/x.git\n")
	require.Equal(t, 201, code, text)
	require.Contains(t, text, `"kind":"git","uri":"https://example.org/x.git"`)
	code, text = compatCall(t, compat, "POST", "/add", "https://example.org/x.git")
	require.Equal(t, 200, code, text)
	h.ok("POST", v1+"/origins", `{"kind":"feed","uri":"https://example.org/f"}`)
	code, text = compatCall(t, compat, "GET", "/repo", "")
	require.Equal(t, 200, code)
	require.Contains(t, text, `"total":1`, "a feed is not a repository")

	h.ok("POST", v1+"/tasks", `{"action":"greet"}`)
	code, text = compatCall(t, compat, "GET", "/tasks?limit=10", "")
	require.Equal(t, 200, code)
	require.Contains(t, text, `"action":"greet"`)
	code, text = compatCall(t, compat, "GET", "/status", "")
	require.Equal(t, 200, code)
	require.Contains(t, text, `"items":[`)
	line := status.Line{At: time.Date(2126, 1, 2, 3, 4, 5, 0, time.UTC), ID: h.repo.Session(), Level: "warn", Message: "late news"}
	require.NoError(t, status.Write(t.Context(), h.repo, line))
	code, text = compatCall(t, compat, "GET", "/log?limit=1", "")
	require.Equal(t, 200, code)
	require.Contains(t, text, `"message":"late news"`)
	require.Equal(t, 1, strings.Count(text, `"message"`))
}

func TestBadInputOfTheOriginalControlEndpointsIsRefused(t *testing.T) {
	t.Parallel()
	h, compat := newCompat(t)
	for _, body := range []string{
		"", "\n", "/etc", "file:///etc", "ext::sh -c id", "git@example.org:x.git", "https://", "https://example.org/a\nhttps://example.org/b",
		"--upload-pack=x", "\x00", "\xff\xfe", `{"uri":"https://example.org/x.git"}`, "https://example.org/" + strings.Repeat("a", 5000),
	} {
		code, text := compatCall(t, compat, "POST", "/add", body)
		require.Equal(t, 400, code, "%q: %s", body, text)
	}
	code, text := compatCall(t, compat, "POST", "/add", strings.Repeat("a", 2<<20))
	require.Equal(t, 413, code, text)
	code, text = compatCall(t, compat, "POST", "/add", "http://bob:s3cret@example.org:bad/x.git")
	require.Equal(t, 400, code)
	require.NotContains(t, text, "s3cret")
	for request, want := range map[string]int{
		"GET /add": 405, "POST /repo": 405, "GET /": 404, "GET /api/v1/origins": 404,
		"GET /repo?limit=x": 400, "GET /log?limit=1001": 400, "GET /log?x=1": 400,
	} {
		method, path, _ := strings.Cut(request, " ")
		code, text := compatCall(t, compat, method, path, "")
		require.Equal(t, want, code, "%s: %s", request, text)
	}
	require.EqualValues(t, 0, h.ok("GET", v1+"/origins", "")["total"])

	// A page of another site cannot have a browser add one.
	r, err := http.NewRequestWithContext(t.Context(), "POST", compat.URL+"/add", strings.NewReader("https://example.org/x.git"))
	require.NoError(t, err)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err := compat.Client().Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, 403, answer.StatusCode)
}
