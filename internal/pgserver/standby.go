package pgserver

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Standby starts a server that receives everything that s commits, and waits until it does. It ends with the test.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	standby := &Server{bin: s.bin}
	require.NoError(t, standby.prepare(t.Context()))
	t.Cleanup(func() { standby.remove(t) })
	standby.program(t, "pg_basebackup", "-D", standby.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync",
		"-d", fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=standby", s.port))
	standby.Start(t)
	s.await(t, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'")
	return standby
}

// AwaitStandby makes the commits of s wait for a standby, also while there is none.
func (s *Server) AwaitStandby(t testing.TB) {
	t.Helper()
	s.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
	s.Exec(t, "SELECT pg_reload_conf()")
}

// Synchronous makes the commits of s wait for its standby.
func (s *Server) Synchronous(t testing.TB) {
	t.Helper()
	s.AwaitStandby(t)
	s.await(t, "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
}

// Promote makes a standby a server of its own. It receives nothing more, while the server before it lives on.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.Exec(t, "SELECT pg_promote()")
}

// await waits until a query returns true.
func (s *Server) await(t testing.TB, sql string) {
	t.Helper()
	conn := s.connect(t)
	defer conn.Close(context.Background())
	require.Eventually(t, func() bool {
		var ok bool
		return conn.QueryRow(context.Background(), sql).Scan(&ok) == nil && ok
	}, hung, 20*time.Millisecond, sql)
}
