package code_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	codeindex "leasehold/coordinator/code"
	"leasehold/models"
	"leasehold/shared/api/client"
	apicode "leasehold/shared/api/code"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// origins is a catalog with the origin r, and those whose ids have a slash.
type origins struct {
	removed atomic.Bool
	failed  atomic.Bool // the last visits
}

func (o *origins) Origin(_ context.Context, id string) (models.Origin, error) {
	if o.removed.Load() || id != "r" && !strings.Contains(id, "/") {
		return models.Origin{}, fmt.Errorf("origin %s: %w", id, fault.ErrNotFound)
	}
	if o.failed.Load() {
		return models.Origin{ID: id, LastError: "no such host"}, nil
	}
	return models.Origin{ID: id}, nil
}

func open(t *testing.T) (*codeindex.Index, *origins, string) {
	t.Helper()
	dir := t.TempDir()
	store, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	o := &origins{}
	x, err := codeindex.New(filepath.Join(dir, "uploads"), store, o)
	require.NoError(t, err)
	return x, o, dir
}

func blob(content string) code.Blob {
	return code.Blob{OID: code.OIDOf([]byte(content)), Content: []byte(content),
		BlobInfo: code.BlobInfo{Size: int64(len(content)), Lines: strings.Count(content, "\n"), Lang: "Go"}}
}

// built returns a segment with a blob, and its hash.
func built(t *testing.T, content string) (data []byte, hash string) {
	t.Helper()
	path, err := segment.Write(t.Context(), t.TempDir(), []code.Blob{blob(content)}, segment.Options{})
	require.NoError(t, err)
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	return data, segment.Hash(path)
}

func TestASegmentIsUploadedInPartsAndContinued(t *testing.T) {
	t.Parallel()
	x, _, dir := open(t)
	data, hash := built(t, "needle\n")
	half := int64(len(data) / 2)
	n, err := x.Append(t.Context(), hash, 0, data[:half])
	require.NoError(t, err)
	require.Equal(t, half, n)
	n, err = x.Received(hash)
	require.NoError(t, err)
	require.Equal(t, half, n, "an upload that broke off is continued")
	_, err = x.Append(t.Context(), hash, 0, data[:half])
	require.NoError(t, err, "a repeated part changes nothing")
	_, err = x.Append(t.Context(), hash, half+1, data[half:])
	require.ErrorIs(t, err, fault.ErrConflict)
	_, err = x.Append(t.Context(), hash, half, data[half:])
	require.NoError(t, err)
	require.NoError(t, x.Commit(t.Context(), "b", hash))
	missing, err := x.Missing(t.Context(), []code.OID{blob("needle\n").OID})
	require.NoError(t, err)
	require.Empty(t, missing)
	left, err := os.ReadDir(filepath.Join(dir, "uploads"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.ErrorIs(t, x.Commit(t.Context(), "b", hash), fault.ErrNotFound)
}

func TestUploadsThatAreNoSegmentAreRefused(t *testing.T) {
	t.Parallel()
	x, _, dir := open(t)
	data, hash := built(t, "needle\n")
	lie := strings.Repeat("a", 64)
	_, err := x.Append(t.Context(), lie, 0, data)
	require.NoError(t, err)
	require.ErrorIs(t, x.Commit(t.Context(), "b", lie), fault.ErrCorrupt, "another hash")
	n, err := x.Received(lie)
	require.NoError(t, err)
	require.Zero(t, n, "it can be sent again")

	nonsense := []byte("not a segment")
	sum := sha256.Sum256(nonsense)
	name := hex.EncodeToString(sum[:])
	_, err = x.Append(t.Context(), name, 0, nonsense)
	require.NoError(t, err)
	require.ErrorIs(t, x.Commit(t.Context(), "b", name), fault.ErrCorrupt)
	for _, bad := range []string{"", "../x", strings.ToUpper(lie), lie + "a", "-rf"} {
		_, err := x.Append(t.Context(), bad, 0, nil)
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
		_, err = x.Received(bad)
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
		require.ErrorIs(t, x.Commit(t.Context(), "b", bad), fault.ErrInvalid, bad)
	}
	_, err = x.Append(t.Context(), hash, 0, make([]byte, 65<<20))
	require.ErrorIs(t, err, fault.ErrTooLarge)
	left, err := os.ReadDir(filepath.Join(dir, "uploads"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// Defect 4 of earlier indexers: a repository is removed by its id.
func TestAnOriginThatWasRemovedIsNotPublishedAgain(t *testing.T) {
	t.Parallel()
	x, o, _ := open(t)
	b := blob("needle\n")
	_, err := x.Put(t.Context(), "b", []code.Blob{b})
	require.NoError(t, err)
	m := code.Manifest{RepoID: "r", Repo: "example.org/r", Refs: []code.Ref{{Name: "main", Commit: "c"}}, Files: []code.File{{Ref: "main", Path: "a", OID: b.OID}}}
	require.NoError(t, x.Publish(t.Context(), m))
	require.Equal(t, 1, matches(t, x, "needle"))
	o.removed.Store(true)
	require.NoError(t, x.DropRepo(t.Context(), "r"))
	require.ErrorIs(t, x.Publish(t.Context(), m), fault.ErrNotFound, "a visit that ends late brings nothing back")
	require.Zero(t, matches(t, x, "needle"))
}

func matches(t *testing.T, x code.Searcher, query string) int {
	t.Helper()
	q, err := code.Parse(query)
	require.NoError(t, err)
	stats, err := x.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
	require.NoError(t, err)
	return stats.Matches
}

// serve returns a client of the API of a coordinator over an index; before may refuse a
// request.
func serve(t *testing.T, x *codeindex.Index, before func(w http.ResponseWriter, r *http.Request) (handled bool)) *apicode.Client {
	t.Helper()
	c, err := apicode.New(serveAPI(t, x, before), filepath.Join(t.TempDir(), "segments"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// serveAPI returns the URL of the API of a coordinator over an index, which may be nil.
func serveAPI(t *testing.T, x *codeindex.Index, before func(w http.ResponseWriter, r *http.Request) (handled bool)) string {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	var conn space.Conn
	conn, err = e.Connect(t.Context(), "api", 0)
	require.NoError(t, err)
	config := api.Config{Conn: conn, Log: slog.New(slog.DiscardHandler)}
	if x != nil {
		config.Index = x
	}
	handler := api.New(config)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestSearchesFilesAndReportsOverTheAPI(t *testing.T) {
	t.Parallel()
	x, _, _ := open(t)
	file := blob("package a\n\nfunc (s *S) Find() {}\n// https://bob:secret@example.org is text of a file\n")
	file.Complexity, file.Code = 7, 2
	file.Symbols = []code.Symbol{{Name: "Find", Kind: "method", Scope: "S", Line: 3, End: 3, Signature: "func (s *S) Find()"}}
	file.Functions = []code.FunctionReport{{Line: 3, Function: "Find", Receiver: "S", A: 3, B: 4, Score: 5, ABCSeed: 6}}
	many := blob(strings.Repeat("needle\n", 300))
	link := code.Blob{OID: code.OIDOf([]byte("target")), BlobInfo: code.BlobInfo{Size: 6, Skipped: "symbolic link"}}
	_, err := x.Put(t.Context(), "b", []code.Blob{file, many, link})
	require.NoError(t, err)
	require.NoError(t, x.Publish(t.Context(), code.Manifest{RepoID: "r", Repo: "example.org/team/r", Refs: []code.Ref{{Name: "main", Commit: "c"}}, Files: []code.File{
		{Ref: "main", Path: "a.go", OID: file.OID}, {Ref: "main", Path: "many.go", OID: many.OID}, {Ref: "main", Path: "link", OID: link.OID}, {Ref: "main", Path: "vendor/a.go", OID: file.OID, Vendored: true},
		{Ref: "main", Path: "a_test.go", OID: file.OID},
	}}))
	c, err := client.New(serveAPI(t, x, nil))
	require.NoError(t, err)
	defer c.Close()

	var found []types.CodeMatch
	collect := func(m types.CodeMatch) bool { found = append(found, m); return true }
	end, err := c.Search(t.Context(), types.SearchQuery{Query: "sym:Find -vendor:yes -file:_test", Limit: 10, Context: 1}, collect)
	require.NoError(t, err)
	require.Equal(t, 1, end.Matches)
	require.Equal(t, map[string]int{"symbolic link": 1}, end.Skipped)
	require.Equal(t, "a.go", found[0].Path)
	require.Equal(t, "method", found[0].Symbol.Kind)
	require.Equal(t, []string{"// https://bob:secret@example.org is text of a file"}, found[0].After, "files are not redacted")
	found = nil
	end, err = c.Search(t.Context(), types.SearchQuery{Query: "needle", Limit: 1000}, collect)
	require.NoError(t, err)
	require.Len(t, found, 300)
	require.Equal(t, 300, end.Matches)
	visited := 0
	_, err = c.Search(t.Context(), types.SearchQuery{Query: "needle", Limit: 1000}, func(types.CodeMatch) bool { visited++; return visited < 5 })
	require.NoError(t, err)
	require.Equal(t, 5, visited)
	end, err = c.Search(t.Context(), types.SearchQuery{Query: "needle", Limit: 7}, collect)
	require.NoError(t, err)
	require.Equal(t, code.StoppedLimit, end.Stopped)
	for _, bad := range []string{"/(/", `"open`, ""} {
		_, err = c.Search(t.Context(), types.SearchQuery{Query: bad, Limit: 10}, collect)
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
	}
	_, err = c.Search(t.Context(), types.SearchQuery{Query: "needle", Limit: 10, Context: 11}, collect)
	require.ErrorIs(t, err, fault.ErrInvalid)

	for _, name := range []string{"r", "example.org/team/r", "team/r"} {
		r, err := c.CodeReport(t.Context(), types.ReportQuery{Repo: name, Limit: 10})
		require.NoError(t, err)
		require.Equal(t, 5, r.Files)
		require.Equal(t, 1, r.LeftOut)
		require.Equal(t, map[string]int{"symbolic link": 1}, r.Skipped)
		require.Equal(t, []types.FunctionReport{{Repo: "example.org/team/r", Path: "a.go", Line: 3, Function: "Find", Receiver: "S", A: 3, B: 4, Score: 5, ABCSeed: 6}}, r.Functions, "a vendored file and a test are left out")
		require.Len(t, r.Complex, 1)
		require.Equal(t, []types.LanguageReport{{Lang: "Go", Files: 4, Lines: 312, Code: 6}}, r.Languages)
	}
	r, err := c.CodeReport(t.Context(), types.ReportQuery{Repo: "r", Limit: 10, Tests: true})
	require.NoError(t, err)
	require.Zero(t, r.LeftOut)
	require.Len(t, r.Functions, 2)
	require.Len(t, r.Complex, 2)
	_, err = c.CodeReport(t.Context(), types.ReportQuery{Repo: "absent", Limit: 10})
	require.ErrorIs(t, err, fault.ErrNotFound)
	files, err := c.Files(t.Context(), "r", true, 10)
	require.NoError(t, err)
	require.Len(t, files.Items, 1)
	require.Equal(t, "link", files.Items[0].Path)
	files, err = c.Files(t.Context(), "", false, 2)
	require.NoError(t, err)
	require.Len(t, files.Items, 2)
	require.Equal(t, 5, files.Total)
	_, err = c.Files(t.Context(), "absent", false, 2)
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestRepositoriesSymbolsAndFilesOverTheAPI(t *testing.T) {
	t.Parallel()
	x, _, _ := open(t)
	source := blob("package a\n\nfunc (s *S) Find() {}\n// end\n")
	source.Symbols = []code.Symbol{{Name: "Find", Kind: "method", Scope: "S", Line: 3, End: 3, Signature: "func (s *S) Find()"}}
	link := code.Blob{OID: code.OIDOf([]byte("target")), BlobInfo: code.BlobInfo{Size: 6, Skipped: "symbolic link"}}
	_, err := x.Put(t.Context(), "b", []code.Blob{source, link})
	require.NoError(t, err)
	require.NoError(t, x.Publish(t.Context(), code.Manifest{RepoID: "r", Repo: "example.org/team/r", Refs: []code.Ref{{Name: "main", Commit: "c"}, {Name: "next", Commit: "d"}}, Files: []code.File{
		{Ref: "main", Path: "a.go", OID: source.OID}, {Ref: "next", Path: "a.go", OID: source.OID}, {Ref: "main", Path: "link", OID: link.OID}, {Ref: "main", Path: "vendor/a.go", OID: source.OID, Vendored: true},
	}}))
	c, err := client.New(serveAPI(t, x, nil))
	require.NoError(t, err)
	defer c.Close()

	repos, err := c.Repositories(t.Context(), -1)
	require.NoError(t, err)
	require.Equal(t, []types.CodeRepository{{Repo: "example.org/team/r", ID: "r", Refs: []types.GenerationRef{{Name: "main", Commit: "c"}, {Name: "next", Commit: "d"}}, Files: 3}}, repos.Items)
	file, err := c.ReadFile(t.Context(), types.FilePlace{Repo: "team/r", Path: "a.go", From: 2, Lines: 2})
	require.NoError(t, err)
	require.Equal(t, types.CodeFile{Repo: "example.org/team/r", Path: "a.go", OID: string(source.OID), Commit: "c", Lang: "Go", From: 2, Total: 4, Lines: []string{"", "func (s *S) Find() {}"}}, file)
	file, err = c.ReadFile(t.Context(), types.FilePlace{Repo: "r", Path: "a.go", Ref: "next", Lines: 1})
	require.NoError(t, err)
	require.Equal(t, "d", file.Commit, "the commit of the branch that was named")
	for _, path := range []string{"absent", "../a.go", "link"} {
		_, err = c.ReadFile(t.Context(), types.FilePlace{Repo: "r", Path: path, Lines: 10})
		require.ErrorIs(t, err, fault.ErrNotFound, path)
	}
	var symbols types.Page[types.SymbolPlace]
	_, err = c.Do(t.Context(), client.Call{Method: "GET", Path: "symbols", Query: url.Values{"name": {"find"}}, Answer: &symbols})
	require.NoError(t, err)
	require.Equal(t, []types.SymbolPlace{
		{CodeSymbol: types.CodeSymbol{Name: "Find", Kind: "method", Scope: "S", Line: 3, End: 3, Signature: "func (s *S) Find()"}, Repo: "example.org/team/r", Path: "a.go"},
		{CodeSymbol: types.CodeSymbol{Name: "Find", Kind: "method", Scope: "S", Line: 3, End: 3, Signature: "func (s *S) Find()"}, Repo: "example.org/team/r", Path: "vendor/a.go", Branch: "main"},
	}, symbols.Items)
	_, err = c.Do(t.Context(), client.Call{Method: "GET", Path: "symbols", Answer: &symbols})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAnUnusableIndexSaysWhyAndForgetsRemovedOriginsLater(t *testing.T) {
	t.Parallel()
	x, o, dir := open(t)
	b := blob("needle\n")
	_, err := x.Put(t.Context(), "b", []code.Blob{b})
	require.NoError(t, err)
	require.NoError(t, x.Publish(t.Context(), code.Manifest{RepoID: "r", Repo: "example.org/r", Refs: []code.Ref{{Name: "main", Commit: "c"}}, Files: []code.File{{Ref: "main", Path: "a", OID: b.OID}}}))
	complete, err := x.Complete(t.Context(), "r")
	require.NoError(t, err)
	require.True(t, complete)

	reason := fmt.Errorf("segment x is damaged: %w", fault.ErrCorrupt)
	damaged, err := codeindex.New(filepath.Join(dir, "uploads"), codeindex.Unusable(reason), o)
	require.NoError(t, err)
	_, missing := damaged.Missing(t.Context(), nil)
	_, found := damaged.Symbols(t.Context(), "x", "", 1)
	_, read := damaged.Read(t.Context(), types.FilePlace{OID: string(b.OID)})
	_, listed := damaged.ListFiles(t.Context(), codeindex.FileQuery{})
	_, known := damaged.Complete(t.Context(), "r")
	_, put := damaged.Put(t.Context(), "b", []code.Blob{b})
	for _, err := range []error{missing, found, read, listed, known, put, damaged.Publish(t.Context(), code.Manifest{RepoID: "r"}), damaged.PutSegment(t.Context(), "b", "x")} {
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, "the code index cannot be used: segment x is damaged")
	}
	o.removed.Store(true)
	require.NoError(t, damaged.DropRepo(t.Context(), "r"), "the origin is removed although its files cannot be")

	require.NoError(t, x.DropRemoved(t.Context()))
	require.Zero(t, matches(t, x, "needle"))
	complete, err = x.Complete(t.Context(), "r")
	require.NoError(t, err)
	require.False(t, complete)
}

func TestACoordinatorWithoutACodeIndexReportsThat(t *testing.T) {
	t.Parallel()
	url := serveAPI(t, nil, nil)
	c, err := client.New(url)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Search(t.Context(), types.SearchQuery{Query: "x", Limit: 10}, nil)
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = c.CodeReport(t.Context(), types.ReportQuery{Repo: "r", Limit: 1})
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = c.Files(t.Context(), "", false, 1)
	require.ErrorIs(t, err, fault.ErrNotFound)
	r, err := apicode.New(url, t.TempDir())
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Put(t.Context(), "b", []code.Blob{blob("x\n")})
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = r.Missing(t.Context(), []code.OID{blob("x\n").OID})
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorIs(t, r.Publish(t.Context(), code.Manifest{}), fault.ErrNotFound)
}

func TestManagersAndWorkersUseTheIndexOverTheAPI(t *testing.T) {
	t.Parallel()
	x, _, _ := open(t)
	c := serve(t, x, nil)
	large := blob(strings.Repeat("a line of text, needle\n", 100_000))
	small := blob("needle\n")
	ids := []code.OID{large.OID, small.OID}
	missing, err := c.Missing(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, ids, missing)
	hash, err := c.Put(t.Context(), "b", []code.Blob{large, small})
	require.NoError(t, err)
	require.Len(t, hash, 64)
	again, err := c.Put(t.Context(), "b", []code.Blob{large, small})
	require.NoError(t, err)
	require.Equal(t, hash, again)
	missing, err = c.Missing(t.Context(), ids)
	require.NoError(t, err)
	require.Empty(t, missing)
	m := code.Manifest{RepoID: "r", Repo: "example.org/r", Refs: []code.Ref{{Name: "main", Commit: "c"}},
		Files: []code.File{{Ref: "main", Path: "bytes \xff", OID: small.OID, Vendored: true}, {Ref: "main", Path: "large", OID: large.OID}}}
	require.NoError(t, c.Publish(t.Context(), m))
	require.Equal(t, 1, matches(t, x, "needle vendor:yes"))
	m.Files[0].OID = code.OIDOf([]byte("absent"))
	require.ErrorIs(t, c.Publish(t.Context(), m), fault.ErrConflict)
	m.RepoID = "removed"
	require.ErrorIs(t, c.Publish(t.Context(), m), fault.ErrNotFound)
	_, err = c.Missing(t.Context(), []code.OID{"../x"})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

// Defect 5 of earlier indexers: errors of the index are noticed.
func TestAnUploadThatBreaksOffIsContinued(t *testing.T) {
	t.Parallel()
	x, _, _ := open(t)
	var requests, parts atomic.Int64
	c := serve(t, x, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/parts") {
			parts.Add(1)
		}
		if requests.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	large := blob(strings.Repeat("a line of text, needle\n", 100_000))
	_, err := c.Put(t.Context(), "b", []code.Blob{large})
	require.NoError(t, err)
	missing, err := c.Missing(t.Context(), []code.OID{large.OID})
	require.NoError(t, err)
	require.Empty(t, missing)
	require.Greater(t, parts.Load(), int64(5))
}
