package pgserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Pooler starts pgbouncer before the server in a pool mode: session, transaction or statement. It returns the URL
// of a database through it. The pooler ends with the test. Where pgbouncer is missing, the test is skipped.
func (s *Server) Pooler(t testing.TB, mode, url string) (pooled string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("pgbouncer is missing: install the package pgbouncer")
	}
	port := freePort(t)
	dir, err := os.MkdirTemp(s.dir, "pooler")
	require.NoError(t, err)
	require.NoError(t, own(dir))
	users, config := filepath.Join(dir, "users"), filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(users, fmt.Appendf(nil, "%q %q\n", "postgres", Password), 0o644))
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = %s
`, s.port, port, users, mode), 0o644))
	c := exec.Command("sh", "-c", `"$@" & cat >/dev/null; kill -KILL $!`, "sh", program, config)
	var log strings.Builder
	c.Dir, c.Stderr = dir, &log
	require.NoError(t, runAs(c))
	apart(c)
	running, err := c.StdinPipe() // the shell ends when this process does
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = running.Close()
		_ = c.Wait() // the shell may report that pgbouncer was killed
		if t.Failed() {
			t.Log(log.String())
		}
	})
	pooled = strings.Replace(url, s.Address(), "127.0.0.1:"+strconv.Itoa(port), 1)
	require.True(t, answers(pooled, time.Now().Add(hung), nil), "pgbouncer does not start")
	return pooled
}
