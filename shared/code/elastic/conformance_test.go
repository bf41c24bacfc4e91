package elastic_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/code"
	"leasehold/shared/code/codetest"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
)

// open returns an empty index on a server in memory.
func open(t testing.TB, server *elastictest.Server, c elastic.Config) *elastic.Index {
	c.URL = "http://search.test:9200"
	if c.Transport == nil {
		c.Transport = server
	}
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
			codetest.Exercise(t, func(t *testing.T) code.Searcher {
				return open(t, server(), elastic.Config{Views: name == "opensearch"})
			})
		})
	}
}

func TestFilesAreListed(t *testing.T) {
	t.Parallel()
	codetest.ExerciseLister(t, open(t, elastictest.New(), elastic.Config{}))
}

func TestSearchesSeeOneGenerationWhileItIsReplacedAndCollected(t *testing.T) {
	t.Parallel()
	x := open(t, elastictest.New(), elastic.Config{})
	codetest.ReplaceBesideSearches(t, x, func() error { return elastic.Collect(context.Background(), x) })
}

func TestTheIndexFindsWhatTheNaiveOneFinds(t *testing.T) {
	t.Parallel()
	codetest.Compare(t, func(t *testing.T) code.Searcher {
		return open(t, elastictest.New(), elastic.Config{})
	}, func(r *rapid.T, s code.Searcher) {
		if rapid.Bool().Draw(r, "collect") {
			require.NoError(r, elastic.Collect(context.Background(), s.(*elastic.Index)))
		}
	})
}
