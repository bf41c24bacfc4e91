package lister

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// forgeServer serves the pages of a forge's API and counts the requests.
type forgeServer struct {
	*httptest.Server
	asked, unchanged int
	answer           func(w http.ResponseWriter, r *http.Request, page int)
}

func serveForge(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, page int)) *forgeServer {
	s := &forgeServer{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		s.asked++
		etag := fmt.Sprintf(`"%d"`, page)
		if r.Header.Get("If-None-Match") == etag {
			s.unchanged++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", etag)
		s.answer(w, r, page)
	}))
	t.Cleanup(s.Close)
	return s
}

// next names the next page.
func next(w http.ResponseWriter, r *http.Request, page int) {
	w.Header().Set("Link", fmt.Sprintf(`<https://elsewhere.example/x?page=%d>; rel="next", <%s>; rel="first"`, page, r.URL))
}

// forgeFlow is a flow that visits a forge at a URL.
func forgeFlow(t *testing.T, uri string, tokens map[string]string) *Flow {
	t.Helper()
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return &Flow{
		Catalog: &catalogtest.OneOrigin{Only: models.Origin{ID: "o", Kind: models.Forge, URI: uri}},
		Fetch:   f, Tokens: tokens, Log: slog.New(slog.DiscardHandler),
	}
}

const (
	gitHubItem = `{"full_name":"a/one","clone_url":"https://github.example/a/one.git","created_at":"2020-01-02T03:04:05Z","updated_at":"2026-01-01T00:00:00Z",
		"pushed_at":"2025-05-06T07:08:09Z","fork":true,"archived":true,"language":"Go","description":null,"license":{"key":"mit"}}`
	gitLabItem = `{"id":7,"path_with_namespace":"g/sub/two","http_url_to_repo":"https://gitlab.example/g/sub/two.git","created_at":"2020-01-02T03:04:05.678+01:00",
		"last_activity_at":"2025-05-06T07:08:09.000Z","forked_from_project":{"id":1,"http_url_to_repo":"https://gitlab.example/up/two.git"},"archived":false}`
	giteaItem = `{"full_name":"a/three","clone_url":"https://gitea.example/a/three.git","created_at":"2020-01-02T03:04:05Z","updated_at":"2025-05-06T07:08:09Z",
		"fork":true,"parent":{"clone_url":"https://gitea.example/up/three.git"},"archived":false,"empty":false}`
)

func TestTheAPIsOfGitHubGitLabAndGiteaNameRepositories(t *testing.T) {
	t.Parallel()
	updated := time.Date(2025, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, x := range []struct {
		content string
		want    models.ListedOrigin
	}{
		{"[" + gitHubItem + "]", models.ListedOrigin{
			Kind: models.Git, URI: "https://github.example/a/one.git", Created: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), Updated: updated,
			Fork: true, Metadata: map[string]string{"name": "a/one", "language": "Go", "archived": "true"},
		}},
		{"[" + gitLabItem + "]", models.ListedOrigin{
			Kind: models.Git, URI: "https://gitlab.example/g/sub/two.git", Created: time.Date(2020, 1, 2, 2, 4, 5, 678e6, time.UTC), Updated: updated,
			Fork: true, ForkOf: "https://gitlab.example/up/two.git", Metadata: map[string]string{"name": "g/sub/two"},
		}},
		{`{"ok":true,"data":[` + giteaItem + "]}", models.ListedOrigin{
			Kind: models.Git, URI: "https://gitea.example/a/three.git", Created: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), Updated: updated,
			Fork: true, ForkOf: "https://gitea.example/up/three.git", Metadata: map[string]string{"name": "a/three"},
		}},
	} {
		list, skipped, err := parseRepositories([]byte(x.content))
		require.NoError(t, err)
		require.Zero(t, skipped)
		require.Equal(t, []models.ListedOrigin{x.want}, list)
	}
}

// repositoryItem is a repository with a number.
func repositoryItem(i int) string {
	return fmt.Sprintf(`{"clone_url":"https://forge.example/r/%d.git","pushed_at":"2025-05-06T07:08:09Z"}`, i)
}

func TestAListOfAForgeIsReadPageByPageAndUnchangedPagesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	s := serveForge(t, func(w http.ResponseWriter, r *http.Request, page int) {
		require.Equal(t, "/api/v1/users/x/repos", r.URL.Path)
		if page < 79 {
			next(w, r, page+1)
		}
		var items []string
		for i := range 80 {
			items = append(items, repositoryItem(page*80+i))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(items, ","))
	})
	flow := forgeFlow(t, s.URL+"/api/v1/users/x/repos", nil)
	first, err := flow.Visit(t.Context(), models.Visit{})
	require.NoError(t, err)
	require.Positive(t, first.Listed.Next)
	require.Equal(t, 80, s.asked)

	known, total := models.Known{Digest: first.Digest, Next: first.Listed.Next}, len(first.Listed.Origins)
	for known.Next > 0 {
		more, err := flow.Visit(t.Context(), models.Visit{Known: known})
		require.NoError(t, err)
		total += len(more.Listed.Origins)
		known.Next = more.Listed.Next
	}
	require.Equal(t, 6400, total)
	require.Equal(t, 80, s.asked, "the rest comes from the pages of the first visit")
	again, err := flow.Visit(t.Context(), models.Visit{Known: known})
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, again.Status)
	require.Equal(t, 160, s.asked)
	require.Equal(t, 80, s.unchanged)
}

func TestARateLimitEndsAVisitAndTheNextOneGoesOn(t *testing.T) {
	t.Parallel()
	limited := true
	s := serveForge(t, func(w http.ResponseWriter, r *http.Request, page int) {
		if page < 3 {
			next(w, r, page+1)
		}
		if page == 1 && limited {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", "600")
		}
		fmt.Fprintf(w, "[%s]", repositoryItem(page))
	})
	flow := forgeFlow(t, s.URL, nil)
	o, err := flow.Visit(t.Context(), models.Visit{})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.InDelta(t, 600, float64(o.RetryAfter), 5)
	require.Equal(t, 2, s.asked, "the third request would have been refused")
	require.Equal(t, 2, flow.forges.remembered(s.URL).count, "the repositories of the pages that are kept")
	limited = false
	o, err = flow.Visit(t.Context(), models.Visit{})
	require.NoError(t, err)
	require.Len(t, o.Listed.Origins, 4)
	require.True(t, o.Listed.Full)
	require.Equal(t, 4, s.asked, "two pages were known")
}

func TestATokenIsSentToItsHostOnly(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Empty(t, r.Header.Get("Authorization"))
		fmt.Fprintf(w, "[%s]", gitHubItem)
	}))
	t.Cleanup(other.Close)
	s := serveForge(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		require.Equal(t, "Bearer secret-1", r.Header.Get("Authorization"))
		if r.URL.Path == "/away" {
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	tokens := map[string]string{"127.0.0.1": file(t, "secret-1\nmore")}
	flow := forgeFlow(t, s.URL+"/away", tokens)
	require.NoError(t, flow.Fetch.Trust(models.Origin{Kind: models.Forge, URI: strings.Replace(other.URL, "127.0.0.1", "localhost", 1)}))
	o, err := flow.Visit(t.Context(), models.Visit{})
	require.NoError(t, err)
	require.Len(t, o.Listed.Origins, 1)
	_, err = forgeFlow(t, s.URL+"/refused", tokens).Visit(t.Context(), models.Visit{})
	require.ErrorContains(t, err, "401")
	require.NotContains(t, err.Error(), "secret")

	for name, bad := range map[string]string{"empty": file(t, "\n"), "two words": file(t, "a b"), "none": "/nowhere"} {
		_, err = forgeFlow(t, s.URL, map[string]string{"127.0.0.1": bad}).Visit(t.Context(), models.Visit{})
		require.ErrorContains(t, err, "forge-token of 127.0.0.1", name)
	}
	_, err = forgeFlow(t, "http://forge.example/repos", map[string]string{"forge.example": file(t, "secret-1")}).Visit(t.Context(), models.Visit{})
	require.ErrorContains(t, err, "want an https URL")
}

func TestBadAnswersOfAForge(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"<html>not here</html>":   "a page of HTML",
		"":                        "empty",
		`{"message":"Not Found"}`: "a JSON object",
		`{"data":{"clone_url":"https://a.example/x"}}`: "a JSON object",
		`"text"`:                               "another JSON value",
		`[{"clone_url":`:                       "something else",
		`[1,"x",null]`:                         "3 of 3 elements",
		`[{"clone_url":5}]`:                    "1 of 1",
		`[{"clone_url":"file:///etc/passwd"}]`: "1 of 1",
		`[{"clone_url":"https://u:p@a.example/x"}]`:                     "1 of 1",
		`[{"clone_url":"https://a.example/x","fork":"yes"}]`:            "1 of 1",
		`[{"clone_url":"https://a.example/x","created_at":"long ago"}]`: "1 of 1",
	} {
		s := serveForge(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, content) })
		_, err := forgeFlow(t, s.URL, nil).Visit(t.Context(), models.Visit{})
		require.ErrorIs(t, err, fault.ErrInvalid, content)
		require.ErrorContains(t, err, want, content)
	}
	list, skipped, err := parseRepositories([]byte("[" + repositoryItem(1) + "," + repositoryItem(2) + ",7]"))
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, 1, skipped)

	none := serveForge(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, "[]") })
	o, err := forgeFlow(t, none.URL, nil).Visit(t.Context(), models.Visit{})
	require.NoError(t, err)
	require.True(t, o.Listed.Full, "it counts if it lists nothing twice")

	for name, item := range map[string]int{"the same page": 0, "empty pages": -1} {
		endless := serveForge(t, func(w http.ResponseWriter, r *http.Request, page int) {
			next(w, r, page+1)
			if fmt.Fprint(w, "["); item == 0 {
				fmt.Fprint(w, repositoryItem(1))
			}
			fmt.Fprint(w, "]")
		})
		_, err := forgeFlow(t, endless.URL, nil).Visit(t.Context(), models.Visit{})
		require.ErrorContains(t, err, "name nothing new", name)
		require.LessOrEqual(t, endless.asked, idlePages+1)
	}
}

func TestThePagesOfPublicForgesStandForTheirAPIs(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://github.com/golang":                     "https://api.github.com/users/golang/repos?limit=50&per_page=100",
		"https://gitlab.com/gitlab-org/sub":             "https://gitlab.com/api/v4/groups/gitlab-org%2Fsub/projects?include_subgroups=true&limit=50&per_page=100",
		"https://codeberg.org/forgejo/":                 "https://codeberg.org/api/v1/users/forgejo/repos?limit=50&per_page=100",
		"https://codeberg.org/api/v1/orgs/x/repos":      "https://codeberg.org/api/v1/orgs/x/repos?limit=50&per_page=100",
		"https://git.example/api/v4/projects?limit=7#x": "https://git.example/api/v4/projects?limit=7&per_page=100",
	} {
		u, err := apiURL(uri)
		require.NoError(t, err)
		require.Equal(t, want, u.String())
	}
}

func FuzzRepositories(f *testing.F) {
	f.Add([]byte("[" + gitHubItem + "," + gitLabItem + "," + giteaItem + "]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		list, _, _ := parseRepositories(content)
		lister := models.Origin{Kind: models.Forge, URI: "https://forge.example/"}
		for _, n := range list {
			require.True(t, lister.MayList(n), n.URI)
		}
	})
}

func TestAnUnconditionalVisitOfAForgeReadsAllPages(t *testing.T) {
	t.Parallel()
	s := serveForge(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, "["+repositoryItem(1)+"]") })
	f := forgeFlow(t, s.URL+"/api/v1/users/x/repos", nil)
	for _, x := range []struct {
		unconditional bool
		unchanged     int // answers without content
	}{{false, 0}, {false, 1}, {true, 1}, {false, 2}} {
		_, err := f.Visit(t.Context(), models.Visit{Unconditional: x.unconditional})
		require.NoError(t, err)
		require.Equal(t, x.unchanged, s.unchanged)
	}
}
