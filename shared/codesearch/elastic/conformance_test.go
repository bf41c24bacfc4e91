package elastic_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/codesearchtest"
	"leasehold/shared/codesearch/elastic"
	"leasehold/shared/codesearch/elastic/elastictest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns an empty index on a server in memory.
func open(t testing.TB, server *elastictest.Server, c elastic.Config) *elastic.Index {
	c.URL, c.Transport = "http://search.test:9200", server
	x, err := elastic.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func TestTheIndexPassesTheSuite(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func() *elastictest.Server{
		"elasticsearch": elastictest.New,
		"opensearch":    func() *elastictest.Server { s := elastictest.New(); s.OpenSearch = true; return s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codesearchtest.Exercise(t, func(t *testing.T) codesearch.Searcher {
				return open(t, server(), elastic.Config{Views: name == "opensearch"})
			})
		})
	}
}

func TestFilesAreListed(t *testing.T) {
	t.Parallel()
	codesearchtest.ExerciseLister(t, open(t, elastictest.New(), elastic.Config{}))
}

func TestSearchesSeeOneGenerationWhileItIsReplacedAndCollected(t *testing.T) {
	t.Parallel()
	x := open(t, elastictest.New(), elastic.Config{})
	codesearchtest.ReplaceBesideSearches(t, x, func() error { return elastic.Collect(context.Background(), x) })
}

func TestTheIndexFindsWhatTheNaiveOneFinds(t *testing.T) {
	t.Parallel()
	codesearchtest.Compare(t, func(t *testing.T) codesearch.Searcher {
		return open(t, elastictest.New(), elastic.Config{})
	}, func(r *rapid.T, s codesearch.Searcher) {
		if rapid.Bool().Draw(r, "collect") {
			require.NoError(r, elastic.Collect(context.Background(), s.(*elastic.Index)))
		}
	})
}

// TestARealServerPassesTheSuite runs if TEST_ES_URL names a server, such as
// http://127.0.0.1:9200. It makes indices whose names begin with leasehold-test-, and
// removes them.
func TestARealServerPassesTheSuite(t *testing.T) {
	url := os.Getenv("TEST_ES_URL")
	if url == "" {
		t.Log("TEST_ES_URL is not set: the suite has run on the server in memory only")
		return
	}
	codesearchtest.Exercise(t, func(t *testing.T) codesearch.Searcher {
		prefix := "leasehold-test-" + strings.ToLower(rand.Text()[:10]) + "-"
		x, err := elastic.New(elastic.Config{URL: url, Prefix: prefix, Views: true})
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, elastic.RemoveIndices(context.Background(), x))
			require.NoError(t, x.Close())
			http.DefaultClient.CloseIdleConnections()
		})
		return x
	})
}
