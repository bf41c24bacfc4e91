package elastic_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
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

func quietly(elastic.Rebuilding) {}

// rebuild rebuilds the index on a server in memory.
func rebuild(server *elastictest.Server, c elastic.Config) (elastic.Rebuilding, error) {
	c.URL, c.Transport = "http://search.test:9200", server
	return elastic.Rebuild(context.Background(), c, quietly)
}

func TestARebuildKeepsEverythingThatIsFound(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, put(x, "a", "needle 1", "needle \xff", "needle with func Symbol() {}"))
	require.NoError(t, putSkipped(x, "b", "needle 2", 3))
	want := found(t, x)
	before, err := x.Repos(t.Context())
	require.NoError(t, err)

	done, err := rebuild(server, elastic.Config{Shards: 3, Replicas: new(2)})
	require.NoError(t, err)
	require.Equal(t, []string{"leasehold-blobs-2", "leasehold-files-2"}, done.Indices)
	require.Equal(t, []int{7, 7, 7, 7}, []int{done.Blobs, done.AllBlobs, done.Files, done.AllFiles})

	require.Equal(t, want, found(t, x))
	after, err := x.Repos(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, after, "nothing is lost")
	layout, err := x.Layout(t.Context())
	require.NoError(t, err)
	require.Equal(t, elastic.IndexLayout{Name: "leasehold-blobs-2", Shards: 3, Replicas: 2}, layout.Indices[0])
	server.Requests()
	require.NoError(t, put(x, "a", "needle 1", "needle \xff", "needle with func Symbol() {}"))
	for _, request := range server.Requests() {
		require.NotEqual(t, "POST /_bulk", request, "the same files are the same generation")
	}
	require.NoError(t, put(x, "a", "needle 3"))
	require.Equal(t, []string{"a:needle 3", "b:needle 2"}, found(t, x))

	_, err = rebuild(server, elastic.Config{})
	require.NoError(t, err, "a copy can be copied")
	require.Equal(t, []string{"a:needle 3", "b:needle 2"}, found(t, x))
	require.Contains(t, server.Indices(), "leasehold-files-3")
}

func TestTheIndexBeforeIsRemovedOnceNoSearchReadsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		x := open(t, server, elastic.Config{})
		require.NoError(t, put(x, "a", "needle"))
		_, err := rebuild(server, elastic.Config{})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); x.Run(ctx, slog.New(slog.DiscardHandler)) }()
		time.Sleep(elastic.Grace)
		require.Contains(t, server.Indices(), "leasehold-files-1")
		time.Sleep(2 * time.Minute)
		require.Equal(t, []string{"leasehold-blobs-2", "leasehold-files-2", "leasehold-generations-1", "leasehold-published-1"}, server.Indices())
		require.Equal(t, []string{"a:needle"}, found(t, x))
		stop()
		<-ended
	})
}

// TestARebuildThatFailsAtAnyRequestChangesNothing breaks the connection at each request of a rebuild in turn: before or
// behind the request, once or until the rebuild has failed. Then it rebuilds to the end.
func TestARebuildThatFailsAtAnyRequestChangesNothing(t *testing.T) {
	for n, ended := 0, false; !ended; n++ {
		for _, afterWrite := range []bool{false, true} {
			for _, lasts := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					server := elastictest.New()
					x := open(t, server, elastic.Config{})
					require.NoError(t, put(x, "a", "needle 1", "needle 2"))
					require.NoError(t, put(x, "b", "needle 3"))
					sent := 0
					server.Fail = func(*http.Request, string) *elastictest.Answer {
						sent++
						if sent == n+1 || sent > n && lasts {
							return &elastictest.Answer{AfterWrite: afterWrite}
						}
						return nil
					}
					_, err := rebuild(server, elastic.Config{})
					server.Fail = nil
					ended = sent <= n
					if !lasts {
						require.NoError(t, err, "request %d", n)
					}
					what := fmt.Sprintf("request %d, behind it: %t, all further ones too: %t", n, afterWrite, lasts)
					require.Equal(t, []string{"a:needle 1", "a:needle 2", "b:needle 3"}, found(t, x), what)
					_, err = rebuild(server, elastic.Config{}) // it allows writes again, if the one before could not
					require.NoError(t, err, what)
					require.NoError(t, put(x, "b", "needle 4"), what)
					require.Equal(t, []string{"a:needle 1", "a:needle 2", "b:needle 4"}, found(t, x), what)
					require.LessOrEqual(t, len(server.Indices()), 8, "an unfinished copy is continued: %s", what)
				})
			}
		}
	}
}

// TestARebuildThatIsInterruptedAllowsWritesAgain ends the context of a rebuild when the server has begun to refuse writes.
func TestARebuildThatIsInterruptedAllowsWritesAgain(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, put(x, "a", "needle"))
	ctx, stop := context.WithCancelCause(t.Context())
	refused := false
	server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
		if refused {
			stop(fault.ErrInvalid)
		}
		refused = refused || strings.HasSuffix(r.URL.Path, "/_block/write")
		return nil
	}
	_, err := elastic.Rebuild(ctx, elastic.Config{URL: "http://search.test:9200", Transport: server}, quietly)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.NoError(t, put(x, "a", "needle 2"))
	require.Equal(t, []string{"a:needle 2"}, found(t, x))
}

// TestAPublicationDuringTheMoveIsWholeOrPublishedAgain stops a publication at each of its requests, rebuilds, and lets it go on.
func TestAPublicationDuringTheMoveIsWholeOrPublishedAgain(t *testing.T) {
	t.Parallel()
	for n, ended := 0, false; !ended; n++ {
		server := elastictest.New()
		x := open(t, server, elastic.Config{})
		require.NoError(t, put(x, "a", "needle 1"))
		require.NoError(t, put(x, "b", "needle 1"))
		sent := 0
		var stopped sync.Once
		publisher := transport(func(r *http.Request) (*http.Response, error) {
			if sent++; sent == n+1 {
				stopped.Do(func() {
					_, err := rebuild(server, elastic.Config{})
					require.NoError(t, err)
				})
			}
			return server.RoundTrip(r)
		})
		y := open(t, server, elastic.Config{Transport: publisher})
		err := put(y, "a", "needle 2", "needle 3")
		if err != nil {
			require.ErrorIs(t, err, fault.ErrUnavailable, "request %d", n)
			require.Equal(t, []string{"a:needle 1", "b:needle 1"}, found(t, x), "request %d", n)
			require.NoError(t, put(y, "a", "needle 2", "needle 3"))
		}
		require.Equal(t, []string{"a:needle 2", "a:needle 3", "b:needle 1"}, found(t, x), "request %d", n)
		ended = sent <= n
	}
}

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnAliasThatIsRemovedDuringARebuildIsGivenToTheRightIndex(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, put(x, "a", "needle"))
	ctx, stop := context.WithCancel(t.Context())
	_, err := elastic.Rebuild(ctx, elastic.Config{URL: "http://search.test:9200", Transport: server}, func(elastic.Rebuilding) { stop() })
	require.ErrorIs(t, err, context.Canceled)
	require.Contains(t, server.Indices(), "leasehold-blobs-2", "unfinished")
	removeAlias := func(index string) {
		r, err := http.NewRequest(http.MethodPost, "http://search.test/_aliases", strings.NewReader(fmt.Sprintf(`{"actions":[{"remove":{"index":%q,"alias":"leasehold-blobs"}}]}`, index)))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		answer, err := server.RoundTrip(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
	}
	find := func() []string {
		y := open(t, server, elastic.Config{}) // it looks for the indices
		return found(t, y)
	}
	removeAlias("leasehold-blobs-1")
	require.Equal(t, []string{"a:needle"}, find())
	_, err = rebuild(server, elastic.Config{})
	require.NoError(t, err)
	removeAlias("leasehold-blobs-2")
	require.Equal(t, []string{"a:needle"}, find())
	require.NoError(t, put(x, "a", "needle 2"))
	require.Equal(t, []string{"a:needle 2"}, find())
}

func TestAnIndexOfSomebodyElseWithANumberAtItsEndIsLeftAlone(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, put(x, "a", "needle"))
	other := open(t, server, elastic.Config{Prefix: "leasehold-blobs-"}) // its indices are leasehold-blobs-leasehold-files-1 and so on
	require.NoError(t, put(other, "b", "needle of another coordinator"))
	done, err := rebuild(server, elastic.Config{})
	require.NoError(t, err)
	require.Equal(t, []string{"leasehold-blobs-2", "leasehold-files-2"}, done.Indices)
	_, err = rebuild(server, elastic.Config{Prefix: "leasehold-blobs-"})
	require.NoError(t, err)
	_, err = rebuild(server, elastic.Config{Prefix: "leasehold-blobs-"})
	require.NoError(t, err)
	done, err = rebuild(server, elastic.Config{})
	require.NoError(t, err)
	require.Equal(t, []string{"leasehold-blobs-3", "leasehold-files-3"}, done.Indices)
	require.Equal(t, []string{"a:needle"}, found(t, x))
	require.Equal(t, []string{"b:needle of another coordinator"}, found(t, other))
}

func TestFilesOfADeletedIndexStayLostInACopy(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x := open(t, server, elastic.Config{})
	require.NoError(t, put(x, "a", "needle 1"))
	server.Delete("leasehold-files-1")
	_, _ = x.Repos(t.Context()) // it notices that the index is gone
	require.NoError(t, put(x, "b", "needle 2"))
	_, err := rebuild(server, elastic.Config{})
	require.NoError(t, err)
	q, err := code.Parse("needle")
	require.NoError(t, err)
	stats, err := x.Search(t.Context(), q, code.Options{}, func(code.Match) bool { return true })
	require.NoError(t, err)
	require.Equal(t, map[string]int{code.SkipLost: 1}, stats.Skipped)
	server.Delete("leasehold-files-2") // and the copy
	_, _ = x.Repos(t.Context())
	repos, err := x.Repos(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{repos[0].Lost, repos[1].Lost})
}

// TestAMappingIsChangedDuringSearchesAndPublications has the versions before and after the change on one server.
func TestAMappingIsChangedDuringSearchesAndPublications(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"in memory": "", "real": opensearchtest.URL(t, "the change of a mapping")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := elastic.Config{URL: url, Prefix: "rebuilt-"}
			switch {
			case name == "in memory":
				c.URL, c.Transport = "http://search.test:9200", elastictest.New()
			case url == "":
				return
			default:
				c.Prefix = "rebuilt-" + strings.ToLower(t.Name()[:4]) + "-"
				t.Cleanup(func() { opensearchtest.RemoveIndices(t, url, c.Prefix); http.DefaultClient.CloseIdleConnections() })
			}
			l := startLoad(t, c)
			l.goesOn("at first")
			changed := c
			changed.Shards = 3
			y, err := elastic.RebuildWith(t.Context(), changed, "added")
			require.NoError(t, err)
			defer y.Close()
			l.goesOn("after the change")
			l.end()
			require.NoError(t, put(y, "by the version after it", "needle new"))
			require.Contains(t, found(t, l.reader), "by the version after it:needle new")
			if told := l.lastTold.Load(); told != nil {
				require.Contains(t, told, code.StoppedTime, "a busy machine is slow; else each search is over everything")
			}
			layout, err := y.Layout(t.Context())
			require.NoError(t, err)
			require.Equal(t, elastic.IndexLayout{Name: c.Prefix + "leasehold-blobs-2", Shards: 3, Replicas: 1}, layout.Indices[0])
		})
	}
}
