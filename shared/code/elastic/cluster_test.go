package elastic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic/opensearchtest"
)

// cluster is several nodes on this machine.
type cluster struct {
	options             opensearchtest.Options // of each node
	ports, transports   []string
	names, urls, folder []string // of the nodes
	nodes               []*opensearchtest.Node
}

// startCluster starts n nodes, which end with the test.
func startCluster(t *testing.T, n int, o opensearchtest.Options) *cluster {
	t.Helper()
	c := &cluster{options: o, nodes: make([]*opensearchtest.Node, n)}
	for i := range n {
		for _, list := range []*[]string{&c.ports, &c.transports} {
			port, err := opensearchtest.FreePort()
			require.NoError(t, err)
			*list = append(*list, port)
		}
		c.names = append(c.names, fmt.Sprint("n", i))
		c.urls = append(c.urls, "http://127.0.0.1:"+c.ports[i])
		c.folder = append(c.folder, t.TempDir()) // removed behind the nodes
	}
	t.Cleanup(func() {
		for _, node := range c.nodes {
			if node != nil {
				node.Stop()
			}
		}
		http.DefaultClient.CloseIdleConnections()
	})
	started := make(chan error)
	for i := range n {
		go func() { started <- c.start(i) }() // each waits for the others
	}
	for range n {
		require.NoError(t, <-started)
	}
	return c
}

// start starts a node, for the first time or again.
func (c *cluster) start(i int) error {
	o := c.options
	o.Port, o.Red = c.ports[i], true
	o.Settings = []string{
		"transport.port=" + c.transports[i], "node.name=" + c.names[i], "discovery.seed_hosts=127.0.0.1:" + strings.Join(c.transports, ",127.0.0.1:"),
		"cluster.initial_master_nodes=" + strings.Join(c.names, ","),
	}
	node, err := opensearchtest.Start(c.folder[i], o)
	if err == nil {
		c.nodes[i] = node
	}
	return err
}
