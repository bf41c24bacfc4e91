package pgserver_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
)

// connect opens a connection that ends with the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	for range 2 {
		conn := connect(t, pgserver.Database(t))
		_, err := conn.Exec(t.Context(), "CREATE TABLE a (b text)")
		require.NoError(t, err)
	}
}

func TestAServerKeepsWhatWasCommittedWhenItIsKilledAndStopped(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t, pgserver.Durable)
	url := s.Database(t)
	conn := connect(t, url)
	_, err := conn.Exec(t.Context(), "CREATE TABLE a (b text); INSERT INTO a VALUES ('x')")
	require.NoError(t, err)
	for _, end := range []func(testing.TB){s.Kill, s.Stop} {
		end(t)
		_, err = pgx.Connect(t.Context(), url)
		require.Error(t, err)
		s.Start(t)
		var b string
		require.NoError(t, connect(t, url).QueryRow(t.Context(), "SELECT b FROM a").Scan(&b))
		require.Equal(t, "x", b)
	}
}

func TestConnectionsAreTerminatedByTheirName(t *testing.T) {
	t.Parallel()
	s := pgserver.Shared(t)
	url := pgserver.Database(t)
	conn, other := connect(t, url+"&application_name=victim"), connect(t, url)
	require.Equal(t, 1, s.Terminate(t, "victim"))
	require.Error(t, conn.Ping(t.Context()))
	require.NoError(t, other.Ping(t.Context()))
}

func TestAFrozenServerAnswersWhenItIsThawed(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	conn := connect(t, s.URL("postgres"))
	thaw := s.Freeze(t)
	answered := make(chan error, 1)
	go func() { answered <- conn.Ping(t.Context()) }()
	select {
	case <-answered:
		require.Fail(t, "a frozen server answers")
	case <-time.After(100 * time.Millisecond):
	}
	thaw()
	require.NoError(t, <-answered)
}

// The test runs itself in a process that starts a server and is killed.
func TestNothingIsLeftOfAKilledProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv("PGSERVER_VICTIM") != "" {
		s := pgserver.Shared(t)
		s.Freeze(t)
		_, _ = os.Stdout.WriteString(s.Address() + "\n")
		select {}
	}
	pgserver.Shared(t) // skips where there is none
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(dir+"/..", 0o755))
	c := exec.Command(os.Args[0], "-test.run=^TestNothingIsLeftOfAKilledProcess$")
	c.Env = append(os.Environ(), "PGSERVER_VICTIM=1", "TMPDIR="+dir)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	text := make([]byte, 100)
	n, err := out.Read(text)
	require.NoError(t, err)
	require.Contains(t, string(text[:n]), "127.0.0.1:")
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	require.Eventually(t, func() bool {
		left, err := fs.Glob(os.DirFS(dir), "pgserver*")
		return err == nil && len(left) == 0
	}, time.Minute, 50*time.Millisecond)
	_, err = pgx.Connect(t.Context(), "postgres://postgres@"+strings.TrimSpace(string(text[:n]))+"/postgres")
	require.Error(t, err)
}
