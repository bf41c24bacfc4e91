package pgserver

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Password is in all URLs. The servers ignore it; tests look for it in errors and logs, where it must
// not be.
const Password = "s3cret-of-the-url"

// hung is the time limit for a server that starts or stops on a busy machine.
const hung = 2 * time.Minute

// Settings are lines of postgresql.conf: name and value, quoted if it needs quotes.
type Settings map[string]string

// Durable makes a server sync what it writes, which only tests of a killed server need.
var Durable = Settings{"fsync": "on", "full_page_writes": "on"}

// defaults suit tests: fast, small, and with enough connections for tests in parallel.
var defaults = Settings{
	"fsync": "off", "full_page_writes": "off", "listen_addresses": "'127.0.0.1'", "unix_socket_directories": "''",
	"max_connections": "500", "shared_buffers": "'32MB'", "jit": "off", "max_wal_size": "'512MB'",
	"dynamic_shared_memory_type": "mmap", "timezone": "'UTC'", "log_timezone": "'UTC'",
	"wal_retrieve_retry_interval": "'100ms'",
}

// Server is one PostgreSQL server. Its methods fail the test that they are given. They must not be called
// concurrently, unless they tell otherwise.
type Server struct {
	bin    string // folder of the programs
	dir    string // with the folder data and the file log
	port   int
	keeper io.Closer // ends the shell that cleans up
	kept   chan error
	exited chan error // what the server ended with; nil: it does not run
	pid    int

	environment []string // further variables of its process
}

// New starts a server with further settings. It ends with the test. All servers of a process have the same system
// identifier.
func New(t testing.TB, settings ...Settings) *Server {
	t.Helper()
	s := &Server{bin: programs(t)}
	require.NoError(t, s.prepare(t.Context()))
	t.Cleanup(func() { s.remove(t) })
	s.copyFolder(t, template(t), s.data())
	s.configure(t, append([]Settings{defaults}, settings...)...)
	s.Start(t)
	return s
}

// programs returns the folder of PostgreSQL's programs, or skips the test. Debian has a folder for each
// version, which is not in PATH.
func programs(t testing.TB) string {
	t.Helper()
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }))
	}
	found, err := exec.LookPath("initdb")
	if err != nil {
		t.Skip("PostgreSQL is missing: install the package postgresql")
	}
	return filepath.Dir(found)
}

// version returns the number in a path of Debian's, and 0 for another path.
func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

// keep waits until the test process ends, or closes its input. Then it kills the server, even a frozen one,
// and removes its memory and its folder.
const keep = `cat >/dev/null
pidfile="$1/data/postmaster.pid"
if [ -f "$pidfile" ]; then
	pid=$(sed -n 1p "$pidfile"); memory=$(sed -n 7p "$pidfile")
	kill -QUIT "$pid"; kill -CONT "$pid"
	for i in $(seq 100); do kill -0 "$pid" || break; sleep 0.1; done
	kill -KILL "$pid"
	ipcrm -m "${memory##* }"
fi 2>/dev/null
rm -rf "$1"`

// prepare makes the folder of the server, and starts the shell that removes it.
func (s *Server) prepare(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "pgserver"); err != nil {
		return err
	}
	if err := own(s.dir); err != nil {
		return err
	}
	keeper := exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", keep, "sh", s.dir)
	apart(keeper)
	if s.keeper, err = keeper.StdinPipe(); err != nil {
		return err
	}
	if err := keeper.Start(); err != nil {
		return err
	}
	s.kept = make(chan error, 1)
	go func() { s.kept <- keeper.Wait() }()
	return nil
}

// remove ends the server and waits until nothing is left of it.
func (s *Server) remove(t testing.TB) {
	if t.Failed() {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		t.Logf("the end of the server's log:\n%s", log[max(0, len(log)-4000):])
	}
	_ = s.keeper.Close()
	<-s.kept
	if s.exited != nil {
		<-s.exited
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// program runs one of PostgreSQL's programs as the user of the server.
func (s *Server) program(t testing.TB, name string, args ...string) {
	t.Helper()
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	require.NoError(t, runAs(c))
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s: %s", name, out)
}

// copyFolder copies a folder with its owners and modes.
func (s *Server) copyFolder(t testing.TB, from, to string) {
	t.Helper()
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, "cp: %s", out)
}

// configure appends settings to postgresql.conf; a later one counts.
func (s *Server) configure(t testing.TB, all ...Settings) {
	t.Helper()
	var b strings.Builder
	for _, settings := range all {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			fmt.Fprintf(&b, "%s = %s\n", name, settings[name])
		}
	}
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(b.String())
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// Allow makes these the lines of pg_hba.conf: who may connect, and how.
func (s *Server) Allow(t testing.TB, lines ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	s.Exec(t, "SELECT pg_reload_conf()")
}

// Address returns the host and port of the server, which stay when it is started again.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL returns the URL of a database of the server.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres:%s@%s/%s?sslmode=disable", Password, s.Address(), database)
}

// Exec runs a statement in the database postgres.
func (s *Server) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	execute(t, s.connect(t), sql, args...)
}

// Exec runs a statement in the database of a URL.
func Exec(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(t, err)
	execute(t, conn, sql, args...)
}

func execute(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	defer conn.Close(context.Background())
	_, err := conn.Exec(context.Background(), sql, args...)
	require.NoError(t, err, sql)
}

// Role makes a role without rights but those that createuser gives, and returns the URL of a new database that it owns, with
// that role and Password.
func (s *Server) Role(t testing.TB, name string) (url string) {
	t.Helper()
	s.Exec(t, "CREATE ROLE "+name+" LOGIN PASSWORD '"+Password+"'")
	url = s.Database(t)
	s.Exec(t, "ALTER DATABASE "+path.Base(strings.TrimSuffix(url, "?sslmode=disable"))+" OWNER TO "+name)
	return strings.Replace(url, "//postgres:", "//"+name+":", 1)
}

// connect opens a connection to the database postgres. Its commits do not wait for standbys, because tests stop them.
func (s *Server) connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), s.URL("postgres")+"&synchronous_commit=local")
	require.NoError(t, err)
	return conn
}
