package pgserver

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Start starts the server and waits until it answers. The first start chooses the port.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(hung)
	choose := s.port == 0
	for {
		if choose {
			s.port = freePort(t)
		}
		s.launch(t)
		if answers(s.URL("postgres"), deadline, s.exited) {
			return
		}
		s.exited = nil
		// Another process took the port, or processes of a killed server still use its memory.
		require.True(t, time.Now().Before(deadline), "the server does not start")
	}
}

// launch starts the process of the server.
func (s *Server) launch(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer log.Close()
	c := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-p", strconv.Itoa(s.port))
	c.Dir, c.Stdout, c.Stderr, c.Env = s.dir, log, log, append(os.Environ(), s.environment...)
	require.NoError(t, runAs(c))
	apart(c)
	require.NoError(t, c.Start())
	s.pid, s.exited = c.Process.Pid, make(chan error, 1)
	exited := s.exited
	go func() { exited <- c.Wait() }()
}

// answers waits until the server of a URL answers, and reports whether it does; it does not if its process ends
// first.
func answers(url string, deadline time.Time, exited <-chan error) bool {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	for ctx.Err() == nil {
		if conn, err := pgx.Connect(ctx, url); err == nil {
			_ = conn.Close(ctx)
			return true
		}
		select {
		case <-exited:
			return false
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// freePort returns a port of the loopback address that no process listens on.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Stop ends the server as an operator does: transactions under way are rolled back, connections are closed.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	require.NoError(t, interrupt(s.pid))
	s.wait(t)
}

// Kill kills all processes of the server with SIGKILL.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	backends := s.children()
	require.NoError(t, kill(s.pid))
	for _, pid := range backends {
		_ = kill(pid) // it may have ended
	}
	s.wait(t)
}

func (s *Server) wait(t testing.TB) {
	t.Helper()
	select {
	case <-s.exited:
		s.exited = nil
	case <-time.After(hung):
		require.Fail(t, "the server does not end")
	}
}

// Freeze suspends all processes of the server until thaw is called, or the test ends. Connections stay open, and
// nothing answers.
func (s *Server) Freeze(t testing.TB) (thaw func()) {
	t.Helper()
	frozen := append(s.children(), s.pid)
	for _, pid := range frozen {
		_ = suspend(pid) // it may have ended
	}
	thaw = func() {
		for _, pid := range frozen {
			_ = resume(pid)
		}
	}
	t.Cleanup(thaw)
	return thaw
}

// Terminate ends the connections whose application_name is LIKE pattern, as an operator does, and returns how many.
func (s *Server) Terminate(t testing.TB, pattern string) (n int) {
	t.Helper()
	conn := s.connect(t)
	defer conn.Close(context.Background())
	require.NoError(t, conn.QueryRow(context.Background(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name LIKE $1`, pattern).Scan(&n))
	return n
}

// EndConnection ends the backend that serves the connection from a port of the loopback address, and waits until it has
// ended. It does nothing if there is none. It may be called concurrently with everything else.
func (s *Server) EndConnection(port int) error {
	ctx, cancel := context.WithTimeout(context.Background(), hung)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `SELECT pg_terminate_backend(pid, $2) FROM pg_stat_activity WHERE client_port = $1`, port, hung.Milliseconds())
	return err
}

// children returns the processes that the server has started.
func (s *Server) children() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		if pid, parent := processOf(string(text)); parent == s.pid {
			pids = append(pids, pid)
		}
	}
	return pids
}
