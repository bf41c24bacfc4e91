package elastic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
	"leasehold/shared/fault"
)

// skippedBy returns how many files a search counts that are not indexed, by reason.
func skippedBy(t testing.TB, x *elastic.Index, text string) map[string]int {
	q, err := code.Parse(text)
	require.NoError(t, err)
	stats, err := x.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
	require.NoError(t, err)
	return stats.Skipped
}

// putSkipped publishes a repository with a text and with files that are not indexed.
func putSkipped(x *elastic.Index, repo, text string, skipped int) error {
	all, m := blobsOf(repo, text)
	for i := range skipped {
		id := code.OIDOf(fmt.Append(nil, repo, i))
		all = append(all, code.Blob{OID: id, BlobInfo: code.BlobInfo{Skipped: "a link"}})
		m.Files = append(m.Files, code.File{Ref: "main", Path: fmt.Sprint("link", i), OID: id, Vendored: i == 0})
	}
	if err := x.PutBlobs(context.Background(), repo, all); err != nil {
		return err
	}
	return x.Publish(context.Background(), m)
}

// TestAFirstPublicationDuringASearchIsNotTakenForLost publishes after a search has read that nothing is published.
func TestAFirstPublicationDuringASearchIsNotTakenForLost(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	writer := open(t, server, elastic.Config{})
	_, err := writer.Repos(t.Context()) // so that the indices exist
	require.NoError(t, err)
	var published sync.Once
	reader := open(t, server, elastic.Config{Transport: transport(func(r *http.Request) (*http.Response, error) {
		answer, err := server.RoundTrip(r)
		if strings.HasSuffix(r.URL.Path, "leasehold-published/_search") {
			published.Do(func() { require.NoError(t, put(writer, "a", "needle")) })
		}
		return answer, err
	})})
	repos, err := reader.Repos(t.Context())
	require.NoError(t, err)
	require.Len(t, repos, 1)
	require.Zero(t, repos[0].Lost)
}

func TestHiddenFilesAreNeitherFoundNorCounted(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, putSkipped(x, "a", "needle 1", 3))
	require.NoError(t, putSkipped(x, "a", "needle 2", 2)) // that of before stays for a while
	require.NoError(t, putSkipped(x, "b", "needle 3", 1))
	require.NoError(t, putSkipped(x, "dropped", "needle 4", 1))
	require.NoError(t, x.DropRepo(t.Context(), "dropped"))
	server.FailItem = func(_, index, _ string) (int, string) {
		if index == "leasehold-published" {
			return http.StatusBadRequest, "a test"
		}
		return 0, ""
	}
	require.Error(t, putSkipped(x, "b", "needle 5", 5))
	server.FailItem = nil
	for _, x := range []*elastic.Index{x, open(t, server, elastic.Config{})} {
		require.NoError(t, elastic.Refresh(t.Context(), x))
		require.Equal(t, []string{"a:needle 2", "b:needle 3"}, found(t, x))
		for query, want := range map[string]int{"needle": 3, "needle vendor:yes": 2, "needle vendor:no": 1, "needle repo:a": 2, "repo:b vendor:yes": 1, "file:link": 3, "(repo:a or vendor:yes) needle": 3, "repo:absent": 0} {
			require.Equal(t, want, skippedBy(t, x, query)["a link"], query)
		}
	}
}

// TestSeveralCoordinatorsMayPublish has several processes that publish, drop and replace repositories at the same
// time. None of their publications is lost.
func TestSeveralCoordinatorsMayPublish(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	const processes, repos = 4, 8
	var working sync.WaitGroup
	for p := range processes {
		x := open(t, server, elastic.Config{})
		working.Go(func() {
			for r := range repos {
				own := fmt.Sprintf("p%d-%d", p, r)
				for _, err := range []error{put(x, own, "needle old"), put(x, "common", fmt.Sprintf("needle %d of %d", r, p)), put(x, own, "needle new")} {
					if err != nil {
						t.Error(err)
					}
				}
				if r%2 == 1 {
					if err := x.DropRepo(context.Background(), own); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	working.Wait()
	x := open(t, server, elastic.Config{})
	all := found(t, x)
	require.Len(t, all, processes*repos/2+1)
	for _, line := range all {
		require.True(t, strings.HasSuffix(line, ":needle new") || strings.HasPrefix(line, "common:"), line)
	}
	numbers := map[float64]bool{}
	for id, d := range server.Documents("leasehold-published") {
		require.Equal(t, id, fmt.Sprint(d["number"]))
		n, err := d["number"].(json.Number).Float64()
		require.NoError(t, err)
		numbers[n] = true
	}
	require.Len(t, numbers, 1+processes*(repos*3+repos/2), "each publication has its number")
}

// TestAnIndexOfAnEarlierVersionIsTakenOver has an index as it was before there was the index published: an alias lists
// the current generations.
func TestAnIndexOfAnEarlierVersionIsTakenOver(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, putSkipped(x, "a", "needle 0", 4))
	require.NoError(t, putSkipped(x, "a", "needle 1", 2))
	require.NoError(t, put(x, "b", "needle 2"))
	asBefore(t, server, "a", "b")

	reader := open(t, server, elastic.Config{})
	for range 2 {
		require.Equal(t, []string{"a:needle 1", "b:needle 2"}, found(t, reader), "without a publication")
		require.Equal(t, map[string]int{"a link": 2}, skippedBy(t, reader, "needle"))
	}
	require.Empty(t, server.Documents("leasehold-published"), "a search writes nothing")
	y := open(t, server, elastic.Config{})
	require.NoError(t, put(y, "c", "needle 3"))
	require.NoError(t, elastic.Collect(t.Context(), y))
	for _, x := range []*elastic.Index{reader, y, open(t, server, elastic.Config{})} {
		require.Equal(t, []string{"a:needle 1", "b:needle 2", "c:needle 3"}, found(t, x))
		require.Equal(t, map[string]int{"a link": 2}, skippedBy(t, x, "needle"))
	}
	require.NoError(t, put(y, "a", "needle 4"))
	require.Equal(t, []string{"a:needle 4", "b:needle 2", "c:needle 3"}, found(t, reader))
	status, _ := sendTo(t, server, "GET", "_alias/leasehold-current", "")
	require.Equal(t, http.StatusNotFound, status)
}

// asBefore turns what a server has into what an earlier version wrote.
func asBefore(t *testing.T, server *elastictest.Server, repos ...string) {
	newest, numbers := map[string]map[string]any{}, map[string]string{}
	for _, d := range server.Documents("leasehold-published") {
		repo := fmt.Sprint(d["repo_id"])
		if n := fmt.Sprint(d["number"]); slices.Contains(repos, repo) && n > numbers[repo] {
			newest[repo], numbers[repo] = d, n
		}
	}
	var ids []string
	body := ""
	for repo, d := range newest {
		manifest := d["manifest"].(map[string]any)
		delete(manifest, "files_index")
		delete(manifest, "skipped")
		id := d["generation"].(string)
		document, err := json.Marshal(map[string]any{"generation": id, "repo_id": repo, "repository": repo, "manifest": manifest})
		require.NoError(t, err)
		body += fmt.Sprintf("{\"index\":{\"_index\":\"leasehold-generations\",\"_id\":%q}}\n%s\n", id, document)
		ids = append(ids, id)
	}
	status, answer := sendTo(t, server, "POST", "_bulk?require_alias=true", body)
	require.Equal(t, http.StatusOK, status, answer)
	list, err := json.Marshal(ids)
	require.NoError(t, err)
	status, answer = sendTo(t, server, "POST", "_aliases", fmt.Sprintf(`{"actions":[{"add":{"index":"leasehold-files-1","alias":"leasehold-current","filter":{"terms":{"generation":%s}}}}]}`, list))
	require.Equal(t, http.StatusOK, status, answer)
	server.Delete("leasehold-published-1")
}

// TestAnIndexOfPublicationsThatWasMadeAgainIsReadFromItsBegin has a reader that knows more publications than there
// are.
func TestAnIndexOfPublicationsThatWasMadeAgainIsReadFromItsBegin(t *testing.T) {
	t.Parallel()
	for after := range 6 {
		server := elastictest.New()
		x := open(t, server, elastic.Config{})
		for i := range 3 {
			require.NoError(t, put(x, fmt.Sprint("old", i), "needle"))
		}
		require.Len(t, found(t, x), 3)
		server.Delete("leasehold-published-1")
		y := open(t, server, elastic.Config{})
		want := []string{}
		for i := range after {
			require.NoError(t, put(y, fmt.Sprint("new", i), "needle"))
			want = append(want, fmt.Sprintf("new%d:needle", i))
		}
		if after == 0 {
			_, err := y.Repos(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, want, found(t, x))
		require.Equal(t, 3, skippedBy(t, x, "needle")[code.SkipLost], "the old ones, until their visits")
		require.NoError(t, put(x, "more", "needle"))
		require.Equal(t, append([]string{"more:needle"}, want...), found(t, y))
	}
}

// sendTo sends a request to a server in memory, and returns the status and the answer.
func sendTo(t *testing.T, server *elastictest.Server, method, path, body string) (int, string) {
	r, err := http.NewRequestWithContext(t.Context(), method, "http://search.test:9200/"+path, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(path, "_bulk") {
		r.Header.Set("Content-Type", "application/x-ndjson")
	}
	answer, err := server.RoundTrip(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(data)
}

func TestTheViewsShowABoundedNumberOfRepositories(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{Views: true})
	_, err := x.Repos(t.Context())
	require.NoError(t, err)
	var base []map[string]any
	for i := range 10_000 {
		base = append(base, map[string]any{"id": fmt.Sprint("g", i), "repo_id": fmt.Sprint("r", i), "repo": fmt.Sprint("r", i)})
	}
	document, err := json.Marshal(map[string]any{"number": 1, "log": "a", "base": base})
	require.NoError(t, err)
	status, answer := sendTo(t, server, "POST", "_bulk?require_alias=true", fmt.Sprintf("{\"create\":{\"_index\":\"leasehold-published\",\"_id\":\"1\"}}\n%s\n", document))
	require.Equal(t, http.StatusOK, status, answer)
	require.NoError(t, elastic.Refresh(t.Context(), x))
	err = put(x, "more", "needle")
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.ErrorContains(t, err, "search-views")
	require.NoError(t, put(x, "r5", "needle"), "a repository that is shown already is replaced")
	require.NoError(t, put(open(t, server, elastic.Config{}), "more", "needle"), "without views there is no bound")
}
