package page_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	codeindex "leasehold/coordinator/code"
	"leasehold/coordinator/page"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
)

// openIndex opens an empty code index.
func (h *fixture) openIndex(dir string) {
	h.Helper()
	store, err := embedded.Open(filepath.Join(dir, "index"), embedded.Options{})
	require.NoError(h, err)
	h.Cleanup(func() { require.NoError(h, store.Close()) })
	h.index, err = codeindex.New(filepath.Join(dir, "uploads"), store, h.store)
	require.NoError(h, err)
}

// A source is a file to index.
type source struct{ path, lang, text string }

// publish replaces the files of a repository, and returns its id and those of the contents.
func (h *fixture) publish(repo string, sources ...source) (id string, contents []code.OID) {
	h.Helper()
	id = models.NewID("git", repo)
	_, err := h.store.AddOrigin(h.Context(), models.Origin{ID: id, Kind: models.Git, URI: repo, AddedAt: time.Now()})
	require.NoError(h, err)
	m := code.Manifest{RepoID: id, Repo: strings.TrimPrefix(repo, "https://"), Refs: []code.Ref{{Name: "main", Commit: "4b825dc642cb", Time: time.Now()}}}
	for _, s := range sources {
		b := code.Blob{OID: code.OIDOf([]byte(s.text)), Content: []byte(s.text), BlobInfo: code.BlobInfo{Size: int64(len(s.text)), Lang: s.lang, Lines: strings.Count(s.text, "\n"), Code: strings.Count(s.text, "\n"), Complexity: 1}}
		for n, line := range strings.Split(s.text, "\n") {
			if name, found := strings.CutPrefix(line, "func "); found {
				name, _, _ = strings.Cut(name, "(")
				b.Symbols = append(b.Symbols, code.Symbol{Name: name, Kind: "func", Scope: "main", Line: n + 1, End: n + 1, Signature: line})
				b.Functions = append(b.Functions, code.FunctionReport{Line: n + 1, Function: name, A: 2, B: 3, C: 6, Score: 7})
			}
		}
		if s.lang == "" {
			b.Content, b.Symbols, b.Functions, b.Skipped = nil, nil, nil, code.SkipBinary
		}
		require.NoError(h, h.index.PutBlobs(h.Context(), "b", []code.Blob{b}))
		m.Files = append(m.Files, code.File{Ref: "main", Path: s.path, OID: b.OID})
		contents = append(contents, b.OID)
	}
	require.NoError(h, h.index.Publish(h.Context(), m))
	return id, contents
}

// publishSome publishes repositories with some of everything.
func (h *fixture) publishSome(text string) {
	h.Helper()
	h.publish("https://example.org/team/server",
		source{"cmd/main.go", "Go", "package main\n\nfunc main() {}\n// needle of " + text + "\n" + strings.Repeat("needle\n", 30)},
		source{"internal/queue/a-rather-long-name-of-a-file.go", "Go", "package queue\nfunc Lease() {}\n" + strings.Repeat("\tneedle := 1\n", 30)},
		source{"web/app.js", "JavaScript", "// needle\n"}, source{"web/logo.png", "", "logo"})
	h.publish("https://example.org/team/client", source{"client.py", "Python", "needle = 1\n"})
	_, err := h.store.AddOrigin(h.Context(), models.Origin{ID: "waits", Kind: models.Git, URI: "https://example.org/team/waits", AddedAt: time.Now()})
	require.NoError(h, err)
	_, err = h.store.Curate(h.Context(), "waits", time.Now(), catalog.Listing{Problems: []models.Problem{{Item: "branch", Reason: text}}})
	require.NoError(h, err)
}

func TestCodeIsSearchedWithoutAScriptAndLinksStay(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, first := h.publish("https://example.org/<r>", source{"a b&c.go", "Go", "package a\nvar x = \"<b>\" // needle https://bob:secret@example.org\n"})
	h.shows("/code", "example.org/&lt;r&gt;")
	body := h.shows("/code?q=needle+case:no", "1 match in 1 file", `value="needle case:no"`, `var x = &#34;&lt;b&gt;&#34; // <mark>needle</mark> https://bob:secret@example.org`)
	link := "/code/file?oid=" + string(first[0]) + "&path=a+b%26c.go&repo=example.org%2F%3Cr%3E"
	escaped := strings.NewReplacer("&", "&amp;", "+", "&#43;").Replace(link)
	require.Contains(t, body, `href="`+escaped+`#L2"`)

	h.publish("https://example.org/<r>", source{"a b&c.go", "Go", "another text\n"})
	h.shows("/code?q=needle", "No match")
	h.shows(link, `<tr id="L2">`, "needle https://bob:secret@example.org") // not the content that the path has now
	h.shows("/code/file?repo=%3Cr%3E&path=a+b%26c.go", "another text")
}

func TestWhatCannotBeSearchedIsOnThePage(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.publish("https://example.org/r", source{"a b&c.go", "Go", strings.Repeat("line\n", 12_000)})
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/code?q=/(/":                                  {http.StatusBadRequest, "missing closing )"},
		"/code?q=%22x":                                 {http.StatusBadRequest, "the quote is not closed"},
		"/code/file":                                   {http.StatusNotFound, "is not indexed"},
		"/code/file?repo=r&path=x":                     {http.StatusNotFound, "is not indexed"},
		"/code/file?oid=../x":                          {http.StatusBadRequest, "../x"},
		"/code/report?repo=none":                       {http.StatusNotFound, "is not indexed"},
		"/code?q=line":                                 {http.StatusOK, "Matches 1 to 50 of more than 10,000"},
		"/code?q=line&from=10000":                      {http.StatusOK, "Matches 10,001 to 10,050 of more than 10,000"},
		"/code?q=line&from=99999":                      {http.StatusOK, "Matches 10,001 to 10,050"},
		"/code?q=lang:pyhton":                          {http.StatusOK, "did you mean python?"},
		"/code/file?repo=r&path=a+b%26c.go&from=-7":    {http.StatusOK, `id="L5000"`},
		"/code/file?repo=r&path=a+b%26c.go&from=10001": {http.StatusOK, `id="L12000"`},
	} {
		w := h.get(path)
		require.Equal(t, want.status, w.Code, path)
		require.Contains(t, w.Body.String(), want.text, path)
	}
	h.shows("/code/file?repo=r&path=a+b%26c.go", fmt.Sprint("from=", 5001))
	require.NotContains(t, h.shows("/code/file?repo=r&path=a+b%26c.go&from=10001"), "next lines")
	for _, path := range []string{"/code?q=line", "/code/file?path=x", "/code/report", "/code"} {
		require.Equal(t, http.StatusForbidden, h.request("GET", path, "worker", nil).Code, path)
	}
}

func TestMatchesComeInPartsWithFiltersAsLinks(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.publishSome("x")
	text := h.shows("/code?q=needle", "Matches 1 to 50 of 63", `href="/code?from=50&amp;q=needle">next page`,
		`href="/code?lang=Go&amp;q=needle">Go <b>61</b>`, `href="/code?q=needle&amp;repo=example.org%2Fteam%2Fclient">example.org/team/client <b>1</b>`, `href="/code?folder=cmd%2F&amp;q=needle">cmd/ <b>31</b>`)
	next := h.shows("/code?q=needle&from=50", "Matches 51 to 63 of 63", `href="/code?q=needle">first page`)
	require.Equal(t, 50, strings.Count(text, "<mark>"))
	require.Equal(t, 13, strings.Count(next, "<mark>"))
	narrow := h.shows("/code?q=needle&lang=Go&folder=internal/&repo=example.org/team/server", "30 matches in 1 file",
		`href="/code?lang=Go&amp;q=needle&amp;repo=example.org%2Fteam%2Fserver" title="remove this filter">folder <b>internal/</b>`,
		`<input type="hidden" name="folder" value="internal/">`)
	require.NotContains(t, narrow, "cmd/main.go")
	h.shows("/code?q=needle&repo=example.org/team/serve", "No match", "No indexed repository")
	h.shows("/code?q=needle&folder=.*", "No match")
	require.Less(t, len(text), 150_000)
}

func TestDefinitionsAreFoundByAPartOfTheirName(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.publishSome("x")
	text := h.shows("/code?q=leas&kind=definitions", "1 match in 1 file", `#L2">Lease</a>`, "func Lease() {}", "internal/queue/a-rather-long-name-of-a-file.go:2", `value="definitions" checked`)
	require.NotContains(t, text, "<mark>")
	h.shows("/code?q=none%22+or+%2F.&kind=definitions", "No match")
}

func TestTheReportOfARepositoryAndOfAll(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.publishSome("x")
	text := h.shows("/code/report?repo=team/server", "<b>4</b> files", "JavaScript", "binary (has a NUL byte)", "web/logo.png", `#L2">Lease</a>`, `data-label="score">7.0</td>`)
	require.NotContains(t, text, "Python")
	h.shows("/code/report", "All repositories", "<b>5</b> files", "Python", "example.org/team/server:web/logo.png")
	h.shows("/code/file?repo="+models.NewID("git", "https://example.org/team/server")+"&path=cmd/main.go", "func main")
}

func TestTheListOfRepositoriesShowsWhatLacksAndIndexesAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.publishSome("no such branch")
	server := models.NewID("git", "https://example.org/team/server")
	text := h.shows("/code", `Repositories <span class="soft">3, 5 files`, `title="commit 4b825dc642cb">main<`, `href="/code/report?repo=`+server+`"`, "not indexed yet", `href="/visits/waits">1 problem`, `<input type="hidden" name="do" value="index-again">`)
	require.Less(t, strings.Index(text, "team/waits"), strings.Index(text, "team/client"), "trouble comes first")
	require.NotContains(t, h.request("GET", "/code", "reader", nil).Body.String(), "index-again")
	h.shows("/visits/waits", "Problems", "no such branch")
	require.Equal(t, http.StatusForbidden, h.post("reader", "do", "index-again", "of", server).Code)
	w := h.post("", "do", "index-again", "of", server, "back", "/code")
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	require.Equal(t, "/code?did=index-again", w.Header().Get("Location"))
	h.shows("/code?did=index-again", "it indexes what changed or is missing")
	require.Contains(t, newFixture(t).shows("/code"), "No repository is indexed")
}

func TestManyRepositoriesComeInParts(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for n := range 101 {
		_, err := h.store.AddOrigin(h.Context(), models.Origin{ID: fmt.Sprint("r", n), Kind: models.Git, URI: fmt.Sprintf("https://example.org/%03d", n), AddedAt: time.Now()})
		require.NoError(t, err)
	}
	text := h.shows("/code", `href="/code?from=100">next page`, "example.org/099")
	require.NotContains(t, text, "example.org/100")
	require.Less(t, len(text), 150_000)
	text = h.shows("/code?from=100", `href="/code">first page`, "example.org/100")
	require.Equal(t, 1, strings.Count(text, "<tr data-key"))
}

// partlyRanked is an index that could not rank all matches.
type partlyRanked struct{ page.Code }

func (partlyRanked) SearchPart(_ context.Context, _ code.Query, _ codeindex.Part, visit func(types.CodeMatch) bool) (types.SearchEnd, error) {
	for range 50 {
		visit(types.CodeMatch{Repo: "r", Path: "p"})
	}
	return types.SearchEnd{Matches: 50, Files: 1, RankedOf: 70, Stopped: code.StoppedTime}, nil
}

func TestThePageTellsOfHowManyMatchesTheFirstAreTheBest(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *page.Config) { c.Code = partlyRanked{} })
	h.shows("/code?q=x", "Matches 1 to 50; the search was stopped by its limit of time; the first are the best of the first 70 found")
}
