//go:build unix

package elastic_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/opensearchtest"
	"leasehold/shared/process/retry"
)

// load publishes repositories one after the other and searches all of them, until stop is called. A publication that fails for
// an error that can pass is repeated, as workers and managers do.
type load struct {
	testing.TB
	writer, reader *elastic.Index

	published atomic.Int64  // repositories with a lower number are found
	searches  atomic.Int64  // that were over everything
	told      atomic.Int64  // searches that told that they were not, or failed
	wrong     atomic.Value  // a string: the first wrong answer
	done      chan struct{} // closed by stop
	ended     chan error    // one for each goroutine
}

func startLoad(t testing.TB, c elastic.Config) *load {
	l := &load{TB: t, done: make(chan struct{}), ended: make(chan error, 2)}
	var indices [2]*elastic.Index
	for i := range indices {
		x, err := elastic.New(c)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, x.Close()) })
		indices[i] = x
	}
	l.writer, l.reader = indices[0], indices[1]
	go func() { l.ended <- l.publish() }()
	go func() { l.ended <- l.search() }()
	return l
}

func (l *load) publish() error {
	for {
		select {
		case <-l.done:
			return nil
		default:
		}
		n := l.published.Load()
		err := put(l.writer, fmt.Sprintf("r%05d", n), fmt.Sprintf("needle %d", n))
		switch {
		case err == nil:
			l.published.Add(1)
		case !retry.CanPass(err):
			return err
		}
	}
}

func (l *load) search() error {
	q, err := code.Parse("needle")
	if err != nil {
		return err
	}
	for {
		select {
		case <-l.done:
			return nil
		default:
		}
		least, seen := l.published.Load(), map[string]bool{}
		stats, err := l.reader.Search(context.Background(), q, code.Options{}, func(m code.Match) bool {
			if strings.TrimLeft(m.Repo, "r0") != strings.TrimPrefix(m.Text, "needle ") && m.Text != "needle 0" {
				l.wrong.CompareAndSwap(nil, fmt.Sprintf("%s in %s", m.Text, m.Repo))
			}
			seen[m.Repo] = true
			return true
		})
		switch {
		case err != nil && !retry.CanPass(err):
			return err
		case err != nil, stats.Stopped != "", len(stats.Skipped) > 0:
			l.told.Add(1)
		default:
			for n := range least {
				if repo := fmt.Sprintf("r%05d", n); !seen[repo] {
					l.wrong.CompareAndSwap(nil, fmt.Sprintf("%s is not found among %d of %d", repo, len(seen), least))
				}
			}
			l.searches.Add(1)
		}
	}
}

// until waits until a condition holds.
func (l *load) until(what string, holds func() bool) {
	l.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for !holds() {
		if l.wrong.Load() != nil || len(l.ended) > 0 || time.Now().After(deadline) {
			var err error
			if len(l.ended) > 0 {
				err = <-l.ended
			}
			l.Fatalf("%s: %d published, %d searches over everything, %d not, wrong: %v, error: %v", what, l.published.Load(), l.searches.Load(), l.told.Load(), l.wrong.Load(), err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// goesOn waits until more is published and found.
func (l *load) goesOn(what string) {
	l.Helper()
	published := l.published.Load() + 3
	l.until(what+": publish", func() bool { return l.published.Load() >= published })
	searches := l.searches.Load() + 2
	l.until(what+": search", func() bool { return l.searches.Load() >= searches })
}

// isTold waits until searches tell that they are not over everything.
func (l *load) isTold(what string) {
	l.Helper()
	told := l.told.Load()
	l.until(what+": told", func() bool { return l.told.Load() > told })
}

// waits waits until an index tells that requests wait for the server.
func (l *load) waits(what string, x *elastic.Index) {
	l.Helper()
	l.until(what+": waits", func() bool {
		_, err := x.Waits()
		return err != nil
	})
}

// configure sends settings to the server, which must accept them.
func configure(t testing.TB, url, path, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPut, url+"/"+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode, path)
}

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
	node = start(opensearchtest.Options{})
	l.goesOn("killed and back")

	pid, err := node.PID()
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	l.isTold("frozen")
	l.waits("frozen", l.writer)
	require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	l.goesOn("frozen and back")

	configure(t, node.URL, "leasehold-*/_settings", `{"index.blocks.read_only_allow_delete":true}`)
	l.waits("no writes", l.writer)
	searches := l.searches.Load()
	l.until("searches beside refused writes", func() bool { return l.searches.Load() > searches+2 })
	configure(t, node.URL, "leasehold-*/_settings", `{"index.blocks.read_only_allow_delete":null}`)
	l.goesOn("writes again")

	configure(t, node.URL, "_cluster/settings", `{"transient":{"network.breaker.inflight_requests.limit":"100b"}}`)
	l.isTold("circuit breaker")
	l.waits("circuit breaker", l.writer)
	configure(t, node.URL, "_cluster/settings", `{"transient":{"network.breaker.inflight_requests.limit":null}}`)
	l.goesOn("circuit breaker")

	configure(t, node.URL, "_cluster/settings", `{"persistent":{"cluster.routing.allocation.enable":"none"}}`)
	node.Stop()
	node = start(opensearchtest.Options{Red: true})
	l.isTold("a shard without a copy")
	configure(t, node.URL, "_cluster/settings", `{"persistent":{"cluster.routing.allocation.enable":null}}`)
	l.goesOn("all shards")

	l.end()
}

// end ends the load, and checks that all published repositories are found.
func (l *load) end() {
	l.Helper()
	close(l.done)
	for range cap(l.ended) {
		require.NoError(l, <-l.ended)
	}
	require.Nil(l, l.wrong.Load())
	want := []string{}
	for n := range l.published.Load() {
		want = append(want, fmt.Sprintf("r%05d:needle %d", n, n))
	}
	all := found(l, l.reader)
	require.Subset(l, all, want)
	require.LessOrEqual(l, len(all), len(want)+1, "the last publication may have succeeded although its answer was lost")
	require.Len(l, slices.Compact(all), len(all))
	l.Logf("%d repositories published, %d searches over everything, %d that told they were not", len(want), l.searches.Load(), l.told.Load())
}

var threeNodes = flag.Bool("faults.three", false, "also kill nodes of a cluster of three")

// TestAClusterThatLosesANodeLosesNothing kills each of three nodes in turn, the elected manager among them. Each shard has a
// replica.
func TestAClusterThatLosesANodeLosesNothing(t *testing.T) {
	t.Parallel()
	if !*threeNodes || !opensearchtest.CanStart(t, "the faults of a cluster") {
		return
	}
	const n = 3
	var ports, transports, names, seeds, urls, folders []string
	for i := range n {
		for _, list := range []*[]string{&ports, &transports} {
			port, err := opensearchtest.FreePort()
			require.NoError(t, err)
			*list = append(*list, port)
		}
		names = append(names, fmt.Sprint("n", i))
		seeds = append(seeds, "127.0.0.1:"+transports[i])
		urls = append(urls, "http://127.0.0.1:"+ports[i])
		folders = append(folders, t.TempDir()) // removed behind the nodes
	}
	nodes := make([]*opensearchtest.Node, n)
	start := func(i int) error {
		node, err := opensearchtest.Start(folders[i], opensearchtest.Options{Port: ports[i], Red: true, Settings: []string{
			"transport.port=" + transports[i], "node.name=" + names[i], "discovery.seed_hosts=" + strings.Join(seeds, ","),
			"cluster.initial_master_nodes=" + strings.Join(names, ","),
		}})
		if err == nil {
			nodes[i] = node
		}
		return err
	}
	t.Cleanup(func() {
		for _, node := range nodes {
			if node != nil {
				node.Stop()
			}
		}
		http.DefaultClient.CloseIdleConnections()
	})
	started := make(chan error)
	for i := range n {
		go func() { started <- start(i) }() // each waits for the others
	}
	for range n {
		require.NoError(t, <-started)
	}
	l := startLoad(t, elastic.Config{URL: strings.Join(urls, ","), Shards: 3, Replicas: new(1), RetryFor: 10 * time.Second})
	l.goesOn("at first")
	killed := map[int]bool{}
	for range n {
		i := elected(t, urls[0], names)
		for killed[i] {
			i = (i + 1) % n
		}
		killed[i] = true
		copied(t, urls[(i+1)%n])
		nodes[i].Stop()
		l.goesOn(names[i] + " killed")
		require.NoError(t, start(i))
		l.goesOn(names[i] + " back")
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
