package elastic_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
	"leasehold/shared/code/elastic/opensearchtest"
	"leasehold/shared/fault"
)

// noise returns a text of n bytes in lines, with "needle" in its last.
func noise(seed string, n int) string {
	var b strings.Builder
	sum := sha256.Sum256([]byte(seed))
	for b.Len() < n {
		sum = sha256.Sum256(sum[:])
		b.WriteString(hex.EncodeToString(sum[:]) + "\n")
	}
	return b.String() + "needle\n"
}

// TestAFileThatIsTooLargeForTheServerIsSkippedWithItsName has a server whose limit is below the size of a request, and of
// one document.
func TestAFileThatIsTooLargeForTheServerIsSkippedWithItsName(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	server.MaxBody = 100_000
	var log bytes.Buffer
	x := open(t, server, elastic.Config{Views: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
	texts := []string{noise("large", 200_000)}
	for i := range 20 {
		texts = append(texts, noise(fmt.Sprint(i), 10_000))
	}
	require.NoError(t, put(x, "a", texts...), "the other files are indexed")
	require.Len(t, found(t, x), 20)
	require.Equal(t, map[string]int{elastic.SkipRefused: 1}, skippedBy(t, x, "needle"))
	var named []string
	every := func(string, string) bool { return true }
	require.NoError(t, x.Files(t.Context(), every, func(f code.FileInfo, _ func() []code.FunctionReport) bool {
		if f.Skipped != "" {
			require.Equal(t, elastic.SkipRefused, f.Skipped)
			require.EqualValues(t, len(texts[0]), f.Size)
			named = append(named, f.Path)
		}
		return true
	}))
	require.Equal(t, []string{"f0"}, named, "report --skipped lists it")
	require.Contains(t, log.String(), "repository=a files=1 first=f0")

	server.MaxBody = 100
	all, _ := blobsOf("a", "needle")
	err := x.PutBlobs(t.Context(), "b7", all)
	require.ErrorIs(t, err, fault.ErrTooLarge, "no request fits")
	require.ErrorContains(t, err, string(all[0].OID))
	require.ErrorContains(t, err, "b7")
}

func TestAViewLeavesOutATextThatIsTooLargeForTheServer(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{Views: true})
	server.Fail = func(r *http.Request, body string) *elastictest.Answer {
		if strings.Contains(body, `"leasehold-lines"`) && strings.Contains(body, `"needle 1"`) {
			return &elastictest.Answer{Status: http.StatusRequestEntityTooLarge}
		}
		return nil
	}
	require.NoError(t, put(x, "a", "needle 1", "needle 2"))
	require.Len(t, server.Documents("files"), 1)
	require.Len(t, found(t, x), 2)
}

func TestASettingThatAServerlessServerRefusesIsLeftOut(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	server.Serverless = true
	for range 2 { // a second process finds the indices
		x := open(t, server, elastic.Config{Shards: 3, Replicas: new(1), Views: true})
		require.NoError(t, put(x, "a", "needle"))
		require.Equal(t, []string{"a:needle"}, found(t, x))
		l, err := x.Layout(t.Context())
		require.NoError(t, err)
		require.Len(t, l.Indices, 6)
		require.Zero(t, l.Indices[0].Shards)
	}
}

// TestADiskThatIsFullAtTheServerMakesIndexingWait has the answers of several versions at the flood stage.
func TestADiskThatIsFullAtTheServerMakesIndexingWait(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusTooManyRequests} {
		for name, whole := range map[string]bool{"request": true, "item": false} {
			synctest.Test(t, func(t *testing.T) {
				server := elastictest.New()
				x := open(t, server, elastic.Config{})
				require.NoError(t, put(x, "a", "needle"))
				began := time.Now()
				isFull := func() bool { return time.Since(began) < 20*time.Second }
				server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
					if whole && isWrite(r) && isFull() {
						return &elastictest.Answer{Status: status, Body: `{"error":{"type":"cluster_block_exception","reason":"index [leasehold-blobs-1] blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"}}`}
					}
					return nil
				}
				server.FailItem = func(string, string, string) (int, string) {
					if !whole && isFull() {
						return status, "cluster_block_exception"
					}
					return 0, ""
				}
				require.NoError(t, put(x, "b", "needle"), "%s %d", name, status)
				require.GreaterOrEqual(t, time.Since(began), 20*time.Second)
				require.Equal(t, []string{"a:needle", "b:needle"}, found(t, x))
				began = time.Now().Add(time.Hour) // full for longer than requests are repeated
				require.ErrorIs(t, put(x, "c", "needle 2"), fault.ErrOverloaded, "a worker hands its batch back")
				require.Equal(t, []string{"a:needle", "b:needle"}, found(t, x))
			})
		}
	}
}

func TestAURLOfSomethingElseIsRefusedWithWhatIsWanted(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"page": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<html><body>Welcome to nginx!</body></html>")
		},
		"json":     func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"hello":"world"}`) },
		"list":     func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) },
		"empty":    func(http.ResponseWriter, *http.Request) {},
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
		"missing":  http.NotFound,
	} {
		server := httptest.NewServer(answer)
		t.Cleanup(server.Close)
		x, err := elastic.New(elastic.Config{URL: server.URL, RetryFor: time.Nanosecond})
		require.NoError(t, err)
		t.Cleanup(func() { _ = x.Close() })
		for _, err := range []error{put(x, "a", "needle"), func() error { _, err := x.Layout(t.Context()); return err }()} {
			require.ErrorContains(t, err, "want OpenSearch, or Elasticsearch 7.10 or later", name)
			require.ErrorContains(t, err, server.URL, name)
		}
	}
}

func TestAVersionThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"6.8.23", "7.9.3", "5", "x"} {
		server := elastictest.New()
		server.Number = number
		x := open(t, server, elastic.Config{})
		_, err := x.Layout(t.Context())
		for _, err := range []error{put(x, "a", "needle"), err} {
			require.ErrorIs(t, err, fault.ErrInvalid, number)
			require.ErrorContains(t, err, fmt.Sprintf("%q", number))
			require.ErrorContains(t, err, "want OpenSearch, or Elasticsearch 7.10 or later", number)
		}
	}
}

// TestAClusterThatIsRedIsNotTakenForOneWithoutMatches has shards without a copy, for which a real server answers so.
func TestAClusterThatIsRedIsNotTakenForOneWithoutMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		x := open(t, server, elastic.Config{})
		require.NoError(t, put(x, "a", "needle"))
		server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
			switch {
			case strings.HasSuffix(r.URL.Path, "/_search") || strings.HasSuffix(r.URL.Path, "/_mget"):
				return &elastictest.Answer{Status: http.StatusServiceUnavailable, Body: `{"error":{"type":"search_phase_execution_exception","reason":"all shards failed"},"status":503}`}
			case isWrite(r):
				return &elastictest.Answer{Status: http.StatusServiceUnavailable, Body: `{"error":{"type":"unavailable_shards_exception","reason":"[leasehold-blobs-1][0] primary shard is not active"},"status":503}`}
			}
			return nil
		}
		q, err := code.Parse("needle")
		require.NoError(t, err)
		stats, err := x.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
		require.True(t, err != nil || stats.Stopped != "", "%v", stats)
		require.ErrorIs(t, put(x, "b", "needle"), fault.ErrUnavailable)
		server.Fail = nil
		require.NoError(t, put(x, "b", "needle"))
		require.Len(t, found(t, x), 2)
	})
}

// onBoth runs a test on the server in memory, and on a real one if there is one.
func onBoth(t *testing.T, what string, test func(*testing.T, *elastic.Index)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, elastictest.New(), elastic.Config{Views: true}))
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		if url := opensearchtest.URL(t, what); url != "" {
			test(t, openReal(t, url, elastic.Config{Views: true}))
		}
	})
}

func TestNamesAreKeptUpToTheirLimit(t *testing.T) {
	t.Parallel()
	onBoth(t, "long names", func(t *testing.T, x *elastic.Index) {
		err := put(x, strings.Repeat("n", 5_000), "needle")
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, "want 1 to 1024 bytes")
		name := strings.Repeat("n", 1024)
		all, m := blobsOf(name, "needle")
		m.Refs[0].Name, m.Files[0].Ref, m.Files[0].Path = strings.Repeat("r\xff", 200), strings.Repeat("r\xff", 200), strings.Repeat("d/", 2_000)+"f\xff"
		require.NoError(t, x.PutBlobs(context.Background(), "b", all))
		require.NoError(t, x.Publish(context.Background(), m))
		require.Equal(t, []string{name + ":needle"}, found(t, x))
		_, exists, err := x.Repo(t.Context(), name)
		require.NoError(t, err)
		require.True(t, exists)
		require.NoError(t, x.DropRepo(t.Context(), name))
		require.Empty(t, found(t, x))
	})
}

func TestAFileOfOneLongLineIsFound(t *testing.T) {
	t.Parallel()
	onBoth(t, "a long line", func(t *testing.T, x *elastic.Index) {
		line := strings.Repeat(`x="\t<\x01>";`, code.MaxBlobBytes/13-1)
		all, m := blobsOf("a", line+"needle")
		all[0].Symbols = []code.Symbol{{Name: strings.Repeat("s", 40_000), Kind: "var", Line: 1, End: 1}} // longer than a keyword may be
		require.NoError(t, x.PutBlobs(context.Background(), "b", all))
		require.NoError(t, x.Publish(context.Background(), m))
		require.Len(t, found(t, x), 1)
	})
}

// TestTwoHundredThousandMatchesAreVisitedOnce has them in few files.
func TestTwoHundredThousandMatchesAreVisitedOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, "many matches", func(t *testing.T, x *elastic.Index) {
		var texts []string
		for i := range 20 {
			texts = append(texts, fmt.Sprintf("%d\n", i)+strings.Repeat("a needle\n", 10_000))
		}
		require.NoError(t, put(x, "a", texts...))
		q, err := code.Parse("needle")
		require.NoError(t, err)
		type place struct {
			path string
			line int
		}
		visited := map[place]bool{}
		stats, err := x.Search(context.Background(), q, code.Options{Timeout: time.Hour}, func(m code.Match) bool {
			visited[place{m.Path, m.Line}] = true
			return true
		})
		require.NoError(t, err)
		require.Empty(t, stats.Stopped)
		require.Equal(t, 200_000, len(visited)) // not Len, which would print all
	})
}
