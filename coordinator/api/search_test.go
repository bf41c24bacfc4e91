package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	codeindex "leasehold/coordinator/code"
	"leasehold/models"
	apicatalog "leasehold/shared/api/catalog"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// fixedIndex is a code index with the same answer to each request: matches, if it is a search, or
// an error. It keeps the arguments.
type fixedIndex struct {
	code.Searcher // for PutBlobs and DropRepo, which the API does not call
	matches       int
	err           error
	got           []any
	lack          code.Lack
}

func (x *fixedIndex) keep(args ...any) error { x.got = args; return x.err }

func (x *fixedIndex) SearchPart(_ context.Context, _ code.Query, p codeindex.Part, visit func(types.CodeMatch) bool) (types.SearchEnd, error) {
	end := types.SearchEnd{Repos: 1, RankedOf: 70}
	for end.Matches < x.matches && visit(types.CodeMatch{Repo: "r", Path: "p", Line: end.Matches + 1}) {
		end.Matches++
	}
	return end, x.keep(p)
}

func (x *fixedIndex) Missing(_ context.Context, ids []code.OID) ([]code.OID, error) {
	return ids[:1], x.keep(len(ids))
}
func (x *fixedIndex) Publish(_ context.Context, m code.Manifest) error { return x.keep(m) }
func (x *fixedIndex) ListFiles(_ context.Context, q codeindex.FileQuery) (types.Page[types.IndexedFile], error) {
	return types.Page[types.IndexedFile]{Items: []types.IndexedFile{}, Total: 7}, x.keep(q)
}
func (x *fixedIndex) Report(_ context.Context, q types.ReportQuery) (types.CodeReport, error) {
	return types.CodeReport{}, x.keep(q)
}
func (x *fixedIndex) Repositories(context.Context) ([]types.CodeRepository, error) {
	return []types.CodeRepository{{Repo: "r"}}, x.keep()
}
func (x *fixedIndex) Symbols(_ context.Context, name, branch string, limit int) ([]types.SymbolPlace, error) {
	return []types.SymbolPlace{{Repo: "r"}}, x.keep(name, branch, limit)
}
func (x *fixedIndex) Read(_ context.Context, at types.FilePlace) (types.CodeFile, error) {
	return types.CodeFile{}, x.keep(at)
}
func (x *fixedIndex) Complete(_ context.Context, id string) (bool, error) { return true, x.keep(id) }
func (x *fixedIndex) Lacks() (code.Lack, error)                           { return x.lack, nil }
func (x *fixedIndex) Received(hash string) (int64, error)                 { return 5, x.keep(hash) }
func (x *fixedIndex) Append(_ context.Context, hash string, offset int64, part []byte) (int64, error) {
	return offset + int64(len(part)), x.keep(hash, offset, string(part))
}
func (x *fixedIndex) Commit(_ context.Context, batch, hash string) error { return x.keep(batch, hash) }

// lines returns the lines of the answer of a search.
func (h *fixture) lines(ctx context.Context, query string) (all []types.SearchLine) {
	w := httptest.NewRecorder()
	h.server.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://localhost"+v1+"/search?q="+query, nil))
	require.Equal(h, 200, w.Code)
	for line := range strings.Lines(w.Body.String()) {
		var l types.SearchLine
		require.NoError(h, json.Unmarshal([]byte(line), &l))
		all = append(all, l)
	}
	return all
}

func TestReadyzTellsThatTheCodeIndexLacksFiles(t *testing.T) {
	t.Parallel()
	index := &fixedIndex{lack: code.Lack{Files: []string{"x.segment"}, Repos: []code.RepoInfo{{ID: "r", Repo: "r", Lost: 1}}}}
	h := newFixtureWith(t, func(c *api.Config) { c.Index = index })
	require.Equal(t, "ok\nthe code index lacks files of 1 repositories, which are visited again\n", h.text("/readyz"))
	require.Equal(t, "ok\n", h.text("/healthz"))
}

func TestTheLastLineOfASearchTellsHowItEnded(t *testing.T) {
	t.Parallel()
	index := &fixedIndex{}
	h := newFixtureWith(t, func(c *api.Config) { c.Index = index })
	for _, index.matches = range []int{0, 1, 49, 50, 51, 120} {
		index.err = nil
		all := h.lines(t.Context(), "x&offset=7&limit=200&context=2&facets=true")
		require.Equal(t, []any{codeindex.Part{Offset: 7, Limit: 200, Context: 2, Facets: true}}, index.got)
		require.Len(t, all, index.matches+1)
		for n, l := range all[:index.matches] {
			require.Equal(t, n+1, l.Match.Line)
			require.Nil(t, l.Done)
			require.Nil(t, l.Error)
		}
		require.Equal(t, index.matches, all[index.matches].Done.Matches)
		require.Equal(t, 70, all[index.matches].Done.RankedOf, "the best are not those of all matches")
		require.Nil(t, all[index.matches].Error)

		index.err = fmt.Errorf("https://bob:s3cret@example.org: %w", fault.ErrCorrupt)
		all = h.lines(t.Context(), "x")
		require.Len(t, all, index.matches+1)
		require.Nil(t, all[index.matches].Done)
		require.EqualValues(t, "corrupt", all[index.matches].Error.Code)
		require.Contains(t, all[index.matches].Error.Detail, "example.org")
		require.NotContains(t, all[index.matches].Error.Detail, "s3cret")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, l := range h.lines(ended, "x") {
		require.Nil(t, l.Error, "the client has gone")
	}
	h.refuses("invalid", "GET", v1+"/search?q=(", "")
	h.refuses("invalid", "GET", v1+"/search?q=x&limit=100001", "")
	h.refuses("invalid", "GET", v1+"/search?q=x&context=1000", "")
	h.refuses("invalid", "GET", v1+"/search?q=x&offset=100001", "")
	h.refuses("invalid", "GET", v1+"/search?q=x&offset=-1", "")
	h.refuses("invalid", "GET", v1+"/search?q=x&facets=some", "")
}

func TestEachRequestToTheCodeIndexReachesItOrReportsItsError(t *testing.T) {
	t.Parallel()
	index := &fixedIndex{}
	h := newFixtureWith(t, func(c *api.Config) { c.Index = index })
	without := newFixture(t)
	generation := func(ref int) string {
		return fmt.Sprintf(`{"id":"o1","repo":"r","refs":[{"name":"main","commit":"c1"},{"name":"dev","commit":"c2"}],"files":[{"ref":%d,"path":"YQ==","oid":"x"}]}`, ref)
	}
	for _, c := range []struct {
		method, path, body string
		want               []any
	}{
		{"GET", "/files?repo=r&skipped=true&offset=3&limit=4", "", []any{codeindex.FileQuery{Repo: "r", SkippedOnly: true, Offset: 3, Limit: 4}}},
		{"GET", "/report?repo=r&limit=5&tests=true", "", []any{types.ReportQuery{Repo: "r", Limit: 5, Tests: true}}},
		{"GET", "/repositories", "", nil},
		{"GET", "/symbols?name=n&branch=b&limit=6", "", []any{"n", "b", 6}},
		{"GET", "/file?repo=r&path=p&ref=b&oid=o&from=7&limit=8", "", []any{types.FilePlace{Repo: "r", Path: "p", Ref: "b", OID: "o", From: 7, Lines: 8}}},
		{"POST", "/index/missing", `{"ids":["a","b"]}`, []any{2}},
		{"GET", "/index/segments/s1", "", []any{"s1"}},
		{"POST", "/index/segments/s1/parts", `{"offset":9,"data":"YWI="}`, []any{"s1", int64(9), "ab"}},
		{"POST", "/index/segments/s1/commit", `{"batch":"b1"}`, []any{"b1", "s1"}},
		{"GET", "/index/generations/o1", "", []any{"o1"}},
		{"POST", "/index/generations", generation(1), []any{code.Manifest{
			RepoID: "o1", Repo: "r", Refs: []code.Ref{{Name: "main", Commit: "c1"}, {Name: "dev", Commit: "c2"}},
			Files: []code.File{{Ref: "dev", Path: "a", OID: "x"}},
		}}},
	} {
		index.err, index.got = nil, nil
		h.ok(c.method, v1+c.path, c.body)
		require.Equal(t, c.want, index.got, c.path)
		index.err = fault.ErrConflict
		h.refuses("conflict", c.method, v1+c.path, c.body)
		without.refuses("not_found", c.method, v1+c.path, c.body)
	}
	index.err, index.got = nil, nil
	require.Equal(t, 200, h.octets(v1+"/index/segments/s1/parts?offset=9", "a\x00\xff"))
	require.Equal(t, []any{"s1", int64(9), "a\x00\xff"}, index.got)
	require.Equal(t, 400, h.octets(v1+"/index/segments/s1/parts?offset=-1", "a"))
	require.Equal(t, 413, h.octets(v1+"/index/segments/s1/parts", strings.Repeat("x", 1<<20+1)))
	h.refuses("conflict", "POST", v1+"/index/segments/s1/parts?offset=9", `{"offset":9,"data":"YWI="}`)
	h.refuses("invalid", "POST", v1+"/index/segments/s1/parts", `{"offset":-1,"data":"YWI="}`)
	h.ok("POST", v1+"/index/generations", generation(0))
	h.refuses("not_found", "POST", v1+"/index/generations", generation(2))
	h.refuses("invalid", "POST", v1+"/index/generations", generation(-1))
}

// A manager does not send again what is invalid, and a contradiction is.
func TestResultsThatContradictThemselvesAreContradictions(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) {
		c.Index = &fixedIndex{err: code.Manifest{RepoID: "o1", Repo: "r", Refs: []code.Ref{{Name: "main"}, {Name: "main"}}}.Check()}
	})
	h.refuses("contradiction", "POST", v1+"/index/generations", `{"id":"o1","repo":"r","refs":[{"name":"main","commit":"c1"},{"name":"main","commit":"c2"}],"files":[]}`)
	client, err := apicatalog.New(h.server.URL)
	require.NoError(t, err)
	defer client.Close()
	err = client.Ingest(t.Context(), models.Researched{Episode: "e", Clips: []string{"c"}}, time.Now())
	require.ErrorIs(t, err, fault.ErrContradiction)
	require.ErrorIs(t, err, fault.ErrInvalid)
}
