package page_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	codeindex "leasehold/coordinator/code"
	"leasehold/coordinator/page"
	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
)

// anyOrigin is a catalog that has every origin.
type anyOrigin struct{}

func (anyOrigin) Origin(_ context.Context, id string) (models.Origin, error) {
	return models.Origin{ID: id}, nil
}

// codeFixture is the page over an index with one file.
func codeFixture(t *testing.T) (get func(path string) *httptest.ResponseRecorder, publish func(text string) code.OID) {
	t.Helper()
	store, err := embedded.Open(t.TempDir(), embedded.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	x, err := codeindex.New(t.TempDir(), store, anyOrigin{})
	require.NoError(t, err)
	page := page.New(page.Config{Code: x, Log: slog.New(slog.DiscardHandler)})
	get = func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		return w
	}
	publish = func(text string) code.OID {
		b := code.Blob{OID: code.OIDOf([]byte(text)), Content: []byte(text)}
		require.NoError(t, x.PutBlobs(t.Context(), "b", []code.Blob{b}))
		require.NoError(t, x.Publish(t.Context(), code.Manifest{
			RepoID: "r", Repo: "example.org/<r>", Refs: []code.Ref{{Name: "main", Commit: "c"}}, Files: []code.File{{Ref: "main", Path: "a b&c.go", OID: b.OID}},
		}))
		return b.OID
	}
	return get, publish
}

func TestCodeIsSearchedWithoutAScriptAndLinksStay(t *testing.T) {
	t.Parallel()
	get, publish := codeFixture(t)
	first := publish("package a\nvar x = \"<b>\" // needle\n")
	body := get("/code").Body.String()
	require.Contains(t, body, "example.org/&lt;r&gt;")
	w := get("/code?q=needle+case:no")
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "form-action 'self'")
	body = w.Body.String()
	require.Contains(t, body, "1 match in 1 file")
	require.Contains(t, body, `value="needle case:no"`)
	require.Contains(t, body, `var x = &#34;&lt;b&gt;&#34; // <mark>needle</mark>`)
	link := "/code/file?oid=" + string(first) + "&path=a+b%26c.go&repo=example.org%2F%3Cr%3E"
	escaped := strings.NewReplacer("&", "&amp;", "+", "&#43;").Replace(link)
	require.Contains(t, body, `href="`+escaped+`#L2"`)

	publish("another text\n")
	require.Contains(t, get("/code?q=needle").Body.String(), "0 matches in 0 files")
	body = get(link).Body.String()
	require.Contains(t, body, `<tr id="L2">`, "the content of a link is not that which the path has now")
	require.Contains(t, body, "needle")
	require.Contains(t, get("/code/file?repo=r&path=a+b%26c.go").Body.String(), "another text")
}

func TestWhatCannotBeSearchedIsOnThePage(t *testing.T) {
	t.Parallel()
	get, publish := codeFixture(t)
	publish(strings.Repeat("line\n", 12_000))
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/code?q=/(/":              {http.StatusBadRequest, "missing closing )"},
		"/code?q=%22x":             {http.StatusBadRequest, "the quote is not closed"},
		"/code/file":               {http.StatusNotFound, "is not indexed"},
		"/code/file?repo=r&path=x": {http.StatusNotFound, "is not indexed"},
		"/code/file?oid=../x":      {http.StatusBadRequest, "../x"},
		"/code?q=line":             {http.StatusOK, "stopped by the limit of matches"},
		"/code?q=lang:pyhton":      {http.StatusOK, "did you mean python?"},
		"/code/file?repo=r&path=a+b%26c.go&from=-7":    {http.StatusOK, `id="L5000"`},
		"/code/file?repo=r&path=a+b%26c.go&from=10001": {http.StatusOK, `id="L12000"`},
	} {
		w := get(path)
		require.Equal(t, want.status, w.Code, path)
		require.Contains(t, w.Body.String(), want.text, path)
	}
	require.Contains(t, get("/code/file?repo=r&path=a+b%26c.go").Body.String(), fmt.Sprint("from=", 5001))
	require.NotContains(t, get("/code/file?repo=r&path=a+b%26c.go&from=10001").Body.String(), "next lines")
}

// partlyRanked is an index that could not rank all matches.
type partlyRanked struct{ page.Code }

func (partlyRanked) Search(context.Context, code.Query, code.Options, func(code.Match) bool) (code.Stats, error) {
	return code.Stats{Matches: 50, Files: 2, RankedOf: 70}, nil
}

func TestThePageTellsOfHowManyMatchesTheFirstAreTheBest(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	page.New(page.Config{Code: partlyRanked{}, Log: slog.New(slog.DiscardHandler)}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/code?q=x", nil))
	require.Contains(t, w.Body.String(), "50 matches in 2 files; the best of the first 70 found")
}
