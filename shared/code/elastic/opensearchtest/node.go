package opensearchtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"leasehold/internal/faketime"
	"leasehold/shared/process/platform"
)

// startTimeout is how long a node may take until it answers; a busy machine is slow.
const startTimeout = 3 * time.Minute

// Options are how a node runs. The zero value is a small node, a cluster of its own, that starts
// quickly.
type Options struct {
	Heap     string   // such as 1g; empty: 384m
	Java     string   // options of Java; empty: those that start quickly and leave the processors to others
	Settings []string // SETTING=VALUE; empty: a cluster of one node
	Port     string   // of HTTP; empty: a free one
	Red      bool     // do not wait until each shard has a copy
	Clock    string   // file with how far the node's clock is off, such as +1d; it may change; empty: a right clock
}

// Defaults of Options. A disk that is nearly full would make indices read-only, and tests have many
// indices.
const (
	defaultHeap = "384m"
	defaultJava = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
)

var (
	commonSettings = []string{"cluster.routing.allocation.disk.threshold_enabled=false", "cluster.max_shards_per_node=10000"}
	alone          = []string{"discovery.type=single-node", "transport.port=0"}
)

// A Node is a running node.
type Node struct {
	URL string

	stop context.CancelFunc
	done chan struct{} // closed when its process has ended
}

// Start starts a node with its data in folder, on a free port, and waits until it answers. The error has
// the last lines that the node has printed.
func Start(folder string, o Options) (*Node, error) {
	script, why := installed()
	if why != "" {
		return nil, errors.New(why)
	}
	port, err := o.Port, error(nil)
	if port == "" {
		if port, err = FreePort(); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(filepath.Join(folder, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	settings := o.Settings
	if len(settings) == 0 {
		settings = alone
	}
	args := append([]string{filepath.Join(folder, "node"), port}, append(commonSettings, settings...)...)
	c := exec.CommandContext(ctx, script, args...)
	c.Stdout, c.Stderr = log, log
	c.Env = append(os.Environ(), "HEAP="+orDefault(o.Heap, defaultHeap), "JAVA_TOOL_OPTIONS="+orDefault(o.Java, defaultJava))
	if o.Clock != "" {
		c.Env = append(append(c.Env, faketime.Environment(o.Clock)...), "FAKETIME_CACHE_DURATION=1",
			"FAKETIME_FORCE_MONOTONIC_FIX=0") // else Java waits forever
	}
	n := &Node{URL: "http://127.0.0.1:" + port, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(n.done)
		defer log.Close()
		_ = platform.RunGroup(c, time.Millisecond) // a node that ends is noticed by its clients
	}()
	if err := n.await(o.Red); err != nil {
		n.Stop()
		return nil, fmt.Errorf("%w: %s", err, lastLines(log.Name()))
	}
	return n, nil
}

// Stop ends the node, within a millisecond by kill -9, and waits for its process. It may be called
// more than once.
func (n *Node) Stop() {
	n.stop()
	<-n.done
}

// PID returns the number of the node's process.
func (n *Node) PID() (int, error) {
	answer, err := http.Get(n.URL + "/_nodes/_local/process")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var all struct {
		Nodes map[string]struct {
			Process struct {
				ID int `json:"id"`
			} `json:"process"`
		} `json:"nodes"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		return 0, err
	}
	for _, one := range all.Nodes {
		return one.Process.ID, nil
	}
	return 0, errors.New("the node does not know its process")
}

// await waits until the node answers and, unless red is true, has a copy of each shard.
func (n *Node) await(red bool) error {
	path := "/_cluster/health?wait_for_status=yellow&timeout=5s"
	if red {
		path = "/_cluster/health?timeout=5s"
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	deadline := time.After(startTimeout)
	for {
		answer, err := client.Get(n.URL + path)
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-n.done:
			return errors.New("the node of OpenSearch has ended")
		case <-deadline:
			return fmt.Errorf("the node of OpenSearch does not answer in %s", startTimeout)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// installed returns the program that starts a node, or why there is none.
func installed() (script, why string) {
	root, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			return "", "the tests do not run in a folder of the repository"
		}
		root = filepath.Dir(root)
	}
	script = filepath.Join(root, "..", "shared", "opensearch", "start")
	if _, err := os.Stat(script); err != nil {
		return "", "TEST_ES_URL is not set and ../shared/opensearch does not exist"
	}
	version, err := exec.Command("java", "-version").CombinedOutput()
	if err != nil {
		return "", "TEST_ES_URL is not set and java is not installed"
	}
	if major := majorVersion(string(version)); major < 17 {
		return "", fmt.Sprintf("TEST_ES_URL is not set and java has version %d: it needs 17", major)
	}
	return script, ""
}

// majorVersion reads the output of java -version, such as `openjdk version "17.0.15" 2025-04-15`; 0 if
// it has none. Versions before 9 begin with 1.
func majorVersion(output string) (major int) {
	_, quoted, _ := strings.Cut(output, `version "`)
	_, _ = fmt.Sscanf(quoted, "%d", &major) // stays 0
	return major
}

// FreePort returns a port that no program uses now.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func orDefault(value, other string) string {
	if value == "" {
		return other
	}
	return value
}

// lastLines returns the end of a file.
func lastLines(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-2000):])
}
