package elastic_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
)

// TestRequestsGoToTheNodesInTurnAndOneThatFailsRests has three addresses of one server.
func TestRequestsGoToTheNodesInTurnAndOneThatFailsRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		asked := map[string]int{}
		down := ""
		server.Fail = func(r *http.Request, _ string) *elastictest.Answer {
			asked[r.URL.Host]++
			if r.URL.Host == down {
				return &elastictest.Answer{}
			}
			return nil
		}
		x, err := elastic.New(elastic.Config{URL: "http://n1:9200,http://n2:9200/,http://n3:9200", Transport: server})
		require.NoError(t, err)
		require.NoError(t, put(x, "a", "needle"))
		for _, host := range []string{"n1:9200", "n2:9200", "n3:9200"} {
			require.Greater(t, asked[host], 2, "all nodes are asked")
		}
		down = "n2:9200"
		clear(asked)
		began := time.Now()
		for range 10 {
			require.Equal(t, []string{"a:needle"}, found(t, x))
		}
		require.Zero(t, time.Since(began), "another node is asked at once")
		require.Equal(t, 1, asked[down], "it rests")
		time.Sleep(time.Minute)
		down = ""
		clear(asked)
		found(t, x)
		require.Positive(t, asked["n2:9200"], "it is asked again")
	})
}

func TestAServerWithoutANodeThatAnswersIsTriedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := elastictest.New()
		back := time.Now().Add(20 * time.Second)
		server.Fail = func(*http.Request, string) *elastictest.Answer {
			if time.Now().Before(back) {
				return &elastictest.Answer{Status: http.StatusServiceUnavailable}
			}
			return nil
		}
		x, err := elastic.New(elastic.Config{URL: "http://n1:9200,http://n2:9200", Transport: server})
		require.NoError(t, err)
		require.NoError(t, put(x, "a", "needle"))
	})
}

func TestIndicesAreCreatedWithShardsAndReplicas(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	bodies := map[string]string{}
	server.Fail = func(r *http.Request, body string) *elastictest.Answer {
		if r.Method == http.MethodPut {
			bodies[r.URL.Path] = body
		}
		return nil
	}
	require.NoError(t, put(open(t, server, elastic.Config{Shards: 3, Replicas: new(0)}), "a", "needle"))
	require.Contains(t, bodies["/leasehold-blobs-1"], `"index.number_of_shards":3`)
	require.Contains(t, bodies["/leasehold-files-1"], `"index.number_of_replicas":0`)
	require.Contains(t, bodies["/leasehold-generations-1"], `"index.number_of_shards":1`)
	server = elastictest.New()
	server.Fail = func(r *http.Request, body string) *elastictest.Answer {
		require.NotContains(t, body, "replicas")
		return nil
	}
	require.NoError(t, put(open(t, server, elastic.Config{}), "a", "needle"))
}
