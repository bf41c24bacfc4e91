//go:build unix

package elastic_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/opensearchtest"
)

var longFaults = flag.Bool("faults.long", false, "also freeze a node for 30 s, and let it run out of memory")

// TestFaultsOfARealNodeLoseNothing has one node, with the faults one after the other, while
// repositories are published and searched.
func TestFaultsOfARealNodeLoseNothing(t *testing.T) {
	t.Parallel()
	if !opensearchtest.CanStart(t, "the faults of a node") {
		return
	}
	port, err := opensearchtest.FreePort()
	require.NoError(t, err)
	folder := t.TempDir()
	start := func(o opensearchtest.Options) *opensearchtest.Node {
		o.Port = port
		n, err := opensearchtest.Start(folder, o)
		require.NoError(t, err)
		return n
	}
	node := start(opensearchtest.Options{})
	t.Cleanup(func() { node.Stop(); http.DefaultClient.CloseIdleConnections() })
	l := startLoad(t, elastic.Config{URL: node.URL, RetryFor: 2 * time.Second})
	l.goesOn("at first")

	node.Stop() // by kill -9
	l.isTold("killed")
	node = start(opensearchtest.Options{Heap: "128m"})
	l.goesOn("killed and back")

	if *longFaults {
		c := startCrowd(l)
		l.until("a crowd", func() bool { return statsOf(node.URL).tripped() > 0 })
		c.end()
		l.goesOn("behind a crowd")
	}

	pid, err := node.PID()
	require.NoError(t, err)
	frozen := time.Now()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	l.isTold("frozen")
	l.waits("frozen", l.writer)
	l.until("frozen", func() bool { return !*longFaults || time.Since(frozen) > 30*time.Second })
	require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	l.goesOn("frozen and back")

	send(t, http.MethodPut, node.URL+"/leasehold-*/_settings", `{"index.blocks.read_only_allow_delete":true}`)
	l.waits("no writes", l.writer)
	searches := l.searches.Load()
	l.until("searches beside refused writes", func() bool { return l.searches.Load() > searches+2 })
	send(t, http.MethodPut, node.URL+"/leasehold-*/_settings", `{"index.blocks.read_only_allow_delete":null}`)
	l.goesOn("writes again")

	send(t, http.MethodPut, node.URL+"/_cluster/settings", `{"transient":{"network.breaker.inflight_requests.limit":"100b"}}`)
	l.isTold("circuit breaker")
	l.waits("circuit breaker", l.writer)
	send(t, http.MethodPut, node.URL+"/_cluster/settings", `{"transient":{"network.breaker.inflight_requests.limit":null}}`)
	l.goesOn("circuit breaker")

	node.Stop()
	putBack := takeShards(t, folder)
	node = start(opensearchtest.Options{Red: true})
	l.isTold("a shard without a copy")
	node.Stop()
	putBack()
	clock := filepath.Join(folder, "clock")
	if !opensearchtest.CanClock(t, "a clock that is off") {
		clock = ""
	}
	step := func(off time.Duration) {
		require.NoError(t, os.WriteFile(clock, fmt.Appendf(nil, "%+d", int(off.Seconds())), 0o644))
	}
	if clock != "" {
		step(day)
	}
	node = start(opensearchtest.Options{Clock: clock})
	l.goesOn("all shards, and a clock that is a day ahead")
	if clock != "" {
		step(-day)
		l.until("a clock that jumps back", func() bool { return time.Since(statsOf(node.URL).at()) > day-time.Hour })
		l.goesOn("a clock that is a day behind")
	}
	l.end()
}

const day = 24 * time.Hour

// nodeStats is what a node tells about itself.
type nodeStats struct {
	Timestamp int64 `json:"timestamp"` // milliseconds since 1970, by its clock
	Breakers  map[string]struct {
		Tripped int `json:"tripped"`
	} `json:"breakers"`
}

// statsOf asks a node; the result is zero if it does not answer.
func statsOf(url string) (s nodeStats) {
	answer, err := http.Get(url + "/_nodes/_local/stats/breaker")
	if err != nil {
		return s
	}
	defer answer.Body.Close()
	var all struct {
		Nodes map[string]nodeStats `json:"nodes"`
	}
	_ = json.NewDecoder(answer.Body).Decode(&all) // an error of the server has no nodes
	for _, s = range all.Nodes {
	}
	return s
}

func (s nodeStats) at() time.Time { return time.UnixMilli(s.Timestamp) }

// tripped returns how often the node has refused something for lack of memory.
func (s nodeStats) tripped() (n int) {
	for _, b := range s.Breakers {
		n += b.Tripped
	}
	return n
}

// takeShards takes the files of all shards from a stopped node, and returns a function that puts them back. A node
// that started without them would have no copy.
func takeShards(t *testing.T, folder string) (putBack func()) {
	t.Helper()
	shards, err := filepath.Glob(filepath.Join(folder, "node", "data", "nodes", "0", "indices", "*", "0"))
	require.NoError(t, err)
	require.NotEmpty(t, shards)
	for _, shard := range shards {
		require.NoError(t, os.Rename(shard, shard+".away"))
	}
	return func() {
		for _, shard := range shards {
			require.NoError(t, os.RemoveAll(shard))
			require.NoError(t, os.Rename(shard+".away", shard))
		}
	}
}

var threeNodes = flag.Bool("faults.three", false, "also kill nodes of a cluster of three")

// TestAClusterThatLosesANodeLosesNothing kills each of three nodes in turn, the elected manager among them. Each shard has a
// replica.
func TestAClusterThatLosesANodeLosesNothing(t *testing.T) {
	t.Parallel()
	if !*threeNodes || !opensearchtest.CanStart(t, "the faults of a cluster") {
		return
	}
	c := startCluster(t, 3, opensearchtest.Options{})
	l := startLoad(t, elastic.Config{URL: strings.Join(c.urls, ","), Shards: 3, Replicas: new(1), RetryFor: 10 * time.Second})
	l.goesOn("at first")
	killed := map[int]bool{}
	for range c.nodes {
		i := elected(t, c.urls[0], c.names)
		for killed[i] {
			i = (i + 1) % len(c.nodes)
		}
		killed[i] = true
		copied(t, c.urls[(i+1)%len(c.nodes)])
		c.nodes[i].Stop()
		l.goesOn(c.names[i] + " killed")
		require.NoError(t, c.start(i))
		l.goesOn(c.names[i] + " back")
	}
	l.end()
}

// elected returns the number of the elected manager.
func elected(t *testing.T, url string, names []string) int {
	answer, err := http.Get(url + "/_cat/master?h=node")
	require.NoError(t, err)
	defer answer.Body.Close()
	name, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	i := slices.Index(names, strings.TrimSpace(string(name)))
	require.GreaterOrEqual(t, i, 0, "%s", name)
	return i
}

// copied waits until each shard has all of its copies.
func copied(t *testing.T, url string) {
	for {
		answer, err := http.Get(url + "/_cluster/health?wait_for_status=green&wait_for_nodes=3&timeout=30s")
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		if answer.StatusCode == http.StatusOK {
			return
		}
	}
}
