package versus

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
)

// item is the content of an item. With its names an item has about 200 bytes.
var item = strings.Repeat("x", 200)

// client puts an item, takes one and ends it.
type client interface{ turn() error }

// server is a queue: its process, and a function that connects a client.
type server struct {
	name string
	pid  int
	dial func(n int) client
}

// run starts a program that ends with the benchmark, and returns its process id.
func run(b *testing.B, name string, args ...string) (pid int) {
	b.Helper()
	path, err := exec.LookPath(name)
	require.NoError(b, err, "make bench installs it")
	cmd := exec.Command(path, args...)
	cmd.Stderr = os.Stderr
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// address returns a free address.
func address(b *testing.B) (host, port string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	require.NoError(b, l.Close())
	host, port, err = net.SplitHostPort(l.Addr().String())
	require.NoError(b, err)
	return host, port
}

// connect connects to a server, and waits for it to start.
func connect(b *testing.B, host, port string) net.Conn {
	b.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(10 * time.Millisecond) {
		c, err := net.Dial("tcp", net.JoinHostPort(host, port))
		if err == nil {
			b.Cleanup(func() { _ = c.Close() })
			return c
		}
		require.True(b, time.Now().Before(deadline), err)
	}
}

// leasehold starts a coordinator with one of its journals.
func leasehold(b *testing.B, binary, journal string) server {
	dir := b.TempDir()
	pid := run(b, binary, "coordinator", "--data", dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--journal", journal)
	gate := announced(b, filepath.Join(dir, "coordinator.json"))
	return server{"leasehold, " + journal, pid, func(n int) client {
		c, err := remote.Dial(b.Context(), remote.Config{Address: gate, Session: remote.SessionID("bench")})
		require.NoError(b, err)
		repo := space.Over(c)
		require.NoError(b, repo.Create(b.Context(), "items", space.Options{}))
		b.Cleanup(func() { _ = repo.Close(context.Background()) })
		return ours{repo.Space("items"), tuple.New("item", item)}
	}}
}

// announced waits for the address file of a coordinator and returns the address of its
// gate.
func announced(b *testing.B, file string) string {
	b.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(10 * time.Millisecond) {
		var at struct{ Gate string }
		data, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(data, &at) == nil && at.Gate != "" {
			return at.Gate
		}
		require.True(b, time.Now().Before(deadline), "the coordinator does not start")
	}
}

type ours struct {
	items space.Space
	item  tuple.Tuple
}

var anyItem = tuple.Match("item", tuple.AnyString)

func (c ours) turn() error {
	if err := c.items.Put(context.Background(), c.item, 0); err != nil {
		return err
	}
	_, err := c.items.Get(context.Background(), anyItem)
	return err
}
