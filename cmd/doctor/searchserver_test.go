package doctor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/doctor"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
	"leasehold/shared/fault"
)

func TestTheClusterOfTheSearchServerIsComparedWithTheCoordinators(t *testing.T) {
	t.Parallel()
	require.Equal(t, doctor.OK, doctor.SearchCluster("a", "a").State)
	f := doctor.SearchCluster("a", "b")
	require.Equal(t, doctor.Fail, f.State)
	require.Contains(t, f.What, "this machine uses cluster a, and the coordinator b")
	require.NotEmpty(t, f.Advice)
	f = doctor.SearchCluster("a", "")
	require.Equal(t, doctor.Warn, f.State)
	require.NotEmpty(t, f.Advice)
}

func TestShardsAndReplicasOfTheSearchServerAreCompared(t *testing.T) {
	t.Parallel()
	server := elastictest.New()
	x, err := elastic.New(elastic.Config{URL: "http://search.test", Transport: server, Shards: 3, Replicas: new(1)})
	require.NoError(t, err)
	l, err := x.Layout(t.Context())
	require.NoError(t, err)
	require.Empty(t, l.Indices, "it creates none")
	require.Contains(t, doctor.SearchServer(l, nil, 3, 1).What, "created at first use")
	_, err = x.Repos(t.Context())
	require.NoError(t, err)
	l, err = x.Layout(t.Context())
	require.NoError(t, err)
	for _, of := range []struct {
		shards, replicas int
		state            doctor.State
		advice           []string
	}{
		{0, -1, doctor.OK, nil},
		{3, 1, doctor.OK, nil},
		{5, 1, doctor.Warn, []string{"leasehold index rebuild replaces leasehold-blobs-1, leasehold-files-1,"}},
		{3, 2, doctor.Warn, []string{"number_of_replicas of leasehold-blobs-1, leasehold-files-1, leasehold-generations-1"}},
		{5, 2, doctor.Warn, []string{"search-shards is 5", "; search-replicas is 2"}},
	} {
		f := doctor.SearchServer(l, nil, of.shards, of.replicas)
		require.Equal(t, of.state, f.State)
		require.Contains(t, f.What, "Elasticsearch 8.15.0, cluster cluster-in-memory: leasehold-blobs-1 has 3 shards and 1 replica, ")
		require.Contains(t, f.What, "leasehold-published-1 has 1 shard and 1 replica")
		for _, want := range of.advice {
			require.Contains(t, f.Advice, want)
		}
		if of.advice == nil {
			require.Empty(t, f.Advice)
		}
	}
	f := doctor.SearchServer(elastic.Layout{}, fault.ErrUnavailable, 0, -1)
	require.Equal(t, doctor.Fail, f.State)
	require.NotEmpty(t, f.Advice)
}
